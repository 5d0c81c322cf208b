"""What the evaluation of Trugo computes, against a simple version of it."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numba
import numpy as np
import numpy.typing as npt
import pytest

import simple_trugo
from game_play import positions_of_random_games
from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.kernels import BoardArray, Float32Table, Int8Table, StateArray
from stoneworks.envs.rules.templates import legal_actions
from stoneworks.models.evaluations import trugo

Values: TypeAlias = Annotated[npt.NDArray[np.float64], numba.float64[:, ::1]]


def evaluate_all(
    board: BoardArray, states: StateArray, values: Values, masks: Int8Table, ratings: Float32Table
) -> None:
    """Evaluate each position for both players, and rate its legal actions: a template."""
    for row in range(states.shape[0]):
        for player in range(2):
            values[row, player] = trugo_evaluate(board[0], states[row], player)
        legal_actions(board[0], states[row], masks[row])
        trugo_rate_actions(board[0], states[row], masks[row], ratings[row])


def trugo_evaluate(board: object, state: object, player: int) -> float:
    """Return the evaluation."""
    raise NotImplementedError


def trugo_rate_actions(board: object, state: object, mask: object, ratings: object) -> None:
    """Write the ratings."""
    raise NotImplementedError


@pytest.mark.parametrize(
    "options",
    [{"tiles": 18, "radius": 4}, {"tiles": 8, "radius": 4}, pytest.param({"tiles": 36}, marks=pytest.mark.slow)],
)
def test_values_and_ratings_are_those_of_the_simple_evaluation(options: dict[str, int]) -> None:
    game = load_game("trugo", **options)
    states = positions_of_random_games(game, 32, 40, 3)
    results = []
    for module in (trugo, simple_trugo):
        values = np.zeros((len(states), 2))
        masks = np.zeros((len(states), game.num_actions), np.int8)
        ratings = np.zeros((len(states), game.num_actions), np.float32)
        kernels = {"trugo_evaluate": module.evaluate, "trugo_rate_actions": module.rate_actions}
        game.compiled(evaluate_all, kernels)(game.board, states, values, masks, ratings)
        results.append((values, ratings))
    for found, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert (states["picked"] >= 0).any()
    assert (states["pool"] == 0).any()
