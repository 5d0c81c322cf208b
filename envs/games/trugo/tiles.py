"""Tiles of Trugo: placing (R3), removing, and which tiles are removable (R4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from stoneworks.envs.games.trugo import hex_sets
from stoneworks.envs.games.trugo.plane import (
    DOUBLE,
    EMPTY_JUNCTION,
    NO_JUNCTION,
    SINGLE,
    corner_code,
    corner_of_hex,
    has_tile,
    set_corner_code,
    tiles_around,
)
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import BoardArray, Record, StateArray

# What the tiles around a tile imply for its removal (R4), besides 0 for forbidden: allowed; allowed if its two neighbors are
# connected without it.
ALLOWED, IF_CONNECTED = 1, 2


def removal_by_surroundings() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return ``uint8[64]``: what each set of neighboring tiles (bit d: direction d) implies for a tile's removal.

    If the neighbors form one arc, they are connected without the tile, and so are all others. With three
    consecutive empty neighbors there are two arcs only if the other three are tile, empty, tile.
    """
    rulings = np.zeros(64, np.uint8)
    for around in range(64):
        occupied = [bool(around >> direction & 1) for direction in range(6)]
        if any(not (occupied[d] or occupied[d - 1] or occupied[d - 2]) for d in range(6)):
            num_arcs = sum(occupied[d] and not occupied[d - 1] for d in range(6))
            rulings[around] = IF_CONNECTED if num_arcs == 2 else ALLOWED
    return rulings


@kernel
def lay_tile(board: Record, state: Record, hex_: int, rotation: int) -> int:
    """Place a tile and return the set of its corners that received a piece, bit i for corner i (R3)."""
    state.contents[hex_] |= 1 + rotation
    state.pool -= 1
    hex_sets.insert(state.tiles, hex_)
    hex_sets.remove(state.targets, hex_)
    around = 0
    for direction in range(6):
        neighbor = hex_ + board.direction_steps[direction]
        if has_tile(state, neighbor):
            around |= 1 << direction
        elif board.cell_of_hex[neighbor] >= 0:
            hex_sets.insert(state.targets, neighbor)
    served = 0
    for index in range(6):
        between = (1 << (7 - index) % 6) | (1 << (8 - index) % 6)
        if around & between == between:
            color = index & 1
            code = EMPTY_JUNCTION
            if state.reserve[color] > 0:
                state.reserve[color] -= 1
                state.num_pieces[color] += 1
                code = SINGLE + color
                served |= 1 << index
            set_corner_code(state, corner_of_hex(board, hex_, index), code)
    return served


@kernel
def remove_tile(board: Record, state: Record, hex_: int) -> None:
    """Remove a tile and the pieces on its corners, which are no longer junctions (R4), and update ``state.targets``."""
    around = tiles_around(board, state, hex_)
    for index in range(6):
        corner = corner_of_hex(board, hex_, index)
        code = corner_code(state, corner)
        if code >= SINGLE:
            state.num_pieces[code & 1] -= 1
        if code >= DOUBLE:
            state.num_pieces[(code >> 1) & 1] -= 1
        if code != NO_JUNCTION:
            set_corner_code(state, corner, NO_JUNCTION)
    state.contents[hex_] = 0
    hex_sets.remove(state.tiles, hex_)
    if board.removal_by_surroundings[around] == IF_CONNECTED:
        # This may have opened a ring that connected the neighbors of tiles elsewhere.
        find_removable(board, state)
        return
    # Its neighbors form one arc, so every path through it has a detour: only they are affected.
    hex_sets.remove(state.targets, hex_)
    for direction in range(6):
        if around >> direction & 1:
            neighbor = hex_ + board.direction_steps[direction]
            if is_removable(board, state, neighbor):
                hex_sets.insert(state.targets, neighbor)
            else:
                hex_sets.remove(state.targets, neighbor)


@kernel
def find_removable(board: Record, state: Record) -> None:
    """Set ``state.targets`` to the removable tiles (R4)."""
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        removable = word
        while word:
            place = hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            if not is_removable(board, state, hex_sets.WORD_BITS * word_index + place):
                removable &= ~(np.uint64(1) << np.uint64(place))
        state.targets[word_index] = removable


def write_targets(board: BoardArray, states: StateArray) -> None:
    """Template: set the targets of the positions ``states[n]`` to what follows from their tiles (R3, R4)."""
    for row in range(states.shape[0]):
        find_targets(board[0], states[row])


@kernel
def find_targets(board: Record, state: Record) -> None:
    """Set ``state.targets`` to the hexes of the legal tile turns (R3, R4)."""
    if state.pool == 0:
        find_removable(board, state)
        return
    state.targets[:] = 0
    num_tiles = 0
    for cell in range(board.num_cells):
        hex_ = board.hex_of_cell[cell]
        if has_tile(state, hex_):
            num_tiles += 1
        elif board.cell_of_hex[hex_] >= 0 and tiles_around(board, state, hex_):
            hex_sets.insert(state.targets, hex_)
    if num_tiles == 0:
        hex_sets.insert(state.targets, board.hex_of_cell[board.num_cells // 2])


@kernel
def is_removable(board: Record, state: Record, hex_: int) -> bool:
    """Return whether a tile may be removed (R4)."""
    around = tiles_around(board, state, hex_)
    ruling = board.removal_by_surroundings[around]
    return ruling == ALLOWED or (ruling == IF_CONNECTED and connected_without(board, state, hex_, around))


@kernel
def connected_without(board: Record, state: Record, hex_: int, around: int) -> bool:
    """Return whether the two neighbors of a tile, with one empty hex between them, are connected without it.

    The tile separates the empty hexes around it into that single one and the rest. Its neighbors are connected without
    it if and only if these two parts are not connected (then a ring of tiles separates them). As the tiles are
    connected, every connected part of the empty hexes has one contour. The function therefore follows the contour of
    the single hex's part, with that part on the left, until it returns to this tile: facing the single hex again, or
    one of the rest.
    """
    gap = 0
    while around >> gap & 1 or not (around >> (gap + 1) % 6 & 1 and around >> (gap + 5) % 6 & 1):
        gap += 1
    at = hex_
    facing = gap  # direction from ``at`` to an empty hex
    while True:
        facing = (facing + 1) % 6
        ahead = at + board.direction_steps[facing]
        if has_tile(state, ahead):
            # Seen from the tile ahead, the empty hex that ``at`` faced is two directions further back.
            at = ahead
            facing = (facing + 4) % 6
        if at == hex_:
            return facing == gap
