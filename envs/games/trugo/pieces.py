"""Pieces of Trugo: their moves (slides, landings and steps, R6), and captures (R7).

Captures are tested only where a turn has put a new top piece.

At the start of a turn no group is surrounded: after the captures of the previous turn every group has an open corner,
an adjacent corner that is an empty junction or not a junction. In a turn a group can lose its last one in two ways: the
corner gets a piece, or a piece leaves that linked the group to its open corners, and frees one of the other color. (If
it frees none, or is removed with its tile, it leaves an open corner behind.) In both cases the group contains or is
adjacent to a corner with a new top piece. The same holds for the mover's groups after the opponent's have been
captured: pieces freed by captures only join groups of the mover that surrounded them.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.games.trugo import hex_sets
from stoneworks.envs.games.trugo.plane import (
    EMPTY_JUNCTION,
    SINGLE,
    corner_along_edge,
    corner_code,
    has_top,
    joined_corner,
    set_corner_code,
    without_top,
)
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Int8s, Int32s, Record

# -- Moves -------------------------------------------------------------------------------------------------------------


@kernel
def may_land(board: Record, code: int) -> bool:
    """Return whether a corner is a junction on which a piece can land."""
    return EMPTY_JUNCTION <= code <= board.highest_landing  # type: ignore[no-any-return]


@kernel
def has_step(board: Record, state: Record, start: int) -> bool:
    """Return whether a piece could step from ``start``."""
    return (
        may_land(board, corner_code(state, corner_along_edge(board, start, 0)))
        or may_land(board, corner_code(state, corner_along_edge(board, start, 1)))
        or may_land(board, corner_code(state, corner_along_edge(board, start, 2)))
    )


@kernel
def has_destination(board: Record, state: Record, start: int) -> bool:
    """Return whether the top piece of ``start`` can move."""
    if has_step(board, state, start):
        return True
    return search_destinations(board, state, start, True, np.empty(1, np.int32)) > 0


@kernel
def write_destinations(board: Record, state: Record, start: int, mask: Int8s, first_action: int) -> None:
    """Set the entries of ``mask`` for the destinations of the top piece of ``start``; ``a1^`` is ``first_action``."""
    ends = np.empty(4 * (board.num_tiles + 1), np.int32)
    for index in range(search_destinations(board, state, start, False, ends)):
        mask[destination_action(board, ends[index], first_action)] = 1


@kernel
def search_destinations(board: Record, state: Record, start: int, only_one: bool, ends: Int32s) -> int:
    """Write the destinations of the top piece of ``start``, or only the first one, to ``ends`` and return their number.

    A corner may be written twice. ``ends`` has room for four corners per tile and four more. All corners that a slide reaches
    are of one kind, so a hex represents the one that it owns.
    """
    num_ends = 0
    reached = np.zeros(board.num_words, np.uint64)
    hex_sets.insert(reached, start >> 1)
    # Each tile joins two corners of a kind, so a region has at most one corner more than there are tiles.
    waiting = np.empty(board.num_tiles + 1, np.int32)
    waiting[0] = start
    num_waiting = 1
    while num_waiting > 0:
        num_waiting -= 1
        corner = waiting[num_waiting]
        for index in range(3):
            beside = corner_along_edge(board, corner, index)
            if may_land(board, corner_code(state, beside)):
                ends[num_ends] = beside
                num_ends += 1
                if only_one:
                    return num_ends
        for index in range(3):
            joined = joined_corner(board, state, corner, index)
            if joined < 0 or hex_sets.contains(reached, joined >> 1):
                continue
            hex_sets.insert(reached, joined >> 1)
            code = corner_code(state, joined)
            if code <= EMPTY_JUNCTION:
                waiting[num_waiting] = joined
                num_waiting += 1
            if may_land(board, code):
                ends[num_ends] = joined
                num_ends += 1
                if only_one:
                    return num_ends
    return num_ends


@kernel
def destination_action(board: Record, corner: int, first_action: int) -> int:
    """Return the action that moves the picked piece to ``corner``."""
    return first_action + (corner & 1) * board.num_cells + board.cell_of_hex[corner >> 1]  # type: ignore[no-any-return]


# -- Captures ----------------------------------------------------------------------------------------------------------


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
