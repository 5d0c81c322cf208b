"""Moves of pieces in Trugo: slides, landings and steps (R6)."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import Int8s, Int32s, Record, kernel
from stoneworks.envs.rules.trugo import hex_sets
from stoneworks.envs.rules.trugo.plane import EMPTY_JUNCTION, corner_along_edge, corner_code, joined_corner


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
