"""Alpha-beta search: iterative deepening over turns, with a transposition table, on the evaluations of the greedy bot.

It is a template over a game's four kernels and the two of its evaluation (see :mod:`stoneworks.envs.rules.kernels`).
Every action is a node of its own. Depth counts turns all the same, and falls where the player to move changes: an
evaluation can only be trusted where a turn is over, and turns are of very different length, one action in Laido, two in
Vadus, a whole line in Taugo. A depth in actions would end most lines of Taugo half laid, and one more action would often be
the same player's again. So the sign of a value, too, flips only where the player to move changes.

The search is selective: in each position only the actions that ``rate_actions`` puts first are looked at, and those that it rates
infinite; from the third turn on fewer and fewer, but not in the second, as a reply that is overlooked costs most (measured on
Taugo 8, two turns against one: 15 of 40 games won with half as many replies, 28 with all). A win or loss is then proven only as
far as the actions that were left out change nothing.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import BoardArray, Float32Table, Int64s, Record, StateArray, UInt64s, kernel
from stoneworks.envs.rules.random_numbers import random_below
from stoneworks.envs.rules.templates import NO_ACTION, NO_WINNER, apply_action, legal_actions
from stoneworks.models.search.best_actions import insert_best
from stoneworks.models.search.turn_search import WIN_VALUE, evaluate, rate_actions

#: The most turns that a search may look ahead.
MAX_DEPTH = 32
#: Room on the way to a leaf for the actions of each turn; one may be longer where another is shorter. Past it, positions are
#: judged as they are.
ACTIONS_PER_TURN = 24
#: From the third turn on, half as many actions are looked at as in the turn before, but never fewer than these.
LEAST_CANDIDATES = 4
#: What a value must reach to be that of a won game: a win is worth less by one for each action until then.
PROVEN = WIN_VALUE - ACTIONS_PER_TURN * MAX_DEPTH
#: Entries of the transposition table, a power of two.
TABLE_SIZE = 1 << 17

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
#: Values whose shares of the whole differ by less are equal: float32 has 24 bits.
RESOLUTION = 1e-6

_SEED = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xFF51AFD7ED558CCD)
_BYTE, _SHIFT = np.uint64(8), np.uint64(32)


@kernel
def hash_bytes(content: Record) -> int:
    """Return a 64-bit hash of an array of bytes, never 0: words of eight bytes are mixed in one after the other."""
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
    """Return a value as seen from ``ply`` actions below: a win that is sooner from there is worth more (``-ply``: back again)."""
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
    """Search each of ``states`` to 1, 2, ... ``depth`` turns, and write what its actions are worth.

    It ends early where a win or a loss is proven, or there is but one action. Positions are told apart in the transposition
    table by their hash alone: two of 64 equal bits, which are not to be expected in a search's lifetime, would be confused.

    Args:
        board: the board constants.
        states: the positions; ``NO_ACTION`` is written for one that is over.
        depth: turns to look ahead, 1 to ``MAX_DEPTH``; the first one is the rest of the turn in progress.
        num_candidates: actions looked at in a position of the first two turns, at least 1; from turn to turn half as many
            after that, but not fewer than ``LEAST_CANDIDATES`` unless this is. Those rated infinite come on top.
        max_positions: positions that the search of one of ``states`` may visit; past them it ends with ``NO_ACTION``.
        seeds: one for each position, advanced; they decide between actions of equal value.
        values: ``float32[len(states), num_actions]``, written, for the player to move: the greatest value, exact wherever it
            stands; for other actions a bound from above; minus infinity where none was looked at.
        actions: ``int64[len(states)]``, written: an action of greatest value.
        num_positions: ``int64[len(states)]``, written: positions visited, at all depths.
    """
    num_actions = board[0].num_actions
    last_ply = ACTIONS_PER_TURN * depth
    limit = num_candidates
    mask = np.empty(num_actions, np.int8)
    ratings = np.empty(num_actions, np.float32)
    best_rated = np.empty(min(limit, num_actions), np.int64)
    # The way from the root to the present position, and of each position on it what is left to do.
    path = np.empty(last_ply + 1, states.dtype)
    path_bytes = path.view(np.uint8)
    num_bytes = path_bytes.size // (last_ply + 1)
    keys = np.zeros(last_ply + 1, np.uint64)
    turns_left = np.zeros(last_ply + 1, np.int64)
    alphas = np.zeros(last_ply + 1, np.float64)
    betas = np.zeros(last_ply + 1, np.float64)
    best_values = np.zeros(last_ply + 1, np.float64)
    best_actions = np.zeros(last_ply + 1, np.int64)
    first_actions = np.zeros(last_ply + 1, np.int64)  # what the table says to try first
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
                            # A little lower, so that the values of equally good actions come out exact.
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
