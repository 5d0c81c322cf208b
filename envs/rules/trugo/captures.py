"""Captures in Trugo (R7), tested only where a turn has put a new top piece.

At the start of a turn no group is surrounded: after the captures of the previous turn every group has an open corner,
an adjacent corner that is an empty junction or not a junction. In a turn a group can lose its last one in two ways: the
corner gets a piece, or a piece leaves that linked the group to its open corners, and frees one of the other color. (If
it frees none, or is removed with its tile, it leaves an open corner behind.) In both cases the group contains or is
adjacent to a corner with a new top piece. The same holds for the mover's groups after the opponent's have been
captured: pieces freed by captures only join groups of the mover that surrounded them.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import Int32s, Record, kernel
from stoneworks.envs.rules.trugo import hex_sets
from stoneworks.envs.rules.trugo.plane import (
    EMPTY_JUNCTION,
    SINGLE,
    corner_along_edge,
    corner_code,
    has_top,
    set_corner_code,
    without_top,
)


@kernel
def capture_around(board: Record, state: Record, corner: int, color: int) -> None:
    """Capture the surrounded groups of ``color`` at ``corner`` and next to it."""
    capture_at(board, state, corner, color)
    for index in range(3):
        capture_at(board, state, corner_along_edge(board, corner, index), color)


@kernel
def has_open_neighbor(board: Record, state: Record, corner: int) -> bool:
    """Return whether an adjacent corner is an empty junction or not a junction."""
    return (
        corner_code(state, corner_along_edge(board, corner, 0)) <= EMPTY_JUNCTION
        or corner_code(state, corner_along_edge(board, corner, 1)) <= EMPTY_JUNCTION
        or corner_code(state, corner_along_edge(board, corner, 2)) <= EMPTY_JUNCTION
    )


@kernel
def capture_at(board: Record, state: Record, corner: int, color: int) -> None:
    """Capture the group of ``corner`` if it has color ``color`` and is surrounded.

    Groups of one color are not adjacent to each other, so capturing them one by one is the same as all at once.
    """
    if not has_top(corner_code(state, corner), color) or has_open_neighbor(board, state, corner):
        return
    members = np.empty(2 * board.num_tiles, np.int32)
    size = surrounded_group(board, state, corner, color, members)
    for member in members[:size]:
        left = without_top(corner_code(state, member))
        state.num_pieces[color] -= 1
        if has_top(left, color):
            left = EMPTY_JUNCTION
            state.num_pieces[color] -= 1
        set_corner_code(state, member, left)


@kernel
def surrounded_group(board: Record, state: Record, start: int, color: int, members: Int32s) -> int:
    """Write the junctions of the group at ``start`` and return their number, or return 0 if it is not surrounded."""
    seen = np.zeros(2 * board.num_words, np.uint64)
    hex_sets.insert(seen, start)
    members[0] = start
    size = 1
    done = 0
    while done < size:
        member = members[done]
        done += 1
        for index in range(3):
            beside = corner_along_edge(board, member, index)
            code = corner_code(state, beside)
            if code < SINGLE:
                return 0
            if (code & 1) == color and not hex_sets.contains(seen, beside):
                hex_sets.insert(seen, beside)
                members[size] = beside
                size += 1
    return size
