"""What the evaluation of Taigo finds."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numba
import numpy as np
import numpy.typing as npt
import pytest

import simple_taigo
from game_play import positions_of_random_games
from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.kernels import BoardArray, StateArray
from stoneworks.models.evaluations.taigo import survey_windows

Totals: TypeAlias = Annotated[npt.NDArray[np.float64], numba.float64[:, ::1]]
Completions: TypeAlias = Annotated[npt.NDArray[np.int64], numba.int64[:, :, ::1]]
Values: TypeAlias = Annotated[npt.NDArray[np.float64], numba.float64[:, :, ::1]]


def survey_all(board: BoardArray, states: StateArray, totals: Totals, completions: Completions, values: Values) -> None:
    """Survey the windows of each position: a template."""
    for row in range(states.shape[0]):
        survey_windows(board[0], states[row], totals[row], completions[row], values[row])


@pytest.mark.parametrize(
    "options",
    [{"radius": 4, "tiles": 18}, {"radius": 5, "tiles": 30, "cones": 9}, pytest.param({}, marks=pytest.mark.slow)],
)
def test_windows_are_found_from_their_first_occupied_hex(options: dict[str, int]) -> None:
    game = load_game("taigo", **options)
    states = positions_of_random_games(game, 32, 20, 3)
    results = []
    for kernel in (survey_windows, simple_taigo.survey_windows):
        totals = np.zeros((len(states), 2))
        completions = np.zeros((len(states), 2, 2), np.int64)
        values = np.zeros((len(states), 2, game.grid.num_cells))
        game.compiled(survey_all, {"survey_windows": kernel})(game.board, states, totals, completions, values)
        results.append((totals, completions, values))
    for found, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert (results[0][1] >= 0).any(), "no window lacks only one hex"
