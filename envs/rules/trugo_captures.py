"""Trugo's captures (R7), looked for where a turn has changed something.

At the start of a turn no group is surrounded: the captures of the turn before have left each group a neighbouring
corner that is empty or no junction. A piece that leaves or a tile that is removed only adds such corners. So a group can be
surrounded only if it is at or next to a junction that has a new top piece.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules import hex_sets
from stoneworks.envs.rules.kernels import Int32s, Record, kernel
from stoneworks.envs.rules.trugo_plane import (
    DOUBLE,
    EMPTY_JUNCTION,
    SINGLE,
    corner_along_edge,
    corner_code,
    has_top,
    set_corner_code,
    without_top,
)


@kernel
def capture_around(board: Record, state: Record, corner: int, colour: int) -> bool:
    """Capture the surrounded groups of ``colour`` at ``corner`` and next to it. Returns whether that freed a piece."""
    freed = capture_at(board, state, corner, colour)
    for index in range(3):
        if capture_at(board, state, corner_along_edge(board, corner, index), colour):
            freed = True
    return freed


@kernel
def capture_everywhere(board: Record, state: Record, colour: int) -> None:
    """Capture all surrounded groups of ``colour``."""
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            capture_at(board, state, 2 * hex_, colour)
            capture_at(board, state, 2 * hex_ + 1, colour)


@kernel
def has_open_neighbour(board: Record, state: Record, corner: int) -> bool:
    """Return whether a neighbouring corner is an empty junction or no junction."""
    return (
        corner_code(state, corner_along_edge(board, corner, 0)) <= EMPTY_JUNCTION
        or corner_code(state, corner_along_edge(board, corner, 1)) <= EMPTY_JUNCTION
        or corner_code(state, corner_along_edge(board, corner, 2)) <= EMPTY_JUNCTION
    )


@kernel
def capture_at(board: Record, state: Record, corner: int, colour: int) -> bool:
    """Capture the group of ``corner`` if it is of ``colour`` and surrounded. Returns whether that freed a piece.

    Groups of a colour do not neighbour each other, so capturing them one by one captures them all at once.
    """
    if not has_top(corner_code(state, corner), colour) or has_open_neighbour(board, state, corner):
        return False
    members = np.empty(2 * board.num_tiles, np.int32)
    size = surrounded_group(board, state, corner, colour, members)
    freed = False
    for member in members[:size]:
        code = corner_code(state, member)
        state.num_pieces[colour] -= 1
        if code >= DOUBLE:
            if (code >> 1) & 1 == colour:
                state.num_pieces[colour] -= 1
                code = EMPTY_JUNCTION
            else:
                code = without_top(code)
                freed = True
        else:
            code = EMPTY_JUNCTION
        set_corner_code(state, member, code)
    return freed


@kernel
def surrounded_group(board: Record, state: Record, start: int, colour: int, members: Int32s) -> int:
    """Write the junctions of the group at ``start`` and return their number, or return 0 where it is not surrounded."""
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
            if (code & 1) == colour and not hex_sets.contains(seen, beside):
                hex_sets.insert(seen, beside)
                members[size] = beside
                size += 1
    return size
