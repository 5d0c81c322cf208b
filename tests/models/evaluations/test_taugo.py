"""The evaluation of Taugo, against a simple version of it."""

from __future__ import annotations

import numpy as np
import pytest

import simple_taugo
from game_play import positions_of_random_games
from stoneworks.envs.rules import Batch, load_game
from stoneworks.envs.rules.kernels import BoardArray, Float32Table, StateArray
from stoneworks.envs.rules.taugo.lines import NONE
from stoneworks.models.evaluations import evaluation_kernels
from stoneworks.models.search.turn_search import WIN_VALUE, evaluate


def evaluate_all(board: BoardArray, states: StateArray, values: Float32Table) -> None:
    """Evaluate each position for both players: a template."""
    for row in range(states.shape[0]):
        for player in range(2):
            values[row, player] = evaluate(board[0], states[row], player)


def test_a_position_is_as_good_for_one_player_as_it_is_bad_for_the_other_and_is_left_as_it_is() -> None:
    game = load_game("taugo", size=6)
    batch = Batch(game, 64, seed=3)
    for steps in (0, 6, 9):
        for _ in range(steps):
            batch.step(batch.random_actions())
        going_on = batch.states[batch.current_players >= 0]
        assert len(going_on) > 10
        before = going_on.tobytes()
        values = np.empty((len(going_on), 2), np.float32)
        game.compiled(evaluate_all, evaluation_kernels(game))(game.board, going_on, values)
        assert going_on.tobytes() == before
        np.testing.assert_array_equal(values[:, 0], -values[:, 1])
        assert (abs(values) < WIN_VALUE).all()


@pytest.mark.parametrize("size", [3, 5, 8, pytest.param(16, marks=pytest.mark.slow)])
def test_it_values_positions_of_random_games_as_the_simple_evaluation_does(size: int) -> None:
    game = load_game("taugo", size=size)
    states = positions_of_random_games(game, 16, 60 if size < 16 else 30, 7, seed=size)
    states = states[(states["last_stone"] == NONE) & (states["consecutive_passes"] == 0)]
    assert len(states) > 100
    before = states.copy()
    values, expected = np.zeros((2, len(states), 2), np.float32)
    game.compiled(evaluate_all, evaluation_kernels(game))(game.board, states, values)
    game.compiled(evaluate_all, {"evaluate": simple_taugo.evaluate})(game.board, states, expected)
    assert states.tobytes() == before.tobytes()
    assert len(np.unique(values)) > len(states) / 2
    np.testing.assert_array_equal(values, expected)
