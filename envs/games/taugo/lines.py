"""Legal stones in Taugo: knots, cuts, and the next stone of a line (T3, T5, T6, T7).

A line in progress has few possible next stones, which are tested one by one. The first stone of a turn can be anywhere on the
board and is searched with row words: all columns of a row at once, in one pass from the bottom row to the top. A row word is a set
of columns of one row as the bits of an integer, bit x for column x. Row words cannot tell whether two stones belong to the same
string; string labels can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stoneworks.envs.rules.compiler.bits import highest_bit, lowest_bit
from stoneworks.envs.rules.compiler.compiler import int64, kernel
from stoneworks.envs.rules.compiler.types import Int8s, Record
from stoneworks.envs.rules.contract import NO_ACTION
from stoneworks.envs.rules.stones import EMPTY

NORTH, EAST, SOUTH, WEST = range(4)
#: ``last_stone`` if no line is in progress, ``direction`` if the line has none yet.
NONE = -1
#: Placeholder for a missing neighbor or cut: a corner of the grid, which is off the board.
CORNER = 0


# -- Row words -----------------------------------------------------------------------------------------------------------


@kernel
def beside(word: int) -> int:
    """Return the columns to the left and right of those in ``word``."""
    return (word << 1) | (word >> 1)


@kernel
def pairs(word: int) -> int:
    """Return the columns x such that x - 1 and x are both in ``word``."""
    return word & (word << 1)


@kernel
def with_two_neighbors(word: int, below: int, above: int) -> int:
    """Return the columns of ``word`` with two or more neighbors in ``word`` and the words of the rows below and above."""
    left = word << 1
    right = word >> 1
    return word & ((left & right) | (below & above) | ((left | right) & (below | above)))


@kernel
def after_runs(runs: int, starts: int) -> int:
    """Return the column after each unbroken run of ``runs`` that starts in ``starts``.

    Only those of ``starts`` that are in a run count, and each must be its lowest column: adding 1 there carries to the end.
    """
    return (runs + (runs & starts)) & ~runs


# -- One stone at a time -----------------------------------------------------------------------------------------------


@kernel
def half_of_knot(board: Record, state: Record, first: int, second: int, direction: int, color: int) -> bool:
    """Return whether a knot of ``color`` lacks only ``first`` and ``second``, the next point in ``direction`` (T3)."""
    for side in ((direction + 1) & 3, (direction + 3) & 3):
        one, other = board.neighbors[first, side], board.neighbors[second, side]
        both_inside = board.intersection[one] and board.intersection[other]
        if both_inside and state.stones[one] == color and state.stones[other] == color:
            return True
    return False


@kernel
def completes_knot(board: Record, state: Record, cell: int, direction: int, color: int) -> bool:
    """Return whether a stone of ``color`` on ``cell`` makes a knot with the stone next to it in ``direction`` (T3)."""
    neighbor = board.neighbors[cell, direction]
    return state.stones[neighbor] == color and half_of_knot(board, state, cell, neighbor, direction, color)


def _knots() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return ``uint8[512]``: whether a stone in the middle of 3 x 3 points completes a knot with the stones of a set of them.

    Bit 3 * row + column of the index represents the point in that row and column.
    """
    found = np.zeros(512, np.uint8)
    for corner in (0, 1, 3, 4):
        block = 1 << corner | 1 << corner + 1 | 1 << corner + 3 | 1 << corner + 4
        others = block & ~(1 << 4)
        found[(np.arange(512) & others) == others] = 1
    return found


_KNOTS = _knots()


@kernel
def makes_knot(board: Record, state: Record, cell: int, color: int) -> bool:
    """Return whether a stone of ``color`` on the intersection ``cell`` makes a knot (T3)."""
    row = board.row[cell]
    before = board.column[cell] - 1
    below = state.rows[color - 1, row] & board.intersections[row]
    beside_ = state.rows[color - 1, row + 1] & board.intersections[row + 1]
    above = state.rows[color - 1, row + 2] & board.intersections[row + 2]
    around = (below >> before & 7) | (beside_ >> before & 7) << 3 | (above >> before & 7) << 6
    return _KNOTS[around] != 0  # type: ignore[no-any-return]


@kernel
def string_is_met_once(board: Record, state: Record, point: int, stone: int) -> bool:
    """Return whether exactly one neighbor of ``point`` belongs to the string of ``stone`` (T6 (1)), or need not (T10)."""
    times = 0
    for direction in range(4):
        times += state.strings[board.neighbors[point, direction]] == state.strings[stone]
    return times == 1 or board.run_suffices


@kernel
def cut_from(board: Record, state: Record, friend: int, heading: int, color: int) -> int:
    """Return the end point of a cut of ``color`` from the stone ``friend``, or ``CORNER`` if it is illegal (T6)."""
    enemy = 3 - color
    behind = friend
    cell = board.neighbors[friend, heading]
    while state.stones[cell] == enemy:
        num_friends = 0
        for direction in range(4):
            num_friends += state.stones[board.neighbors[cell, direction]] == enemy
        if num_friends < 2 or half_of_knot(board, state, behind, cell, heading, color):  # T6 (2), T6 (3)
            return CORNER
        behind = cell
        cell = board.neighbors[cell, heading]
    if behind == friend or state.stones[cell] != EMPTY:
        return CORNER
    if half_of_knot(board, state, behind, cell, heading, color) or completes_knot(board, state, cell, heading, color):
        return CORNER  # T6 (3)
    return cell if string_is_met_once(board, state, cell, behind) else CORNER


@kernel
def cut_on_line(
    own: int, beside_own: int, enemy: int, beside_enemy: int, both_sides: int, inner: int, point: int, upward: bool
) -> bool:
    """Return whether the words of a line allow a cut that ends on ``point``, an empty place of it (T6 (2), T6 (3)).

    A line is a row or a column of the board; its words are row words or column words.

    Args:
        own: the mover's stones.
        beside_own: places x such that own stones on x - 1 and x form a knot with two own stones of an adjacent line.
        enemy: the opponent's stones.
        beside_enemy: places next to an enemy stone of a line beside.
        both_sides: places between two such stones.
        inner: the intersections of the line.
        point: where the cut ends.
        upward: whether the cut heads toward higher places.
    """
    if upward:
        before = ~enemy & ((1 << point) - 1)
        if before == 0:  # the run goes to the edge
            return False
        friend = highest_bit(before)
        low, high = friend, point
    else:
        friend = point + 1 + lowest_bit(~enemy >> (point + 1))
        low, high = point, friend
    run = (1 << high) - (2 << low)  # low + 1 to high - 1
    left, right = enemy << 1, enemy >> 1
    can_flip = inner & ((left & right) | both_sides | ((left | right) & beside_enemy))
    knots = beside_own & ((2 << high) - (2 << low))
    # A knot of the placed stone and an own stone beyond it.
    beyond = (
        (beside_own >> (point + 1)) & (own & inner) >> (point + 1)
        if upward
        else (beside_own >> point) & ((own & inner) << 1 >> point)
    )
    return (own >> friend & 1) != 0 and (run & ~can_flip) | knots | (beyond & 1) == 0


@kernel
def cut_is_legal(board: Record, state: Record, point: int, heading: int, color: int) -> bool:
    """Return whether a cut of ``color`` over the enemy stone behind the empty ``point`` may end there and begin a line (T6)."""
    mine, other = color - 1, 2 - color
    if heading & 1:
        line, place = board.row[point] + 1, board.column[point]
        own, below, above = state.rows[mine, line], state.rows[mine, line - 1], state.rows[mine, line + 1]
        enemy, enemy_below, enemy_above = (
            state.rows[other, line],
            state.rows[other, line - 1],
            state.rows[other, line + 1],
        )
    else:
        line, place = board.column[point] + 1, board.row[point]
        own, below, above = state.columns[mine, line], state.columns[mine, line - 1], state.columns[mine, line + 1]
        enemy, enemy_below, enemy_above = (
            state.columns[other, line],
            state.columns[other, line - 1],
            state.columns[other, line + 1],
        )
    # The board is as wide as high, so its words are those of rows and columns alike.
    beside_own = pairs(below & board.intersections[line - 1]) | pairs(above & board.intersections[line + 1])
    fits = cut_on_line(
        own,
        beside_own,
        enemy,
        enemy_below | enemy_above,
        enemy_below & enemy_above,
        board.intersections[line],
        place,
        heading == NORTH or heading == EAST,
    )
    return fits and string_is_met_once(board, state, point, board.neighbors[point, heading ^ 2])


@kernel
def next_stone(board: Record, state: Record, direction: int) -> int:
    """Return the action that continues the line in progress in ``direction``, or ``NO_ACTION`` (T5)."""
    last = state.last_stone
    if state.direction not in (NONE, direction) or not board.intersection[last]:  # T7
        return NO_ACTION
    color = state.current_player + 1
    cell = board.neighbors[last, direction]
    if state.stones[cell] != EMPTY:
        cell = cut_from(board, state, last, direction, color)
        return NO_ACTION if cell == CORNER else (1 + direction) * board.num_cells + cell
    if not board.intersection[cell] or makes_knot(board, state, cell, color):  # T7, T3
        return NO_ACTION
    return int64(cell)


@kernel
def line_can_go_on(board: Record, state: Record) -> bool:
    """Return whether a further stone of the line in progress is legal."""
    direction = 0
    while direction < 4 and next_stone(board, state, direction) == NO_ACTION:
        direction += 1
    return direction < 4


# -- All first stones of a turn at once --------------------------------------------------------------------------------


@kernel
def mark_cut(board: Record, state: Record, point: int, heading: int, mask: Int8s) -> None:
    """Mark the cut that ends on ``point`` if it meets T6 (1), the only condition left to test."""
    if string_is_met_once(board, state, point, board.neighbors[point, heading ^ 2]):
        mask[(1 + heading) * board.num_cells + point] = 1


@kernel
def mark_cuts_to(board: Record, state: Record, row: int, points: int, heading: int, mask: Int8s) -> None:
    """Mark the cuts that end on the columns ``points`` of ``row``."""
    while points:
        mark_cut(board, state, row * board.width + lowest_bit(points), heading, mask)
        points &= points - 1


@kernel
def mark_cuts_from(board: Record, state: Record, row: int, friends: int, heading: int, mask: Int8s) -> None:
    """Mark the cuts that start from friendly stones on the columns ``friends`` of ``row``."""
    while friends:
        point = board.neighbors[row * board.width + lowest_bit(friends), heading]
        while state.stones[point] != EMPTY:
            point = board.neighbors[point, heading]
        mark_cut(board, state, point, heading, mask)
        friends &= friends - 1


@kernel
def search_first_stones(board: Record, state: Record, color: int, mask: Int8s) -> None:
    """Unmark the intersections where a stone of ``color`` makes a knot (T3), and mark its legal cuts (T6).

    On entry ``mask`` has all empty intersections marked and no cuts. All variables except ``width`` and ``row`` are row words.
    Variables named after a heading relate each point to the previous one of a cut with that heading.
    """
    width = board.width
    run_north = 0
    run_south = 0
    points_south = 0
    own_below, own, own_above = 0, 0, state.rows[color - 1, 1]
    enemy_below, enemy, enemy_above = 0, 0, state.rows[2 - color, 1]
    inner_below, inner, inner_above = 0, 0, 0
    for row in range(width):
        own_below, own, own_above = own, own_above, state.rows[color - 1, row + 2]
        enemy_below, enemy, enemy_above = enemy, enemy_above, state.rows[2 - color, row + 2]
        inner_below, inner, inner_above = inner, inner_above, own_above & board.intersections[row + 2]
        empty = board.points[row + 1] & ~(own | enemy)
        can_flip = board.intersections[row + 1] & with_two_neighbors(enemy, enemy_below, enemy_above)

        # Points where a stone makes a knot together with another one on the previous point (see half_of_knot) ...
        half_east = pairs(inner_below) | pairs(inner_above)
        half_west = half_east >> 1
        half_north = beside(inner & inner_below)
        half_south = beside(inner & inner_above)
        # ... and points where it makes a knot with the stone that is already there (see completes_knot).
        knot_east = half_east & (inner << 1)
        knot_west = half_west & (inner >> 1)
        knot_north = half_north & inner_below
        knot_south = half_south & inner_above

        knots = empty & (knot_east | knot_west)
        while knots:
            mask[row * width + lowest_bit(knots)] = 0
            knots &= knots - 1

        # A cut that goes up or right is found at its end point, one that goes down or left at its friendly stone.
        points_east = after_runs(can_flip & ~half_east, own << 1) & empty & ~(half_east | knot_west)
        points_north = run_north & empty & ~(half_north | knot_south)
        friends_west = after_runs(can_flip & ~half_west, (empty & ~(half_west | knot_east)) << 1) & own
        friends_south = run_south & own
        if points_east | points_north | friends_west | friends_south:
            mark_cuts_to(board, state, row, points_east, EAST, mask)
            mark_cuts_to(board, state, row, points_north, NORTH, mask)
            mark_cuts_from(board, state, row, friends_west, WEST, mask)
            mark_cuts_from(board, state, row, friends_south, SOUTH, mask)
        run_north = can_flip & ~half_north & (own_below | run_north)
        run_south = can_flip & ~half_south & (points_south | run_south)
        points_south = empty & ~(half_south | knot_north)
