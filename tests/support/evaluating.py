"""The evaluation of a position by its game's kernel."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules import State
from stoneworks.envs.rules.compiler.types import BoardArray, StateArray
from stoneworks.envs.rules.contract import heuristic
from stoneworks.envs.rules.parts import heuristic_kernels


def judge(board: BoardArray, states: StateArray, player: int) -> float:
    """Return the evaluation of one position: a template."""
    return heuristic(board[0], states[0], player)


def evaluation(state: State, player: int | None = None) -> float:
    """Return the evaluation for a player, by default the one to move."""
    game = state.get_game()
    player = state.current_player() if player is None else player
    value: float = game.compiled(judge, heuristic_kernels(game))(game.board, np.array([state.record]), player)
    return value
