"""What every bot promises, by whatever name it is made, and what is refused by all of them."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game_play import played, random_batch, read_test_data
from stoneworks.envs.rules import Batch, Game, State, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.models import Bot, BotSpec, UnknownBotError, load_bot
from stoneworks.models.bots.alphabeta_bot import AlphaBetaBot
from stoneworks.models.bots.mcts_bot import MCTSBot

BOT_NAMES = read_test_data("bot_names.yaml")
PARALLEL, EVALUATED = "mcts:30,parallel=root,threads=2", "mcts:30,leaf=heuristic"
NETWORKS = [pytest.param(name, marks=pytest.mark.needs("torch")) for name in ("checkpoint", "checkpoint@12")]
NAMES = ("random", "greedy", "mcts:30", PARALLEL, EVALUATED, "alphabeta:2", *NETWORKS)
#: Those that play a position of a batch as they play it alone, with equal seeds.
ALONE = ("greedy", "alphabeta:2", *NETWORKS[1:])
ALL = pytest.mark.parametrize("name", NAMES)
GAMES = pytest.mark.parametrize("game", small_games())


@pytest.fixture
def make_bot(tmp_path: Path) -> Callable[..., Bot]:
    """``make_bot(name, game, seed)``: a bot; ``checkpoint`` is a network whose policy is far from uniform, ``policy:`` a layer."""

    def make(name: str, game: str | Game, seed: int | None = None) -> Bot:
        if name.startswith("checkpoint"):
            from random_networks import random_network, save_network

            save_network(tmp_path / "checkpoint", game, random_network(game, 0.12, seed=2))
            name = f"{tmp_path}/{name}"
        elif name == "policy:":
            from torch import manual_seed, nn

            from stoneworks.models.inference.onnx_export import save_policy

            manual_seed(0)
            name, played_on = f"policy:{tmp_path}/file", load_game(str(game))
            layers = [nn.Linear(int(np.prod(played_on.observation_shape)), played_on.num_actions)]
            save_policy(tmp_path / "file", layers, played_on, selection="argmax")
        return load_bot(name, game, seed)

    return make


def actions_of_game(bots: tuple[Bot, Bot], game: str) -> list[int]:
    """Return the actions of a game, in which each bot's policy and action are checked."""
    state = played(game)
    while not state.is_terminal():
        before = state.clone()
        policy, action = bots[state.current_player()].step_with_policy(state)
        assert (state, state.history()) == (before, before.history())
        probabilities = dict(policy)
        assert len(probabilities) == len(policy)
        assert set(probabilities) <= set(state.legal_actions())
        assert sum(probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert probabilities[action] > 0
        state.apply_action(action)
    return state.history()


@ALL
@GAMES
def test_whole_games_are_legal_and_repeat_under_a_seed(name: str, game: str, make_bot: Callable[..., Bot]) -> None:
    one, again = (actions_of_game((make_bot(name, game, 1), make_bot(name, game, 99)), game) for _ in range(2))
    assert one == again


@pytest.mark.parametrize("name", [name for name in NAMES if name is not NETWORKS[1]])
def test_other_seeds_play_another_game(name: str, make_bot: Callable[..., Bot]) -> None:
    bots = [make_bot(name, "vadus(size=4)", seed) for seed in (1, 2, 3, 4)]
    assert actions_of_game((bots[0], bots[1]), "vadus(size=4)") != actions_of_game((bots[2], bots[3]), "vadus(size=4)")
    batch = Batch(load_game("vadus(size=4)"), 8)
    assert name in ALONE or len(set(bots[0].step_batch(batch, np.arange(8)).tolist())) > 1, "each has a seed of its own"


@ALL
@GAMES
def test_a_batch_is_played_legally_and_repeats_under_a_seed(name: str, game: str, make_bot: Callable[..., Bot]) -> None:
    batch = random_batch(game, 9, 4, seed=3)
    rows, before = np.array([6, 0, 2, 3]), batch.states.copy()
    one, again = (make_bot(name, game, 3).step_batch(batch, rows) for _ in range(2))
    assert one.dtype == np.int64
    assert one.tolist() == again.tolist()
    assert batch.action_masks[rows, one].all()
    assert batch.states.tobytes() == before.tobytes()
    assert make_bot(name, game, 3).step_batch(batch, rows[:0]).shape == (0,)


@pytest.mark.parametrize("name", ALONE)
@GAMES
def test_a_batch_is_played_like_its_games_one_by_one(name: str, game: str, make_bot: Callable[..., Bot]) -> None:
    batch = random_batch(game, 12, 3, seed=5)
    rows = np.array([0, 1, 3, 4, 11])
    alone = make_bot(name, game, 9)
    assert make_bot(name, game, 9).step_batch(batch, rows).tolist() == [alone.step(batch.state(row)) for row in rows]


#: What searches and evaluations know besides their action and their policy; what a bot does not know is None.
SEARCH = {"value", "simulations", "visits", "action_values", "line"}
EVALUATION = {"evaluation", "action_evaluations", "line"}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        *((name, set()) for name in ("random", f"exec:{sys.executable} -m stoneworks.models.bots.external_bot random")),
        *((name, EVALUATION) for name in ("greedy", "alphabeta:2")),
        *((name, SEARCH) for name in ("mcts:200", EVALUATED, PARALLEL)),
        pytest.param("checkpoint", {"value", "line"}, marks=pytest.mark.needs("torch")),
        pytest.param("checkpoint@12", SEARCH | {"priors"}, marks=pytest.mark.needs("torch")),
        pytest.param("policy:", {"line"}, marks=[pytest.mark.needs("torch"), pytest.mark.needs("onnxruntime")]),
    ],
)
def test_all_bots_say_what_they_think_alike(name: str, known: set[str], make_bot: Callable[..., Bot]) -> None:
    state = played("vadus(size=5)", "c3 e5 g6")
    before, bot, stepping = state.clone(), *(make_bot(name, state.get_game(), 1) for _ in range(2))
    with contextlib.closing(bot), contextlib.closing(stepping):
        found = bot.analyze(state)
        assert found.action == stepping.step(state)
    assert state == before
    assert found.player == state.current_player()
    assert found.actions.tolist() == state.legal_actions()
    assert found.policy.shape == found.actions.shape
    assert found.policy.sum() == pytest.approx(1)
    fields = {field for field in SEARCH | EVALUATION | {"priors", "proven"} if getattr(found, field) is not None}
    assert fields - ({"line"} if not found.line else set()) == known
    for array in (found.visits, found.action_values, found.priors, found.action_evaluations):
        assert array is None or array.shape == found.actions.shape
    if found.value is not None and found.values is not None:
        assert -1 <= found.value <= 1
        assert found.values[found.player] == found.value == -found.values[1 - found.player]
    assert found.visits is None or found.visits.sum() == found.simulations
    assert found.line[:1] in ((), (found.action,))
    for action in found.line:
        state.apply_action(action)
    assert name == "policy:" or BotSpec.parse(bot.name).entry.estimates_values == (found.value is not None)


@pytest.mark.parametrize("name", ["mcts:2000", pytest.param("checkpoint@64", marks=pytest.mark.needs("torch"))])
def test_a_proven_position_is_known_to_be(name: str, make_bot: Callable[..., Bot]) -> None:
    state = played("vadus(size=2)")
    bot = make_bot(name, state.get_game(), 1)
    while not state.is_terminal():
        found = bot.analyze(state)
        state.apply_action(found.action)
    assert found.proven == found.value == state.returns()[found.player]


@ALL
def test_a_finished_game_and_a_position_of_another_game_are_refused(name: str, make_bot: Callable[..., Bot]) -> None:
    bot, state = make_bot(name, "vadus(size=2)"), played("vadus(size=2)", "b2 pass pass")
    batch = Batch(state.get_game(), 3)
    batch.load([1], np.array([state.record]))
    for ask in (bot.step, bot.step_with_policy, bot.analyze):
        with pytest.raises(ValueError, match="the game is over"):
            ask(state)
    with pytest.raises(ValueError, match="game 1 of the batch is over"):
        bot.step_batch(batch, np.array([0, 1]))
    if name != "random":
        other = load_game("vadus(size=3)")
        for call in (lambda: bot.step(played(other)), lambda: bot.step_batch(Batch(other, 1), np.array([0]))):
            with pytest.raises(ValueError, match=r"vadus\(size=2\).*vadus\(size=3\)"):
                call()


@pytest.mark.parametrize("name", ["random", "greedy", "alphabeta:1,candidates=100"])
def test_equally_good_actions_are_chosen_about_equally_often(name: str) -> None:
    state = played("laido(size=3)")
    bot: Any = load_bot(name, state.get_game(), seed=3)
    best = state.legal_actions()
    if name != "random":
        values = bot.action_values(state)
        best = np.flatnonzero(values == values.max()).tolist()
    assert bot.step_with_policy(state)[0] == [(action, 1 / len(best)) for action in best]
    in_batch = bot.step_batch(Batch(state.get_game(), 1000), np.arange(1000))
    for actions in (in_batch, [bot.step(state) for _ in range(1000)]):
        chosen, counts = np.unique(actions, return_counts=True)
        assert chosen.tolist() == best
        # The count of each is binomial.
        assert 0 < abs(counts - 1000 / len(best)).max() < 5 * (1000 / len(best)) ** 0.5


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_restarting_a_stateless_bot_does_not_reset_its_random_numbers(name: str) -> None:
    state = played("vadus(size=9)")
    one, other = load_bot(name, state.get_game(), seed=5), load_bot(name, state.get_game(), seed=5)
    assert one.step(state) == other.step(state)
    one.restart()
    assert [one.step(state) for _ in range(20)] == [other.step(state) for _ in range(20)]


@pytest.mark.parametrize(("name", "canonical"), BOT_NAMES["canonical"].items())
def test_a_bot_is_called_by_a_name_that_makes_it(name: str, canonical: str) -> None:
    name, canonical = (text.replace("PYTHON", shlex.quote(sys.executable)) for text in (name, canonical))
    assert load_bot(name, "vadus(size=2)").name == load_bot(canonical, "vadus(size=2)").name == canonical


@pytest.mark.parametrize(("name", "words"), BOT_NAMES["wrong"])
def test_a_wrong_name_is_an_error_that_names_the_bot_the_part_and_what_is_allowed(name: Any, words: str) -> None:
    if name is not None:
        name = name.replace("LONG", "9" * 5000).replace("PYTHON", sys.executable)
    with pytest.raises(UnknownBotError) as error:
        load_bot(name, "vadus(size=2)")
    message = str(error.value)
    assert [word for word in re.findall(r"'[^']*'|\S+", words) if word not in message] == []


class HalfBot(Bot):
    """Knows its policy only."""

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        first, *_, last = state.legal_actions()
        return [(last, 0.5), (first, 0.5)], last


def test_a_bot_that_only_has_a_policy_steps_in_batches_and_analyzes() -> None:
    bot, state = HalfBot(), played("vadus(size=2)")
    last = state.legal_actions()[-1]
    assert (bot.name, bot.step(state)) == ("HalfBot", last)
    assert bot.step_batch(Batch(state.get_game(), 3), np.array([0, 2])).tolist() == [last, last]
    bot.restart()
    found = bot.analyze(state)
    assert found.action == last
    assert found.policy[[0, -1]].tolist() == [0.5, 0.5]
    assert found.policy.sum() == 1
    assert (found.value, found.values, found.line) == (None, None, ())


@pytest.mark.parametrize("options", [{}, {"seconds": 1.0, "simulations": 5, "turns": 5}])
def test_a_search_needs_exactly_one_budget(options: dict[str, Any]) -> None:
    for make, unit in ((MCTSBot, "simulations"), (AlphaBetaBot, "turns")):
        given = {name: value for name, value in options.items() if name in (unit, "seconds")}
        with pytest.raises(ValueError, match=f"exactly one of {unit} and seconds"):
            make(load_game("vadus(size=2)"), **given)
