"""Alpha-beta search: iterative deepening over turns with a transposition table, using the greedy bot's evaluations.

A template over a game's four kernels and the two kernels of its evaluation (see :mod:`stoneworks.envs.rules.kernels`).
Each action is a node, but depth is measured in turns and decreases only when the player to move changes. Evaluations are
reliable only at the end of a turn, and turn length varies by game: one action in Laido, two in Vadus, a whole line in
Taugo. A depth in actions would cut most Taugo lines off halfway. Values likewise change sign only when the player to move
changes.

The search is selective: in each position it tries only the actions that ``rate_actions`` ranks highest and those that it
rates infinite. The number of candidates halves with each turn from the third on, but not in the second, because a missed
reply is costly (measured on Taugo 8, depth 2 against depth 1: 15 of 40 games won with half the replies, 28 with all).
Proven wins and losses are therefore exact only with respect to the actions tried.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import BoardArray, Float32Table, Int64s, Record, StateArray, UInt64s, kernel
from stoneworks.envs.rules.random_numbers import random_below
from stoneworks.envs.rules.templates import NO_ACTION, NO_WINNER, apply_action, legal_actions
from stoneworks.models.search.best_actions import insert_best
from stoneworks.models.search.turn_search import WIN_VALUE, evaluate, rate_actions

#: Maximum search depth in turns.
MAX_DEPTH = 32
#: Stack space per turn, in actions, shared by all turns on a path. Positions beyond it are evaluated statically.
ACTIONS_PER_TURN = 24
#: Minimum number of candidates; from the third turn on, the number of candidates halves with each turn down to this.
LEAST_CANDIDATES = 4
#: Threshold above which a value is a proven win; a win is worth one less for each action that it takes.
PROVEN = WIN_VALUE - ACTIONS_PER_TURN * MAX_DEPTH
#: Number of entries of the transposition table, a power of two.
TABLE_SIZE = 1 << 17

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
#: Relative tolerance for equal values; float32 has a 24-bit significand.
RESOLUTION = 1e-6

_SEED = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xFF51AFD7ED558CCD)
_BYTE, _SHIFT = np.uint64(8), np.uint64(32)


@kernel
def hash_bytes(content: Record) -> int:
    """Return a nonzero 64-bit hash of an array of bytes, mixed in words of eight bytes."""
    mixed = _SEED
    for start in range(0, content.size, 8):
        word = np.uint64(0)
        for place in range(start, min(start + 8, content.size)):
            word = (word << _BYTE) | np.uint64(content[place])
        mixed = (mixed ^ word) * _FACTOR
        mixed ^= mixed >> _SHIFT
    return mixed | np.uint64(1)  # type: ignore[return-value]


@kernel
def relative_to(value: float, ply: int) -> float:
    """Convert a win value to be relative to a node ``ply`` actions below the root; ``-ply`` converts it back."""
    if value >= PROVEN:
        return value + ply
    if value <= -PROVEN:
        return value - ply
    return value


def search_depths(
    board: BoardArray,
    states: StateArray,
    depth: int,
    num_candidates: int,
    max_positions: int,
    seeds: UInt64s,
    values: Float32Table,
    actions: Int64s,
    num_positions: Int64s,
) -> None:
    """Search each of ``states`` with iterative deepening to ``depth`` turns and write the values of its actions.

    The search of a position stops early if a win or loss is proven or if only one action is legal. The transposition table
    identifies positions by their 64-bit hash alone; collisions are possible but negligibly rare.

    Args:
        board: the board constants.
        states: ``[num_states]``, the positions; ``NO_ACTION`` is written for terminal ones.
        depth: search depth in turns, 1 to ``MAX_DEPTH``; the first turn is the rest of the turn in progress.
        num_candidates: actions tried in each position of the first two turns, at least 1. It halves with each later turn, but
            not below ``LEAST_CANDIDATES`` unless it starts lower. Actions rated infinite are tried in addition.
        max_positions: maximum number of positions visited per state; past it the action is ``NO_ACTION``.
        seeds: one per state, advanced in place; used to break ties.
        values: output, ``float32[num_states, num_actions]``, for the player to move: the exact value of each best action, an
            upper bound for other actions, and minus infinity for actions that were not tried.
        actions: output, ``int64[num_states]``, an action of greatest value.
        num_positions: output, ``int64[num_states]``, positions visited at all depths.
    """
    num_actions = board[0].num_actions
    last_ply = ACTIONS_PER_TURN * depth
    limit = num_candidates
    mask = np.empty(num_actions, np.int8)
    ratings = np.empty(num_actions, np.float32)
    best_rated = np.empty(min(limit, num_actions), np.int64)
    # Search stack: the path from the root to the current position, with the remaining work at each position.
    path = np.empty(last_ply + 1, states.dtype)
    path_bytes = path.view(np.uint8)
    num_bytes = path_bytes.size // (last_ply + 1)
    keys = np.zeros(last_ply + 1, np.uint64)
    turns_left = np.zeros(last_ply + 1, np.int64)
    alphas = np.zeros(last_ply + 1, np.float64)
    betas = np.zeros(last_ply + 1, np.float64)
    best_values = np.zeros(last_ply + 1, np.float64)
    best_actions = np.zeros(last_ply + 1, np.int64)
    first_actions = np.zeros(last_ply + 1, np.int64)  # best actions from the transposition table
    candidates = np.empty((last_ply + 1, num_actions), np.int32)
    num_chosen = np.zeros(last_ply + 1, np.int64)
    num_done = np.zeros(last_ply + 1, np.int64)
    # The transposition table: an entry of key 0 is empty.
    table_keys = np.zeros(TABLE_SIZE, np.uint64)
    table_values = np.empty(TABLE_SIZE, np.float32)
    table_depths = np.empty(TABLE_SIZE, np.int8)
    table_bounds = np.empty(TABLE_SIZE, np.int8)
    table_actions = np.empty(TABLE_SIZE, np.int32)

    for row in range(states.shape[0]):
        values[row, :] = -np.inf
        actions[row] = NO_ACTION
        num_positions[row] = 0
        if states[row].ending:
            continue
        if row > 0:
            table_keys[:] = 0
        path[0] = states[row]
        keys[0] = hash_bytes(path_bytes[:num_bytes])
        interrupted = False
        for iteration in range(1, depth + 1):
            values[row, :] = -np.inf
            turns_left[0] = iteration
            alphas[0] = -np.inf
            betas[0] = np.inf
            first_actions[0] = best_actions[0] if iteration > 1 else NO_ACTION
            ply = 0
            entering = True
            while True:
                if num_positions[row] >= max_positions:
                    interrupted = True
                    break
                if entering:
                    entering = False
                    best_values[ply] = -np.inf
                    best_actions[ply] = NO_ACTION
                    num_done[ply] = 0
                    legal_actions(board[0], path[ply], mask)
                    num_legal = 0
                    for action in range(num_actions):
                        num_legal += mask[action]
                    if num_legal > 1:
                        rate_actions(board[0], path[ply], mask, ratings)
                    chosen = 0
                    if first_actions[ply] != NO_ACTION:
                        candidates[ply, 0] = first_actions[ply]
                        chosen = 1
                    num_best = 0
                    width = max(limit >> max(0, iteration - turns_left[ply] - 1), min(limit, LEAST_CANDIDATES))
                    for action in range(num_actions):
                        if not mask[action]:
                            continue
                        if num_legal > 1 and ratings[action] < np.inf:
                            num_best = insert_best(best_rated, num_best, width, ratings, action)
                        elif action != first_actions[ply]:
                            candidates[ply, chosen] = action
                            chosen += 1
                    for place in range(num_best):
                        if best_rated[place] != first_actions[ply]:
                            candidates[ply, chosen] = best_rated[place]
                            chosen += 1
                    num_chosen[ply] = chosen

                if num_done[ply] < num_chosen[ply] and best_values[ply] < betas[ply]:
                    action = candidates[ply, num_done[ply]]
                    num_done[ply] += 1
                    num_positions[row] += 1
                    player = path[ply].current_player
                    path[ply + 1] = path[ply]
                    apply_action(board[0], path[ply + 1], action)
                    child = path[ply + 1]
                    if child.ending:
                        value = 0.0
                        if child.winner != NO_WINNER:
                            value = WIN_VALUE - (ply + 1)
                            if child.winner != player:
                                value = -value
                    else:
                        sign = 1 if child.current_player == player else -1
                        left = turns_left[ply] - (sign < 0)
                        alpha = max(alphas[ply], best_values[ply])
                        if ply == 0 and best_values[0] > -np.inf:
                            # Slightly below the best value, so that the values of tied actions are exact.
                            alpha = best_values[0] - RESOLUTION * max(1.0, abs(best_values[0]))
                        beta = betas[ply]
                        if sign < 0:
                            alpha, beta = -beta, -alpha
                        key = hash_bytes(path_bytes[(ply + 1) * num_bytes : (ply + 2) * num_bytes])
                        entry = np.int64(key >> np.uint64(1)) & (TABLE_SIZE - 1)
                        first_action = NO_ACTION
                        known = False
                        value = 0.0
                        if table_keys[entry] == key:
                            first_action = table_actions[entry]
                            if table_depths[entry] == left:
                                value = relative_to(table_values[entry], -(ply + 1))
                                bound = table_bounds[entry]
                                known = bound == EXACT or (value >= beta if bound == AT_LEAST else value <= alpha)
                        if not known and (left == 0 or ply + 1 == last_ply):
                            value = float(np.float32(evaluate(board[0], child, child.current_player)))
                            if left == 0 and table_keys[entry] != key:
                                table_keys[entry] = key
                                table_values[entry] = value
                                table_depths[entry] = 0
                                table_bounds[entry] = EXACT
                                table_actions[entry] = NO_ACTION
                        elif not known:
                            ply += 1
                            keys[ply] = key
                            turns_left[ply] = left
                            alphas[ply] = alpha
                            betas[ply] = beta
                            first_actions[ply] = first_action
                            entering = True
                            continue
                        value *= sign
                else:
                    value = best_values[ply]
                    if ply == 0:
                        break
                    entry = np.int64(keys[ply] >> np.uint64(1)) & (TABLE_SIZE - 1)
                    table_keys[entry] = keys[ply]
                    table_values[entry] = relative_to(value, ply)
                    table_depths[entry] = turns_left[ply]
                    table_bounds[entry] = (
                        AT_MOST if value <= alphas[ply] else AT_LEAST if value >= betas[ply] else EXACT
                    )
                    table_actions[entry] = best_actions[ply]
                    if path[ply].current_player != path[ply - 1].current_player:
                        value = -value
                    ply -= 1
                    action = candidates[ply, num_done[ply] - 1]

                if ply == 0:
                    values[row, action] = value
                if value > best_values[ply]:
                    best_values[ply] = value
                    best_actions[ply] = action
            if interrupted or abs(best_values[0]) >= PROVEN or num_chosen[0] == 1:
                break

        if interrupted:
            continue
        num_equal = 0
        for action in range(num_actions):
            num_equal += values[row, action] == best_values[0]
        remaining = random_below(seeds, row, num_equal)
        for action in range(num_actions):
            if values[row, action] == best_values[0]:
                if remaining == 0:
                    actions[row] = action
                    break
                remaining -= 1
