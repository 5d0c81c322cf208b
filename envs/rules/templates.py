"""The templates over the kernels of a game's rules: one state, and batches of games.

Specialization replaces the placeholders of :mod:`stoneworks.envs.rules.contract` by the game's kernels (see
:mod:`stoneworks.envs.rules.compiler.compiler`). Callers must validate the arguments.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.compiler.random_numbers import random_legal_action
from stoneworks.envs.rules.compiler.types import (
    BoardArray,
    Bools,
    Float32Table,
    Float32Tables,
    Int8s,
    Int8Table,
    Int32s,
    Int64s,
    StateArray,
    UInt64s,
)
from stoneworks.envs.rules.contract import (
    NO_ACTION,
    apply_action,
    finish_at_random,
    legal_actions,
    observe,
    player_shown,
    reset,
    update_observation,
)
from stoneworks.envs.rules.fields import NO_WINNER, TERMINAL_PLAYER

#: Returned by :func:`try_action` for an illegal action.
ILLEGAL = -1


# -- One state ---------------------------------------------------------------------------------------------------


def fill_mask(board: BoardArray, states: StateArray, mask: Int8s) -> None:
    """Write ``mask[num_actions]`` of ``states[0]``: zeros after the end of the game."""
    if states[0].ending:
        mask[:] = 0
    else:
        legal_actions(board[0], states[0], mask)


def try_action(board: BoardArray, states: StateArray, mask: Int8s, action: int) -> int:
    """Apply ``action`` to ``states[0]`` and return the next player to move, or return ``ILLEGAL`` and change nothing.

    ``mask[num_actions]`` is scratch space.
    """
    if states[0].ending or action < 0 or action >= mask.shape[0]:
        return ILLEGAL
    legal_actions(board[0], states[0], mask)
    if not mask[action]:
        return ILLEGAL
    apply_action(board[0], states[0], action)
    return states[0].current_player  # type: ignore[no-any-return]


def try_step(board: BoardArray, states: StateArray, action: int, planes: Float32Tables, mask: Int8s) -> int:
    """Do what :func:`try_action` does, and write planes ``[planes, height, width]`` and mask of the next player to move.

    After the end of the game the planes are those of player 0, and the mask is zeros.
    """
    state = states[0]
    if state.ending or action < 0 or action >= mask.shape[0]:
        return ILLEGAL
    legal_actions(board[0], state, mask)
    if not mask[action]:
        return ILLEGAL
    apply_action(board[0], state, action)
    player = state.current_player
    cells = planes.reshape(planes.shape[0], planes.shape[1] * planes.shape[2])
    if player == TERMINAL_PLAYER:
        mask[:] = 0
    else:
        legal_actions(board[0], state, mask)
    observe(board[0], state, player_shown(state), cells)
    return player  # type: ignore[no-any-return]


def fill_observation(board: BoardArray, states: StateArray, player: int, planes: Float32Table) -> None:
    """Write ``planes[planes, height * width]`` of ``states[0]`` from the perspective of ``player``."""
    observe(board[0], states[0], player, planes)


def fill_observation_and_mask(
    board: BoardArray, states: StateArray, player: int, planes: Float32Tables, mask: Int8s
) -> None:
    """Write planes (``[planes, height, width]``) and mask of ``states[0]`` for ``player``.

    The mask is zeros unless ``player`` is to move.
    """
    observe(board[0], states[0], player, planes.reshape(planes.shape[0], planes.shape[1] * planes.shape[2]))
    if states[0].current_player == player:
        legal_actions(board[0], states[0], mask)
    else:
        mask[:] = 0


def count_sequences(board: BoardArray, states: StateArray, depth: int) -> int:
    """Return the number of distinct sequences of ``depth`` >= 1 actions from the position ``states[0]`` (perft)."""
    num_actions = board[0].num_actions
    path = np.empty(depth, states.dtype)
    masks = np.empty((depth, num_actions), np.int8)
    next_action = np.zeros(depth, np.int64)
    path[0] = states[0]
    if path[0].ending:
        return 0
    legal_actions(board[0], path[0], masks[0])
    level = 0
    total = 0
    while level >= 0:
        if level == depth - 1:
            for action in range(num_actions):
                total += masks[level, action]
            level -= 1
            continue
        action = next_action[level]
        while action < num_actions and not masks[level, action]:
            action += 1
        next_action[level] = action + 1
        if action >= num_actions:
            level -= 1
            continue
        path[level + 1] = path[level]
        apply_action(board[0], path[level + 1], action)
        if not path[level + 1].ending:
            level += 1
            next_action[level] = 0
            legal_actions(board[0], path[level], masks[level])
    return total


def first_without_action(board: BoardArray, states: StateArray, mask: Int8s) -> int:
    """Return the first position in progress without a legal action, or -1. ``mask[num_actions]`` is scratch space."""
    for row in range(states.shape[0]):
        if not states[row].ending:
            legal_actions(board[0], states[row], mask)
            if not mask.any():
                return row
    return -1


# -- Many games ----------------------------------------------------------------------------------------------------


def fill_batch(
    board: BoardArray, states: StateArray, rows: Int64s, current_players: Int8s, planes: Float32Tables, masks: Int8Table
) -> None:
    """Write current players, masks, and planes (for the player to move; player 0 after the end) of the games ``rows[n]``.

    The arrays are those of all games: ``states[num_games]``, ``current_players[num_games]``,
    ``planes[num_games, planes, height * width]`` and ``masks[num_games, num_actions]``.
    """
    for row in rows:
        player = states[row].current_player
        current_players[row] = player
        if player == TERMINAL_PLAYER:
            masks[row, :] = 0
        else:
            legal_actions(board[0], states[row], masks[row])
        observe(board[0], states[row], player_shown(states[row]), planes[row])


def observe_batch(board: BoardArray, states: StateArray, players: Int64s, planes: Float32Tables) -> None:
    """Write ``planes[n, planes, height * width]`` of the positions ``states[n]`` from the perspectives of ``players[n]``."""
    for row in range(states.shape[0]):
        observe(board[0], states[row], players[row], planes[row])


def reset_batch(board: BoardArray, states: StateArray, rows: Int64s) -> None:
    """Reset the games ``rows[n]``."""
    for row in rows:
        reset(board[0], states[row])


def first_illegal(masks: Int8Table, actions: Int64s) -> int:
    """Return the first game whose ``actions[num_games]`` is neither ``NO_ACTION`` nor legal by ``masks[num_games, num_actions]``.

    Returns -1 if there is none.
    """
    for row in range(actions.shape[0]):
        action = actions[row]
        if action != NO_ACTION and (action < 0 or action >= masks.shape[1] or not masks[row, action]):
            return row
    return -1


def step_batch(
    board: BoardArray,
    states: StateArray,
    actions: Int64s,
    auto_reset: bool,
    current_players: Int8s,
    rewards: Float32Table,
    terminated: Bools,
    truncated: Bools,
    planes: Float32Tables,
    masks: Int8Table,
) -> None:
    """Apply one legal action (or ``NO_ACTION``) to every game and write the results.

    The planes must hold the observations of the games before their actions. Shapes are those of :func:`fill_batch`, and
    ``rewards[num_games, 2]``; ``actions``, ``terminated`` and ``truncated`` have one entry per game.
    """
    # Ten arguments: on a GPU, a thread gets its row of each array that is an argument, but not of one in a named tuple.
    before = np.empty(1, states.dtype)
    for row in range(actions.shape[0]):
        rewards[row, 0] = 0
        rewards[row, 1] = 0
        if auto_reset:
            terminated[row] = False
            truncated[row] = False
        if actions[row] == NO_ACTION:
            continue
        state = states[row]
        before[0] = state
        apply_action(board[0], state, actions[row])
        if state.ending:
            if state.winner != NO_WINNER:
                rewards[row, state.winner] = 1
                rewards[row, 1 - state.winner] = -1
            truncated[row] = state.truncated != 0
            terminated[row] = state.truncated == 0
            if auto_reset:
                reset(board[0], state)
        player = state.current_player
        current_players[row] = player
        if player == TERMINAL_PLAYER:
            masks[row, :] = 0
        else:
            legal_actions(board[0], state, masks[row])
        update_observation(board[0], before[0], state, planes[row])


def apply_actions(board: BoardArray, states: StateArray, actions: Int64s) -> None:
    """Apply one legal action to each of ``states[n]``, in place."""
    for row in range(actions.shape[0]):
        apply_action(board[0], states[row], actions[row])


def choose_random_actions(masks: Int8Table, seeds: UInt64s, actions: Int64s) -> None:
    """Write a random legal action of every game to ``actions[num_games]``, or ``NO_ACTION`` if it has none.

    ``masks[num_games, num_actions]`` has the legal actions; ``seeds[num_games]`` are advanced in place.
    """
    for row in range(actions.shape[0]):
        actions[row] = random_legal_action(masks[row], seeds, row)


def play_out(board: BoardArray, states: StateArray, seeds: UInt64s, returns: Float32Table, num_actions: Int32s) -> None:
    """Play every game of ``states[n]`` to its end at random; write ``returns[n, 2]`` and ``num_actions[n]``."""
    mask = np.empty(board[0].num_actions, np.int8)
    for row in range(states.shape[0]):
        state = states[row]
        num_actions[row] = finish_at_random(board[0], state, mask, seeds, row)
        returns[row, 0] = 0
        returns[row, 1] = 0
        if state.winner != NO_WINNER:
            returns[row, state.winner] = 1
            returns[row, 1 - state.winner] = -1
