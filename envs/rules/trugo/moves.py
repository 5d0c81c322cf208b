"""Moves of pieces in Trugo: slides, landings and steps (R6)."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import Int8s, Record, kernel
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
    return search_destinations(board, state, start, True, np.empty(0, np.int8), 0)


@kernel
def write_destinations(board: Record, state: Record, start: int, mask: Int8s, first_action: int) -> None:
    """Set the entries of ``mask`` for the destinations of the top piece of ``start``; ``a1^`` is ``first_action``."""
    search_destinations(board, state, start, False, mask, first_action)


@kernel
def search_destinations(
    board: Record, state: Record, start: int, only_one: bool, mask: Int8s, first_action: int
) -> bool:
    """Find the destinations of the top piece of ``start``: stop at the first one, or set entries of ``mask`` for all.

    Returns whether there is one. All corners that a slide reaches are of one kind, so a hex represents the one that it owns.
    """
    found = False
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
                found = True
                if only_one:
                    return True
                mask[destination_action(board, beside, first_action)] = 1
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
                found = True
                if only_one:
                    return True
                mask[destination_action(board, joined, first_action)] = 1
    return found


@kernel
def destination_action(board: Record, corner: int, first_action: int) -> int:
    """Return the action that moves the picked piece to ``corner``."""
    return first_action + (corner & 1) * board.num_cells + board.cell_of_hex[corner >> 1]  # type: ignore[no-any-return]
