"""The plane of Trugo: hexes with their tiles, corners with their contents, and adjacency.

*Hexes.* Kernels number the hexes of a rectangle that is larger than the window: two more rows below and above, one
more column left and right. All neighbors are therefore at fixed offsets, and reads beyond the window find empty hexes.

*Corners.* Hex h owns its top corner ``^``, corner 2h, and its bottom corner ``v``, corner 2h + 1. Its other four
corners are owned by its neighbors, possibly in the margin. The ``v`` corners are the ``^`` corners rotated by 180
degrees, so all steps from corners share one table, with a sign for the kind.

*Contents.* One byte per hex: its tile (2 bits: none, or 1 + rotation) and a code for each corner that it owns (3 bits).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stoneworks.envs.rules.grid import HEX_DIRECTIONS
from stoneworks.envs.rules.kernels import Record, kernel

# Code of a corner: no junction (R2), an empty junction, a junction with one piece (SINGLE + its color), or with two
# (DOUBLE + 2 * the lower piece's color + the upper one's). The last bit of a code with pieces is the color of the top piece.
NO_JUNCTION, EMPTY_JUNCTION, SINGLE, DOUBLE = 0, 1, 2, 4

TOP, BOTTOM = 0, 1  # the corners ^ and v

MARGIN_ROWS, MARGIN_COLUMNS = 2, 1

#: The corners N, NE, SE, S, SW, NW of a hex (clockwise): steps (q, r) to the hex that owns it, and which of its two corners it is.
HEX_CORNERS = ((0, 0, TOP), (0, 1, BOTTOM), (1, -1, TOP), (0, 0, BOTTOM), (0, -1, TOP), (-1, 1, BOTTOM))
#: The hexes that meet at (0, 0)^, which is the N, SE and SW corner of them: the corners that rotations 0, 1, 2 cut off.
_MEETING_HEXES = ((0, 0), (-1, 1), (0, 1))
#: The hexes that own the v corners along hex edges from (0, 0)^.
_EDGE_HEXES = ((0, 1), (-1, 1), (-1, 2))

PLANE_FIELDS = [
    ("direction_steps", "i4", (6,)),  # from a hex to its neighbors E, NE, NW, W, SW, SE
    ("corner_steps", "i4", (6,)),  # from twice a hex to its corners
    ("meeting_steps", "i4", (3,)),  # from a ^ corner's owner to the hexes that meet there
    ("edge_steps", "i4", (3,)),  # from a ^ corner to the corners along hex edges
]


def plane_width(radius: int) -> int:
    """Return the number of hexes per row of the plane around a window."""
    return 2 * (radius + MARGIN_COLUMNS) + 1


def num_plane_hexes(radius: int) -> int:
    """Return the number of hexes of the plane around a window, including its margin."""
    return (2 * (radius + MARGIN_ROWS) + 1) * plane_width(radius)


def plane_hexes(radius: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return ``int64[num_cells]``, the hex of each cell of the window's rectangle."""
    side = np.arange(2 * radius + 1)
    return ((side[:, None] + MARGIN_ROWS) * plane_width(radius) + side[None, :] + MARGIN_COLUMNS).ravel()


def fill_plane(board: np.void, radius: int) -> None:
    """Write ``PLANE_FIELDS`` of the board constants."""
    width = plane_width(radius)
    board["direction_steps"] = [q + r * width for q, r in HEX_DIRECTIONS]
    board["corner_steps"] = [2 * (q + r * width) + kind for q, r, kind in HEX_CORNERS]
    board["meeting_steps"] = [q + r * width for q, r in _MEETING_HEXES]
    board["edge_steps"] = [2 * (q + r * width) + BOTTOM for q, r in _EDGE_HEXES]


def tops_in_contents() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return ``uint8[2, 256]``: by color and contents of a hex, the corners with that color on top (bit 0 ``^``, bit 1 ``v``)."""
    contents = np.arange(256)
    codes = np.stack([contents >> 2 & 7, contents >> 5])
    tops = [(codes >= SINGLE) & (codes & 1 == color) for color in (0, 1)]
    return np.stack([top[0] + 2 * top[1] for top in tops]).astype(np.uint8)


# -- Contents -------------------------------------------------------------------------------------------------------


@kernel
def has_tile(state: Record, hex_: int) -> bool:
    """Return whether a tile lies on the hex."""
    return (state.contents[hex_] & 3) != 0  # type: ignore[no-any-return]


@kernel
def corner_code(state: Record, corner: int) -> int:
    """Return the code of a corner."""
    return (state.contents[corner >> 1] >> (2 + 3 * (corner & 1))) & 7  # type: ignore[no-any-return]


@kernel
def set_corner_code(state: Record, corner: int, code: int) -> None:
    """Change the code of a corner."""
    shift = 2 + 3 * (corner & 1)
    state.contents[corner >> 1] = (state.contents[corner >> 1] & ~(7 << shift)) | (code << shift)


@kernel
def has_top(code: int, color: int) -> bool:
    """Return whether a corner's top piece is of ``color``."""
    return code >= SINGLE and (code & 1) == color


@kernel
def without_top(code: int) -> int:
    """Return the code of an occupied corner after removing its top piece."""
    return SINGLE + ((code >> 1) & 1) if code >= DOUBLE else EMPTY_JUNCTION


@kernel
def with_top(code: int, color: int) -> int:
    """Return the code of a junction with at most one piece after adding a piece of ``color``."""
    return SINGLE + color if code == EMPTY_JUNCTION else DOUBLE + 2 * (code & 1) + color


# -- Geometry -------------------------------------------------------------------------------------------------------


@kernel
def corner_of_hex(board: Record, hex_: int, index: int) -> int:
    """Return corner ``index`` of a hex, in the order N, NE, SE, S, SW, NW. It is between directions 1 - index and 2 - index."""
    return 2 * hex_ + board.corner_steps[index]  # type: ignore[no-any-return]


@kernel
def corner_along_edge(board: Record, corner: int, index: int) -> int:
    """Return one of the three corners adjacent to ``corner`` along hex edges; they are of the other kind."""
    step = board.edge_steps[index]
    return corner - step if corner & 1 else corner + step  # type: ignore[no-any-return]


@kernel
def joined_corner(board: Record, state: Record, corner: int, index: int) -> int:
    """Return the corner to which one of the three hexes at ``corner`` joins it, or -1 if there is no tile or it is cut off (R1).

    Of its corners of one kind, tile rotation i cuts off the one that has hex i among the hexes that meet there, and
    joins the other two. So from hex ``index`` with rotation i the other corner is the one that is neither.
    """
    sign = -1 if corner & 1 else 1
    tile = state.contents[(corner >> 1) + sign * board.meeting_steps[index]] & 3
    if tile == 0 or tile - 1 == index:
        return -1
    other = 4 - index - tile
    return corner + 2 * sign * (board.meeting_steps[index] - board.meeting_steps[other])  # type: ignore[no-any-return]


@kernel
def tiles_around(board: Record, state: Record, hex_: int) -> int:
    """Return the set of directions in which a tile is adjacent to a hex, bit d for direction d."""
    around = 0
    for direction in range(6):
        around |= int(has_tile(state, hex_ + board.direction_steps[direction])) << direction
    return around
