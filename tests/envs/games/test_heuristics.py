"""Optimized evaluations against the simple ones that they have replaced."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numba
import numpy as np
import numpy.typing as npt
import pytest

import simple_taigo
import simple_taugo
import simple_trugo
from game_play import positions_of_random_games
from stoneworks.envs.games.taigo.heuristic import survey_windows
from stoneworks.envs.games.taugo.lines import NONE
from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.compiler.types import BoardArray, Float32Table, Int8Table, StateArray
from stoneworks.envs.rules.contract import heuristic, legal_actions, rate_actions
from stoneworks.envs.rules.parts import heuristic_kernels

Totals: TypeAlias = Annotated[npt.NDArray[np.float64], numba.float64[:, ::1]]
Completions: TypeAlias = Annotated[npt.NDArray[np.int64], numba.int64[:, :, ::1]]
Values: TypeAlias = Annotated[npt.NDArray[np.float64], numba.float64[:, :, ::1]]


def evaluate_all(
    board: BoardArray, states: StateArray, values: Float32Table, masks: Int8Table, ratings: Float32Table
) -> None:
    """Evaluate each position for both players, and rate its legal actions: a template."""
    for row in range(states.shape[0]):
        for player in range(2):
            values[row, player] = heuristic(board[0], states[row], player)
        legal_actions(board[0], states[row], masks[row])
        rate_actions(board[0], states[row], masks[row], ratings[row])


@pytest.mark.parametrize(
    "name",
    [
        *("taugo(size=3)", "taugo(size=5)", "taugo(size=8)", "trugo(radius=4,tiles=18)", "trugo(radius=4,tiles=8)"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("taugo(size=16)", "trugo(tiles=36)")),
    ],
)
def test_values_and_ratings_are_those_of_the_simple_evaluation(name: str) -> None:
    game = load_game(name)
    states, simple = positions_of_random_games(game, 32, 40, 3), simple_trugo
    if game.name == "taugo":  # the simple one is of starts of turns, and has no ratings
        states, simple = positions_of_random_games(game, 16, 60, 7), simple_taugo
        states = states[(states["last_stone"] == NONE) & (states["consecutive_passes"] == 0)]
    assert len(states) > 100
    before, kernels = states.tobytes(), heuristic_kernels(game)
    masks, ratings = (np.zeros((2, len(states), game.num_actions), dtype) for dtype in (np.int8, np.float32))
    values = np.zeros((2, len(states), 2), np.float32)
    for row, chosen in enumerate((kernels, {name: getattr(simple, name, kernels[name]) for name in kernels})):
        game.compiled(evaluate_all, chosen)(game.board, states, values[row], masks[row], ratings[row])
    assert states.tobytes() == before
    assert len(np.unique(values[0])) > 100
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(ratings[0], ratings[1])


def survey_all(board: BoardArray, states: StateArray, totals: Totals, completions: Completions, values: Values) -> None:
    """Survey the windows of each position of Taigo: a template."""
    for row in range(states.shape[0]):
        survey_windows(board[0], states[row], totals[row], completions[row], values[row])


@pytest.mark.parametrize(
    "name",
    ["taigo(radius=4,tiles=18)", "taigo(radius=5,tiles=30,cones=9)", pytest.param("taigo", marks=pytest.mark.slow)],
)
def test_windows_are_found_from_their_first_occupied_hex(name: str) -> None:
    game = load_game(name)
    states = positions_of_random_games(game, 32, 20, 3)
    totals = np.zeros((2, len(states), 2))
    completions = np.zeros((2, len(states), 2, 2), np.int64)
    values = np.zeros((2, len(states), 2, game.grid.num_cells))
    for row, kernel in enumerate((survey_windows, simple_taigo.survey_windows)):
        survey = game.compiled(survey_all, {"survey_windows": kernel})
        survey(game.board, states, totals[row], completions[row], values[row])
    for found in (totals, completions, values):
        np.testing.assert_array_equal(found[0], found[1])
    assert (completions >= 0).any(), "no window lacks only one hex"
