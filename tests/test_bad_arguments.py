"""Arguments of a wrong type or value: an error that names the argument and the value, and nothing is written."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stoneworks.checks import check_integer
from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import Batch, load_game
from stoneworks.envs.self_play import SelfPlayVectorEnv
from stoneworks.envs.vector import VectorEnv
from stoneworks.evaluation import ArenaSettings, RateSettings, play_arena, rate
from stoneworks.evaluation.match import play_match
from stoneworks.models.bots.alphabeta_bot import AlphaBetaBot
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.network_search import SearchSettings
from stoneworks.models.search.puct import PUCT
from stoneworks.web import Replay

NAN = float("nan")
GAME = load_game("vadus(size=2)")
STATE, BOT = GAME.new_initial_state(), MCTSBot(GAME, simulations=1)
#: For arguments of wrong types.
ANY: Any = {"pairings": (("greedy", 1),), "random": "x", "half": 1.5, "none": None, "name": "x", "list": [1]}
ARENA = ArenaSettings(game="vadus(size=2)", pairings=(("random", "other"),), num_pairs=1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: STATE.observation_and_mask(5), "player 0 1 5"),
        (lambda: STATE.player_return(-1), "player 0 1 -1"),
        (lambda: STATE.color_of(3), "player 0 1 3"),
        (lambda: STATE.perft(ANY["half"]), "depth 0 1.5"),
        (lambda: Batch(GAME, 2, seed=ANY["half"]), "seed 0 1.5"),
        (lambda: MCTSBot(GAME, seconds=ANY["name"]), "seconds 0 'x'"),
        (lambda: AlphaBetaBot(GAME, seconds=NAN), "seconds 0 nan"),
        (lambda: SearchSettings(Gumbel(), discount=0.0), "discount 0 1 0.0"),
        (lambda: SearchSettings(Gumbel(), guide_weight=40), "guide_weight 0 1 40"),
        (lambda: MCTSBot(GAME, simulations=1, exploration=True), "exploration 0 True"),
        (lambda: MCTSBot(GAME, simulations=3_000_000), "simulations 1 2147483 3000000"),
        (lambda: AlphaBetaBot(GAME, seconds=10**400), "seconds 0"),
        (lambda: Gumbel(max_considered=0), "max_considered 1 0"),
        (lambda: Gumbel(value_scale=NAN), "value_scale 0 nan"),
        (lambda: Gumbel(gumbel_scale=-1), "gumbel_scale 0 -1"),
        (lambda: PUCT(exploration=-0.5), "exploration 0 -0.5"),
        (lambda: PUCT(exploration_base=0), "exploration_base 0 0"),
        (lambda: PUCT(noise_fraction=7), "noise_fraction 0 1 7"),
        (lambda: PUCT(noise_concentration=0), "noise_concentration 0 0"),
        (lambda: Batch(GAME, 2, auto_reset=ANY["name"]), "auto_reset True False 'x'"),
        (lambda: ArenaSettings(game="vadus(size=2)", pairings=ANY["half"]), "pairings tuple 1.5"),
        (lambda: SelfPlayVectorEnv(ANY["half"], GAME), "num_envs 1 1.5"),
        (lambda: VectorEnv(2, GAME, opponent=ANY), "shares 0"),
        (lambda: draw(ANY["name"]), "state State 'x'"),
        (lambda: Replay(ANY["half"]), "1.5"),
        (lambda: ArenaSettings(game="vadus(size=2)", pairings=ANY["list"]), "pairings.0 tuple"),
        (lambda: ArenaSettings(game="vadus(size=2)", pairings=ANY["pairings"]), "pairings.0.1 string 1"),
        (lambda: play_arena(ARENA, "arena", {"other": ANY["half"]}), "player 'other' 1.5"),
        (lambda: play_match(GAME, BOT, BOT, num_pairs=0), "num_pairs 1 0"),
        (lambda: play_match(GAME, BOT, BOT, num_pairs=1, opening_actions=True), "opening_actions 0 True"),
        (lambda: RateSettings(num_pairs=0), "num_pairs 1 0"),
        (lambda: RateSettings(scout_pairs=0), "scout_pairs 1 0"),
        (lambda: rate(ANY["half"], "vadus(size=5)", "rated"), "bot 1.5"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(call: Callable[[], object], words: str, tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path), pytest.raises(ValueError, match=" must be ") as error:
        call()
    assert set(words.split()) <= set(re.findall(r"[\w.'-]+", str(error.value)))
    assert not any(tmp_path.iterdir())


def test_integers_within_bounds_are_returned_and_everything_else_is_refused() -> None:
    for value in (1, 7, np.int64(3), np.uint8(7)):
        assert type(check_integer("n", value, 1)) is int
        assert check_integer("n", value, 1, 7) == value
    for refused in (0, 8, True, np.True_, 1.0, "1", None, [1]):
        with pytest.raises(ValueError, match=f"n must be an integer from 1 to 7, got {re.escape(repr(refused))}$"):
            check_integer("n", refused, 1, 7)  # type: ignore[arg-type]
