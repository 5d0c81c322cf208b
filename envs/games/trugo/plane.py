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
import numpy.typing as npt

from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Record
from stoneworks.envs.rules.fields import Constant
from stoneworks.envs.rules.grid import HEX_DIRECTIONS, NO_NEIGHBOR, Grid, GridSymmetry

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
EDGE_HEXES = ((0, 1), (-1, 1), (-1, 2))


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


def plane_constants(radius: int) -> tuple[Constant, ...]:
    """Return the board constants of the plane: steps between hexes and between corners."""
    width = plane_width(radius)
    return (
        # From a hex to its neighbors E, NE, NW, W, SW, SE.
        Constant("direction_steps", "i4", [q + r * width for q, r in HEX_DIRECTIONS]),
        # From twice a hex to its corners.
        Constant("corner_steps", "i4", [2 * (q + r * width) + kind for q, r, kind in HEX_CORNERS]),
        # From a ^ corner's owner to the hexes that meet there.
        Constant("meeting_steps", "i4", [q + r * width for q, r in _MEETING_HEXES]),
        # From a ^ corner to the corners along hex edges.
        Constant("edge_steps", "i4", [2 * (q + r * width) + BOTTOM for q, r in EDGE_HEXES]),
    )


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


# -- Symmetries: images of tile rotations and of corners ------------------------------------------------------------


def corner_image(directions: npt.NDArray[np.int64], corner: int) -> int:
    """Return which corner of the image of a hex is the image of its corner ``corner``, both in the order of ``HEX_CORNERS``.

    ``directions[6]`` is the image of each direction.
    """
    # Corner i is between the directions 1 - i and 2 - i (mod 6).
    sides = {int(directions[(1 - corner) % 6]), int(directions[(2 - corner) % 6])}
    return next(image for image in range(6) if {(1 - image) % 6, (2 - image) % 6} == sides)


def keeps_corner_colors(of_grid: GridSymmetry) -> bool:
    """Return whether a symmetry of the grid maps ``^`` corners to ``^`` corners."""
    return HEX_CORNERS[corner_image(of_grid.directions, 0)][2] == TOP


def rotation_images(directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return ``int64[3]``, the image of each rotation, for ``directions[6]``: rotation i cuts off corners 2i and 2i + 3 (R1)."""
    return np.array([corner_image(directions, 2 * rotation) // 2 for rotation in range(3)])


def corner_cells(grid: Grid, of_grid: GridSymmetry, kind: int) -> npt.NDArray[np.int64]:
    """Return ``int64[num_cells]``: the cell that owns the image of each cell's corner of one kind.

    The image of a hex's ``^`` corner may be owned by a neighbor of the image of the hex. A corner that cannot become a
    junction, because one of its hexes is outside the window, is mapped to itself.
    """
    corner = HEX_CORNERS.index((0, 0, kind))
    on_both_sides = grid.neighbors[:, [(1 - corner) % 6, (2 - corner) % 6]]
    inside = grid.on_board & (on_both_sides != NO_NEIGHBOR).all(axis=1)
    q_step, r_step, _ = HEX_CORNERS[corner_image(of_grid.directions, corner)]
    owners = of_grid.cells
    if (q_step, r_step) != (0, 0):
        owners = grid.neighbors[owners, HEX_DIRECTIONS.index((q_step, r_step))].astype(np.int64)
    return np.where(inside, owners, np.arange(grid.num_cells))
