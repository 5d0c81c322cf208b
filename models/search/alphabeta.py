"""Alpha-beta search: iterative deepening over turns with a transposition table, using the game's heuristic.

A template over a game's four kernels and the two kernels of its heuristic (see :mod:`stoneworks.envs.rules.compiler.compiler`).
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

from typing import NamedTuple

import numpy as np

from stoneworks.envs.rules.compiler.bits import list_legal
from stoneworks.envs.rules.compiler.compiler import int64, kernel
from stoneworks.envs.rules.compiler.ranking import insert_best
from stoneworks.envs.rules.compiler.types import (
    BoardArray,
    Float32s,
    Float32Table,
    Int32s,
    Int32Table,
    Int64s,
    Record,
    StateArray,
    UInt64s,
)
from stoneworks.envs.rules.contract import NO_ACTION, apply_action, heuristic, legal_actions, rate_actions
from stoneworks.models.search.transposition_table import (
    EXACT,
    LOWER_BOUND,
    TABLE_ENTRY,
    TABLE_SIZE,
    UPPER_BOUND,
    TableArray,
    best_known,
    clear,
    hash_bytes,
    slot_of,
    store,
)
from stoneworks.models.search.turn_search import WIN_VALUE, draw_best, value_of_end

#: Maximum search depth in turns.
MAX_DEPTH = 32
#: Stack space per turn, in actions, shared by all turns on a path. Positions beyond it are evaluated statically.
ACTIONS_PER_TURN = 24
#: Minimum number of candidates; from the third turn on, the number of candidates halves with each turn down to this.
MIN_CANDIDATES = 4
#: Threshold above which a value is a proven win; a win is worth one less for each action that it takes.
PROVEN_VALUE = WIN_VALUE - ACTIONS_PER_TURN * MAX_DEPTH
#: Relative tolerance for equal values; float32 has a 24-bit significand.
RESOLUTION = 1e-6
#: Number of candidates of a position whose candidates are not listed yet.
NOT_LISTED = -1

#: The search of a position on the path: what remains, and the best action so far.
FRAME = np.dtype(
    [
        ("key", "u8"),
        ("turns_left", "i8"),
        ("alpha", "f8"),
        ("beta", "f8"),
        ("best_value", "f8"),
        ("best_action", "i8"),
        ("first_action", "i8"),  # the best action in the transposition table
        ("num_chosen", "i8"),
        ("num_done", "i8"),
    ]
)


class Limits(NamedTuple):
    """Limits of a search.

    Attributes:
        first_depth: depth of the first iteration, at least 1. A search from depth 1 empties the transposition table; one from
            a later depth continues the search of the same position, with the same buffers, to the depth before.
        depth: search depth in turns, 1 to ``MAX_DEPTH``; the first turn is the rest of the turn in progress.
        num_candidates: actions tried in each position of the first two turns, at least 1. It halves with each later turn, but
            not below ``MIN_CANDIDATES`` unless it starts lower. Actions rated infinite are tried in addition.
        max_positions: number of positions visited per state past which the iteration in progress is cut short.
    """

    first_depth: int
    depth: int
    num_candidates: int
    max_positions: int


class WorkBuffers(NamedTuple):
    """Work buffers of a search.

    Attributes:
        table: the transposition table.
        entries_in_use: indices of the entries in use.
        num_entries: ``int64[1]``, their number.
        candidates: the candidates by ply.
    """

    table: TableArray
    entries_in_use: Int32s
    num_entries: Int64s
    candidates: Int32Table


@kernel
def relative_to(value: float, ply: int) -> float:
    """Convert a win value to be relative to a node ``ply`` actions below the root; ``-ply`` converts it back."""
    if value >= PROVEN_VALUE:
        return value + ply
    if value <= -PROVEN_VALUE:
        return value - ply
    return value


@kernel
def list_candidates(
    legal: Int64s, num_legal: int, ratings: Float32s, first_action: int, width: int, best_rated: Int64s, chosen: Int32s
) -> int:
    """Write the actions to try in a position and return their number.

    Args:
        legal: the legal actions.
        num_legal: their number; a single one is not rated.
        ratings: rating of each action.
        first_action: the action to try first, or ``NO_ACTION``.
        width: maximum number of actions with finite ratings to try, at least 1.
        best_rated: ``int64[>= width]``, work buffer.
        chosen: output, ``int32[num_actions]``: ``first_action``, then actions rated infinite, then those with the highest
            finite ratings.
    """
    num_chosen = 0
    if first_action != NO_ACTION:
        chosen[0] = first_action
        num_chosen = 1
    num_best = 0
    for place in range(num_legal):
        action = legal[place]
        if num_legal > 1 and ratings[action] < np.inf:
            num_best = insert_best(best_rated, num_best, width, ratings, action)
        elif action != first_action:
            chosen[num_chosen] = action
            num_chosen += 1
    for place in range(num_best):
        if best_rated[place] != first_action:
            chosen[num_chosen] = best_rated[place]
            num_chosen += 1
    return num_chosen


@kernel
def enter(frame: Record, key: int, turns_left: int, alpha: float, beta: float, first_action: int) -> None:
    """Begin the search of a position."""
    frame.key = key
    frame.turns_left = turns_left
    frame.alpha, frame.beta = alpha, beta
    frame.first_action = first_action
    frame.best_value, frame.best_action = -np.inf, NO_ACTION
    frame.num_done, frame.num_chosen = 0, NOT_LISTED


@kernel
def window_of_child(frame: Record, ply: int, same_player: bool) -> tuple[float, float]:
    """Return alpha and beta of the next child of a position, for the player to move in it."""
    alpha = max(frame.alpha, frame.best_value)
    if ply == 0 and frame.best_value > -np.inf:
        # Slightly below the best value, so that the values of tied actions are exact.
        alpha = frame.best_value - RESOLUTION * max(1.0, abs(frame.best_value))
    if same_player:
        return alpha, frame.beta
    return -frame.beta, -alpha


@kernel
def look_up(entry: Record, turns_left: int, alpha: float, beta: float, ply: int) -> tuple[bool, float]:
    """Return whether the entry of a position decides its value in the window, and the value or a bound."""
    if entry.depth != turns_left:
        return False, 0.0
    value = relative_to(float(entry.value), -ply)
    if entry.bound == EXACT:
        return True, value
    return value >= beta if entry.bound == LOWER_BOUND else value <= alpha, value


# Long: recursion is unrolled into a stack that all parts of the loop read and write, and only a template can call the kernels
# of a game.
def search_depths(
    board: BoardArray,
    states: StateArray,
    limits: Limits,
    work: WorkBuffers,
    seeds: UInt64s,
    values: Float32Table,
    actions: Int64s,
    num_positions: Int64s,
) -> None:
    """Search each of ``states`` with iterative deepening and write the values of its actions.

    The search of a position stops early if a win or loss is proven or if only one action is legal. The transposition table
    identifies positions by their 64-bit hash alone; collisions are possible but negligibly rare.

    Args:
        board: the board constants.
        states: ``[num_states]``, the positions; ``NO_ACTION`` is written for terminal ones.
        limits: depth and size of the search.
        work: see :func:`work_buffers`.
        seeds: one per state, advanced in place; used to break ties.
        values: output, ``float32[num_states, num_actions]``, of the last iteration, for the player to move: the exact value of each
            best action, an upper bound for other actions, and minus infinity for actions that were not tried.
        actions: output, ``int64[num_states]``, an action of highest value; ``NO_ACTION`` if the last iteration was cut short
            before it had tried an action.
        num_positions: output, ``int64[num_states]``, positions visited at all depths.
    """
    num_actions = board[0].num_actions
    last_ply = ACTIONS_PER_TURN * limits.depth
    table, entries_in_use, num_entries, candidates = work
    limit = limits.num_candidates
    mask = np.empty(num_actions, np.int8)
    ratings = np.empty(num_actions, np.float32)
    best_rated = np.empty(min(limit, num_actions), np.int64)
    legal = np.empty(num_actions, np.int64)
    # The path from the root to the current position, with the remaining work at each position.
    path = np.empty(last_ply + 1, states.dtype)
    path_bytes = path.view(np.uint8)
    num_bytes = path_bytes.size // (last_ply + 1)
    frames = np.zeros(last_ply + 1, FRAME)

    for row in range(states.shape[0]):
        values[row, :] = -np.inf
        actions[row] = NO_ACTION
        num_positions[row] = 0
        if states[row].ending:
            continue
        if limits.first_depth == 1:
            clear(table, entries_in_use, num_entries)
        path[0] = states[row]
        root_key = hash_bytes(path_bytes[:num_bytes])
        for iteration in range(limits.first_depth, limits.depth + 1):
            values[row, :] = -np.inf
            enter(frames[0], root_key, iteration, -np.inf, np.inf, best_known(table, root_key))
            ply = 0
            while num_positions[row] < limits.max_positions:
                frame = frames[ply]
                if frame.num_chosen == NOT_LISTED:
                    legal_actions(board[0], path[ply], mask)
                    num_legal = list_legal(mask, legal)
                    if num_legal > 1:
                        rate_actions(board[0], path[ply], mask, ratings)
                    width = max(limit >> max(0, iteration - frame.turns_left - 1), min(limit, MIN_CANDIDATES))
                    frame.num_chosen = list_candidates(
                        legal, num_legal, ratings, frame.first_action, width, best_rated, candidates[ply]
                    )

                if frame.num_done < frame.num_chosen and frame.best_value < frame.beta:
                    action = candidates[ply, frame.num_done]
                    frame.num_done += 1
                    num_positions[row] += 1
                    player = path[ply].current_player
                    path[ply + 1] = path[ply]
                    apply_action(board[0], path[ply + 1], action)
                    child = path[ply + 1]
                    if child.ending:
                        value = value_of_end(child, player, ply + 1)
                    else:
                        sign = 1 if child.current_player == player else -1
                        left = frame.turns_left - (sign < 0)
                        alpha, beta = window_of_child(frame, ply, sign > 0)
                        key = hash_bytes(path_bytes[(ply + 1) * num_bytes : (ply + 2) * num_bytes])
                        entry = table[slot_of(key)]
                        found, known, value = entry.key == key, False, 0.0
                        if found:
                            known, value = look_up(entry, left, alpha, beta, ply + 1)
                        if not known and (left == 0 or ply + 1 == last_ply):
                            value = float(np.float32(heuristic(board[0], child, child.current_player)))
                            if left == 0 and not found:
                                store(table, entries_in_use, num_entries, key, value, 0, EXACT, NO_ACTION)
                        elif not known:
                            ply += 1
                            enter(frames[ply], key, left, alpha, beta, int64(entry.action) if found else NO_ACTION)
                            continue
                        value *= sign
                else:
                    value = frame.best_value
                    bound = UPPER_BOUND if value <= frame.alpha else LOWER_BOUND if value >= frame.beta else EXACT
                    stored = relative_to(value, ply)
                    turns_left, best_action = frame.turns_left, frame.best_action
                    store(table, entries_in_use, num_entries, frame.key, stored, turns_left, bound, best_action)
                    if ply == 0:
                        break
                    if path[ply].current_player != path[ply - 1].current_player:
                        value = -value
                    ply -= 1
                    frame = frames[ply]
                    action = candidates[ply, frame.num_done - 1]

                if ply == 0:
                    values[row, action] = value
                if value > frame.best_value:
                    frame.best_value = value
                    frame.best_action = action
            if num_positions[row] >= limits.max_positions or abs(frames[0].best_value) >= PROVEN_VALUE:
                break
            if frames[0].num_chosen == 1:
                break

        if frames[0].best_action != NO_ACTION:
            # Every action with a value is a candidate of the root.
            actions[row] = draw_best(values[row], candidates[0], frames[0].num_chosen, seeds, row)


def work_buffers(depth: int, num_actions: int) -> WorkBuffers:
    """Return buffers for searches of up to ``depth`` turns. Later searches use them again: new ones are cleared page by page."""
    candidates = np.empty((ACTIONS_PER_TURN * depth + 1, num_actions), np.int32)
    table = np.zeros(TABLE_SIZE, TABLE_ENTRY)
    return WorkBuffers(table, np.empty(TABLE_SIZE, np.int32), np.zeros(1, np.int64), candidates)
