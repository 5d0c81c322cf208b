"""Search for wins within the turn of the player to move.

The search is exhaustive over the actions of the turn, except that actions rejected by the game's ``may_win`` kernel are
skipped. A turn may have several actions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.compiler.compiler import linked, specialized_kernel
from stoneworks.envs.rules.compiler.types import BoardRecord, Int8s, Int8Table, StateArray
from stoneworks.envs.rules.contract import NO_ACTION, apply_action, legal_actions, may_win
from stoneworks.envs.rules.parts import may_win_kernel

#: Maximum length of the turns searched, in actions. No game has a longer winning turn.
MAX_TURN_ACTIONS = 6


@linked
def winning_turn(board: BoardRecord, turn: StateArray, mask: Int8s, masks: Int8Table) -> tuple[int, int]:
    """Return the length and the first action of a winning turn of ``turn[0].current_player``, or ``NO_ACTION`` for none.

    Args:
        board: the board constants.
        turn: ``[MAX_TURN_ACTIONS + 1]`` positions; the first is the non-terminal position to search, the rest a work buffer.
        mask: ``int8[num_actions]``, action mask of ``turn[0]``.
        masks: ``int8[MAX_TURN_ACTIONS, num_actions]``, work buffer.
    """
    num_actions = mask.shape[0]
    player = turn[0].current_player
    next_actions = np.zeros(MAX_TURN_ACTIONS, np.int64)
    level = 0
    while level >= 0:
        action = next_actions[level]
        state = turn[level]
        while action < num_actions:
            legal = mask[action] if level == 0 else masks[level, action]
            if legal and may_win(board, state, action):
                break
            action += 1
        next_actions[level] = action + 1
        if action == num_actions:
            level -= 1
            continue
        turn[level + 1] = turn[level]
        child = turn[level + 1]
        apply_action(board, child, action)
        if child.ending:
            if child.winner == player:
                return level + 1, next_actions[0] - 1
        elif child.current_player == player and level + 1 < MAX_TURN_ACTIONS:
            level += 1
            next_actions[level] = 0
            legal_actions(board, child, masks[level])
    return 0, NO_ACTION


@linked
def no_winning_turn(board: BoardRecord, turn: StateArray, mask: Int8s, masks: Int8Table) -> tuple[int, int]:
    """Replace :func:`winning_turn` for games without ``may_win``."""
    return 0, NO_ACTION


@cache
def winning_turn_kernel(game_class: type[Game]) -> Callable[..., Any]:
    """Return :func:`winning_turn` compiled for a game."""
    game = game_class()
    of_game = may_win_kernel(game)
    if of_game is None:
        return specialized_kernel(no_winning_turn, game.name, {})
    return specialized_kernel(winning_turn, game.name, {**game.kernels, "may_win": of_game})
