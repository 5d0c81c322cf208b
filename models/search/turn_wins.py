"""Wins within a turn: whether the player to move can end the game at once and win.

Every way to play the turn out is tried, but for first actions with which, as the game's kernel ``may_win`` says, nothing can
be won. A turn may have several actions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.kernels import Int8s, Int8Table, Record, kernel, specialized_kernel
from stoneworks.envs.rules.templates import NO_ACTION, apply_action, legal_actions
from stoneworks.models.evaluations import may_win_kernel

#: The longest turns that are looked at, in actions. No game has a longer one that wins.
MAX_TURN_ACTIONS = 6


# -- The contract: an evaluation may have this kernel too ----------------------------------------------------------------


def may_win(board: Record, state: Record, action: int) -> bool:
    """Return whether the turn of the player to move may win at once if it goes on with a legal action; cheap to call."""
    raise NotImplementedError


@kernel
def never_wins(board: Record, state: Record, action: int) -> bool:
    """Stand in for ``may_win`` of a game that has none: no wins are looked for."""
    return False


# -- The search -----------------------------------------------------------------------------------------------------------


def winning_turn(board: Record, turn: npt.NDArray[np.void], mask: Int8s, masks: Int8Table) -> tuple[int, int]:
    """Return the length of a turn of ``turn[0].current_player`` that wins at once, and its first action, or ``NO_ACTION``.

    Args:
        board: the board constants.
        turn: room for ``MAX_TURN_ACTIONS`` positions; the first one is where to look. The game is not over.
        mask: ``int8[num_actions]``, the legal actions there.
        masks: ``int8[MAX_TURN_ACTIONS, num_actions]``, room.
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
        if level + 1 == MAX_TURN_ACTIONS:
            level -= 1
            continue
        turn[level + 1] = turn[level]
        child = turn[level + 1]
        apply_action(board, child, action)
        if child.ending:
            if child.winner == player:
                return level + 1, next_actions[0] - 1
        elif child.current_player == player:
            level += 1
            next_actions[level] = 0
            legal_actions(board, child, masks[level])
    return 0, NO_ACTION


_KERNELS: dict[type[Game], Callable[..., Any]] = {}


def winning_turn_kernel(game: Game) -> Callable[..., Any]:
    """Return :func:`winning_turn` as a kernel of the game."""
    if type(game) not in _KERNELS:
        kernels = {**game.kernels, "may_win": may_win_kernel(game) or never_wins}
        _KERNELS[type(game)] = specialized_kernel(winning_turn, game.name, kernels)
    return _KERNELS[type(game)]
