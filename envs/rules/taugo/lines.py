"""Legal stones in Taugo: knots, cuts, and the next stone of a line (T3, T5, T6, T7).

A line in progress has few possible next stones, which are tested one by one. The first stone of a turn can be anywhere on the
board and is searched with row words: all columns of a row at once, in one pass from the bottom row to the top. Row words cannot
tell whether two stones belong to the same string; string labels can.
"""

from __future__ import annotations

from stoneworks.envs.rules.groups import EMPTY
from stoneworks.envs.rules.kernels import Int8s, Record, kernel
from stoneworks.envs.rules.taugo.row_words import after_runs, beside, lowest_column, pairs, with_two_neighbors
from stoneworks.envs.rules.templates import NO_ACTION

NORTH, EAST, SOUTH, WEST = range(4)
#: ``last_stone`` if no line is in progress, ``direction`` if the line has none yet.
NONE = -1
#: Placeholder for a missing neighbor or cut: a corner of the grid, which is off the board.
CORNER = 0


# -- One stone at a time -----------------------------------------------------------------------------------------------


@kernel
def half_of_knot(board: Record, state: Record, first: int, second: int, direction: int, color: int) -> bool:
    """Return whether a knot of ``color`` lacks only ``first`` and ``second``, the next point in ``direction`` (T3)."""
    for side in ((direction + 1) % 4, (direction + 3) % 4):
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


@kernel
def string_is_met_once(board: Record, state: Record, point: int, stone: int) -> bool:
    """Return whether exactly one neighbor of ``point`` belongs to the string of ``stone`` (T6 (1))."""
    times = 0
    for direction in range(4):
        times += state.strings[board.neighbors[point, direction]] == state.strings[stone]
    return times == 1


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
    knot = completes_knot(board, state, cell, NORTH, color) or completes_knot(board, state, cell, SOUTH, color)
    return NO_ACTION if knot or not board.intersection[cell] else cell  # T3, T7


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
    if string_is_met_once(board, state, point, board.neighbors[point, (heading + 2) % 4]):
        mask[(1 + heading) * board.num_cells + point] = 1


@kernel
def mark_cuts_to(board: Record, state: Record, row: int, points: int, heading: int, mask: Int8s) -> None:
    """Mark the cuts that end on the columns ``points`` of ``row``."""
    while points:
        mark_cut(board, state, row * board.width + lowest_column(points), heading, mask)
        points &= points - 1


@kernel
def mark_cuts_from(board: Record, state: Record, row: int, friends: int, heading: int, mask: Int8s) -> None:
    """Mark the cuts that start from friendly stones on the columns ``friends`` of ``row``."""
    while friends:
        point = board.neighbors[row * board.width + lowest_column(friends), heading]
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
            mask[row * width + lowest_column(knots)] = 0
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
