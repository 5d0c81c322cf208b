"""All bots say what they think of a position in the same form; what a bot does not know is None."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import State, load_game
from stoneworks.models import Bot, BotSpec, load_bot
from stoneworks.models.bots.bot import Analysis

GAME = load_game("vadus(size=5)")
EXTERNAL = f"exec:{shlex.quote(sys.executable)} -m stoneworks.models.bots.external_bot random"

#: What each bot knows besides its action and its policy.
SEARCH = {"value", "simulations", "visits", "action_values", "line"}
EVALUATION = {"evaluation", "action_evaluations", "line"}
KNOWN = {
    "random": set(),
    "greedy": EVALUATION,
    "alphabeta:2": EVALUATION,
    "mcts:40": SEARCH,
    "mcts:40,leaf=evaluation": SEARCH,
    "mcts:40,parallel=root,threads=2": SEARCH,
    "vadus": {"value", "line"},
    "vadus@8": SEARCH | {"priors"},
    "policy:<file>": {"line"},
    EXTERNAL: set(),
}


def bots(names: Iterable[str]) -> list[Any]:
    """Return the names as parameters of tests, of which those with networks need torch."""
    networks = ("vadus", "policy:")
    return [pytest.param(name, marks=[pytest.mark.needs("torch")] * name.startswith(networks)) for name in names]


def is_known(found: Analysis, name: str) -> bool:
    return getattr(found, name) is not None and not (name == "line" and not found.line)


@pytest.mark.parametrize("name", bots(KNOWN))
def test_a_bot_says_what_it_thinks(name: str, tmp_path: Path) -> None:
    state = GAME.deserialize_state("c3\ne5\ng6")
    before = state.clone()
    if name == "policy:<file>":
        from torch import nn

        from stoneworks.models.exported_policy import save_policy

        save_policy(
            tmp_path / "file",
            [nn.Linear(int(np.prod(GAME.observation_shape)), GAME.num_actions)],
            GAME,
            selection="argmax",
        )
    bot = load_bot(name.replace("<file>", str(tmp_path / "file")), GAME, seed=1)
    try:
        found = bot.analyze(state)
    finally:
        bot.close()
    assert state == before
    assert found.player == state.current_player()
    assert found.actions.tolist() == state.legal_actions()
    assert found.action in found.actions
    assert found.policy.shape == found.actions.shape
    assert found.policy.sum() == pytest.approx(1)
    known = {field for field in SEARCH | EVALUATION | {"priors", "proven"} if is_known(found, field)}
    assert known == KNOWN[name]
    for array in (found.visits, found.action_values, found.priors, found.action_evaluations):
        assert array is None or array.shape == found.actions.shape
    if found.value is not None and found.values is not None:
        assert -1 <= found.value <= 1
        assert found.values[found.player] == found.value
        assert sum(found.values) == 0
    if found.visits is not None:
        assert found.visits.sum() == found.simulations
    ahead = state.clone()
    for action in found.line:
        ahead.apply_action(action)
    if name != "policy:<file>":
        assert BotSpec.parse(name).entry.estimates_values == (found.value is not None)


@pytest.mark.parametrize("name", bots(["mcts:200", "alphabeta:2", "vadus@32"]))
def test_the_analysis_is_that_of_the_step(name: str) -> None:
    state = GAME.deserialize_state("c3\ne5")
    assert load_bot(name, GAME, seed=3).analyze(state).action == load_bot(name, GAME, seed=3).step(state)


@pytest.mark.parametrize("name", bots(["mcts:2000", "vadus@64"]))
def test_a_proven_position_is_known_to_be(name: str) -> None:
    game = load_game("vadus(size=2)")
    state = game.new_initial_state()
    bot = load_bot(name, game, seed=1)
    found = None
    while not state.is_terminal():
        found = bot.analyze(state)
        state.apply_action(found.action)
    assert found is not None
    assert found.proven == found.value
    assert found.proven == state.returns()[found.player]


def test_a_bot_that_only_has_a_policy_gives_it() -> None:
    class HalfBot(Bot):
        def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
            first, *_, last = state.legal_actions()
            return [(last, 0.5), (first, 0.5)], last

    state = GAME.new_initial_state()
    found = HalfBot().analyze(state)
    assert found.action == state.legal_actions()[-1]
    assert found.policy[[0, -1]].tolist() == [0.5, 0.5]
    assert found.policy.sum() == 1
    assert (found.value, found.values, found.line) == (None, None, ())
