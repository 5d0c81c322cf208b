"""Groups of stones on a hexhex board: path length, value, and comparison rank by rank (V3, V4, V6; L4, L5)."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.compiler.compiler import inlined, kernel
from stoneworks.envs.rules.compiler.types import BoardArray, Int16s, Int16Table, Record, StateArray
from stoneworks.envs.rules.stones import BLACK, EMPTY, OFF_BOARD, WHITE


@inlined
def shortest_path(
    board: Record, stones: Record, frontier: Int16s, reached: int, distance: Int16s, origin: Int16s, path_length: int
) -> int:
    """Return the path length of a group (V3), or ``path_length`` if there is no shorter path.

    Args:
        board: the board constants.
        stones: color codes by cell.
        frontier: ``int16[num_cells]``, the edge stones, to which the others are appended as they are reached.
        reached: the number of edge stones.
        distance: ``int16[num_cells]``, of each stone to its nearest edge stone: 0, or -1 before it is reached.
        origin: ``int16[num_cells]``, that edge stone.
        path_length: more than any path length of the group.
    """
    done = 0
    while done < reached and 2 * distance[frontier[done]] + 2 < path_length:
        stone = frontier[done]
        done += 1
        for direction in range(6):
            neighbor = board.neighbors[stone, direction]
            if stones[neighbor] != stones[stone]:
                continue
            if distance[neighbor] < 0:
                distance[neighbor] = distance[stone] + 1
                origin[neighbor] = origin[stone]
                frontier[reached] = neighbor
                reached += 1
            elif origin[neighbor] != origin[stone]:
                path_length = min(path_length, distance[stone] + distance[neighbor] + 2)
    return path_length


@kernel
def group_values(board: Record, stones: Record, values: Int16Table) -> tuple[int, int]:
    """Write the values of all groups, sorted from high to low per color, and return the number of groups of each color.

    A group of n stones with path length L has the value 2L - n (V4). L is the number of stones on a shortest path within
    the group between two different edge stones, or 0 if it has fewer than two (V3). It is found by a breadth-first search
    from all edge stones at once: each stone gets its nearest edge stone and the distance to it, and every shortest path
    between two edge stones crosses from the region of one to the region of the other.

    Args:
        board: the board constants.
        stones: color codes by cell.
        values: ``int16[2, >= number of cells]``, overwritten.
    """
    num_cells = board.num_cells
    seen = np.zeros(num_cells, np.uint8)
    members = np.empty(num_cells, np.int16)
    frontier = np.empty(num_cells, np.int16)
    distance = np.empty(num_cells, np.int16)
    origin = np.empty(num_cells, np.int16)
    num_groups = np.zeros(2, np.int64)
    for start in range(num_cells):
        color = stones[start]
        if seen[start] or color == EMPTY or color == OFF_BOARD:
            continue
        members[0] = start
        seen[start] = 1
        size = 1
        reached = 0
        done = 0
        while done < size:
            stone = members[done]
            done += 1
            if board.edge[stone]:
                frontier[reached] = stone
                reached += 1
                distance[stone] = 0
                origin[stone] = stone
            else:
                distance[stone] = -1
            for direction in range(6):
                neighbor = board.neighbors[stone, direction]
                if stones[neighbor] == color and not seen[neighbor]:
                    seen[neighbor] = 1
                    members[size] = neighbor
                    size += 1

        path_length = 0
        if reached >= 2:
            path_length = shortest_path(board, stones, frontier, reached, distance, origin, size + 1)
        value = 2 * path_length - size
        row = color - 1
        rank = num_groups[row]
        while rank > 0 and values[row, rank - 1] < value:
            values[row, rank] = values[row, rank - 1]
            rank -= 1
        values[row, rank] = value
        num_groups[row] += 1
    return num_groups[0], num_groups[1]


@kernel
def compare_groups(board: Record, stones: Record) -> int:
    """Return 1 if Black's groups are better, -1 if White's are, 0 if no compared rank differs (V6)."""
    values = np.empty((2, board.num_cells), np.int16)
    num_black, num_white = group_values(board, stones, values)
    for rank in range(min(num_black, num_white)):
        if values[0, rank] != values[1, rank]:
            return 1 if values[0, rank] > values[1, rank] else -1
    return 0


@kernel
def bound_of_new_groups(board: Record, stones: Record, color: int) -> int:
    """Return an upper bound of the value of any group of ``color`` that further stones can make.

    A group with a path never gains: further stones do not lengthen its shortest path (V3), and each costs one. Only groups without
    a path and empty cells can become more, and a shortest path has no edge stones but its two ends.
    """
    num_cells = board.num_cells
    left = np.zeros(num_cells + 1, np.uint8)
    usable = np.zeros(num_cells + 1, np.uint8)
    members = np.empty(num_cells, np.int16)
    for cell in range(num_cells):
        left[cell] = stones[cell] == color
        usable[cell] = stones[cell] == EMPTY
    bound = -1  # of a single stone
    for in_regions in range(2):  # first the groups of the color, then the regions of cells that are left to it
        for start in range(num_cells):
            if not left[start]:
                continue
            members[0] = start
            left[start] = 0
            size = 1
            done = 0
            num_edge = 0
            while done < size:
                stone = members[done]
                done += 1
                num_edge += board.edge[stone]
                for direction in range(6):
                    neighbor = board.neighbors[stone, direction]
                    if left[neighbor]:
                        left[neighbor] = 0
                        members[size] = neighbor
                        size += 1
            if in_regions and num_edge >= 2:
                bound = max(bound, 2 + size - num_edge)
            elif not in_regions and num_edge < 2:
                for place in range(size):
                    usable[members[place]] = 1
        left[:] = usable
    return bound


@kernel
def group_bounds(board: Record, stones: Record, black_must_place: bool, white_must_place: bool) -> tuple[int, int]:
    """Return bounds of the result for Black, 1, 0 or -1, where one side's best group is out of the other's reach.

    The side that has it can pass from now on, unless it must place a stone first.
    """
    values = np.empty((2, board.num_cells), np.int16)
    num_black, num_white = group_values(board, stones, values)
    if num_black == 0 or num_white == 0:  # no rank would be compared
        return -1, 1
    black, white = values[0, 0], values[1, 0]
    if black > white and not black_must_place and bound_of_new_groups(board, stones, WHITE) < black:
        return 1, 1
    if white > black and not white_must_place and bound_of_new_groups(board, stones, BLACK) < white:
        return -1, -1
    return -1, 1


def fill_group_values(board: BoardArray, states: StateArray, values: Int16Table) -> tuple[int, int]:
    """Template: write the group values of ``states[0]`` (see :func:`group_values`)."""
    return group_values(board[0], states[0].stones, values)
