"""Arguments of a wrong type or value: an error that names the argument and the value, and nothing is written."""

from __future__ import annotations

import contextlib
import math
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stoneworks.checks import check_integer
from stoneworks.envs import BoardGameEnv, SingleAgentEnv, VectorEnv, draw
from stoneworks.envs.advantages import self_play_advantages
from stoneworks.envs.rules import Batch, load_game
from stoneworks.evaluation import ArenaSettings, RateSettings, play_arena, play_match, rate
from stoneworks.evaluation.solved_accuracy.positions import make_solved_positions
from stoneworks.models import load_bot
from stoneworks.models.bots.alphabeta_bot import AlphaBetaBot
from stoneworks.models.bots.external_bot import ExternalBot
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.leaf_values import make_leaf_values
from stoneworks.models.search.network_search import NetworkSearch, SearchSettings
from stoneworks.models.search.puct import PUCT
from stoneworks.models.solver import Solver

NAN = float("nan")
GAME = load_game("vadus(size=2)")
STATE, BOT = GAME.new_initial_state(), MCTSBot(GAME, simulations=1)
SETTINGS = partial(SearchSettings, Gumbel())
SEARCH = partial(NetworkSearch, GAME, len, SETTINGS(), max_games=2, max_simulations=8)  # type: ignore[arg-type]
ARENA = partial(ArenaSettings, game="vadus(size=2)", num_pairs=1)
STEP = {"rewards": [[0.0]], "values": [[0.0]], "players": [[0]], "ended": [[False]], "next_values": [0.0]}
ADVANTAGES = partial(self_play_advantages, **STEP, next_players=[0])


@pytest.mark.parametrize(
    ("call", "argument", "values", "allowed"),
    [
        (STATE.observation_and_mask, "player", [5, 1.0], "0 1"),
        (STATE.perft, "depth", [1.5, -1], "integer 0"),
        (partial(Batch, GAME), "num_games", [0, -1, 1.0, "1", None, True], "integer 1"),
        (partial(Batch, GAME, 2), "seed", [1.5], "0"),
        *((make, "game", [5, None], "Game") for make in (GreedyBot, Solver, SingleAgentEnv, BoardGameEnv)),
        (partial(MCTSBot, GAME), "seconds", ["x", math.inf], "0"),
        (partial(MCTSBot, GAME, simulations=1), "leaf", ["network"], "playout heuristic end_of_turn"),
        (partial(AlphaBetaBot, GAME, turns=1), "num_candidates", [0, 2**40], "1"),
        (partial(ExternalBot, sys.executable, GAME), "seconds", [0.0], "0"),
        (partial(load_bot, "random", GAME), "seed", [-1, 1.5, True, "1"], "0"),
        (SETTINGS, "discount", [0.0], "0 1"),
        (SETTINGS, "leaf_value_weight", [40], "0 1"),
        (SETTINGS, "batch", [0], "1 1024"),
        (SETTINGS, "threads", [0], "1 256"),
        (SEARCH, "max_games", [0], "1"),
        (SEARCH, "max_simulations", [0], "1"),
        (SEARCH, "max_edges", [0, 2 * GAME.num_actions - 1], f"{2 * GAME.num_actions}"),
        (partial(make_leaf_values, "playouts", GAME), "num_playouts", [0], "1"),
        (Gumbel, "max_considered", [0], "1"),
        (Gumbel, "gumbel_scale", [-1], "0"),
        (Gumbel, "value_scale", [NAN], "0"),
        (PUCT, "exploration", [-0.5], "0"),
        (PUCT, "exploration_base", [0], "0"),
        (PUCT, "noise_concentration", [0], "0"),
        (PUCT, "noise_fraction", [7], "0 1"),
        (draw, "state", ["x"], "State"),
        (ARENA, "pairings", [1.5], "tuple"),
        (partial(play_match, GAME, BOT, BOT), "num_pairs", [0], "1"),
        (RateSettings, "scout_pairs", [0], "1"),
    ],
)
def test_a_wrong_argument_is_named(call: Callable[..., object], argument: str, values: list[Any], allowed: str) -> None:
    for value in values:
        with pytest.raises(ValueError, match=" must be ") as error:
            call(**{argument: value})
        assert {argument, repr(value), *allowed.split()} <= set(re.findall(r"[\w.'-]+", str(error.value)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: AlphaBetaBot(GAME, seconds=10**400), "seconds must be .* 0"),
        (lambda: SETTINGS(batch=None, threads=2), "threads must be 1 with batch=None, got 2"),
        (
            lambda: make_leaf_values("greedy", GAME),
            "leaf_values must be one of heuristic, playouts, none, got 'greedy'",
        ),
        (
            lambda: VectorEnv(2, GAME, opponent={"random": "x"}),
            "share of opponent 'random' must be a number >= 0, got 'x'",
        ),  # type: ignore[dict-item]
        (lambda: VectorEnv(2, GAME, opponent={"random": 0}), "shares of the opponents must not all be 0"),
        (lambda: Batch(GAME, 2).step([1, [2]]), "actions must be 2 integers, got object"),  # type: ignore[list-item]
        (lambda: Solver(GAME, memory_mib=1, table="x/table.npz"), "in a folder that exists, got 'x/table.npz'"),
        (lambda: make_solved_positions(GAME, 1, sources=()), "sources must have at least one bot name"),
        (lambda: ARENA(pairings=[1]), "pairings.0 must be .*tuple"),
        (lambda: play_arena(ARENA(pairings=(("random", "other"),)), "x", {"other": 1.5}), "player 'other' .*1.5"),  # type: ignore[dict-item]
        (lambda: rate(1.5, "vadus(size=5)", "rated"), "must be a bot name.*1.5"),  # type: ignore[arg-type]
        (lambda: ADVANTAGES(values=[[0.0, 0.0]]), "values must have the shape"),
        (lambda: ADVANTAGES(players=[[2]]), "players must be 0 or 1, got 2"),
        (lambda: ADVANTAGES(gae_lambda=NAN), "gae_lambda must be from 0 to 1, got nan"),
    ],
)
def test_a_wrong_part_of_an_argument_is_named(call: Callable[[], object], words: str, tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path), pytest.raises(ValueError, match=words):
        call()
    assert not any(tmp_path.iterdir())


def test_integers_within_bounds_are_returned_and_everything_else_is_refused() -> None:
    for value in (1, 7, np.int64(3), np.uint8(7)):
        assert type(check_integer("n", value, 1)) is int
        assert check_integer("n", value, 1, 7) == value
    for refused in (0, 8, True, np.True_, 1.0, "1", None, [1]):
        with pytest.raises(ValueError, match=f"n must be an integer from 1 to 7, got {re.escape(repr(refused))}$"):
            check_integer("n", refused, 1, 7)  # type: ignore[arg-type]
