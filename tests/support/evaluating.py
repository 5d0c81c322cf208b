"""The evaluation of a position by its game's kernel."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules import State
from stoneworks.envs.rules.kernels import BoardArray, StateArray
from stoneworks.models.evaluations import evaluation_kernels
from stoneworks.models.search.turn_search import evaluate


def judge(board: BoardArray, states: StateArray, player: int) -> float:
    """Return the evaluation of one position: a template."""
    return evaluate(board[0], states[0], player)


def evaluation(state: State, player: int | None = None) -> float:
    """Return the evaluation for a player, by default the one to move."""
    game = state.get_game()
    player = state.current_player() if player is None else player
    value: float = game.compiled(judge, evaluation_kernels(game))(game.board, np.array([state.record]), player)
    return value
