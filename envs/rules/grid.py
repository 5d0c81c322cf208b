"""Grids: cells of a board, their names, neighbors, coordinates and symmetries.

Every game uses one rectangular grid of ``height x width`` cells, some of which may be off the board. Cell
``(row, col)`` has the index ``row * width + col``. Row 0 is the bottom row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

#: Steps ``(q, r)`` in the six hex directions E, NE, NW, W, SW, SE (counter-clockwise).
HEX_DIRECTIONS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))

#: Steps ``(column, row)`` in the four square directions N, E, S, W (clockwise).
SQUARE_DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))

NO_NEIGHBOR = -1
#: Neighbors are stored with 16 bits.
MAX_CELLS = 2**15 - 1


@dataclass(frozen=True, eq=False)
class GridSymmetry:
    """A symmetry of a grid.

    Attributes:
        name: description, e.g. ``"rotate 60"``.
        cells: ``int64[num_cells]``, the image of each cell; a cell off the board is mapped to itself.
        directions: ``int64[num_directions]``, the image of each direction.
    """

    name: str
    cells: npt.NDArray[np.int64]
    directions: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Grid:
    """The cells of a board.

    Attributes:
        height: number of rows.
        width: number of columns.
        on_board: ``bool[num_cells]``, False for cells of the rectangle that are off the board.
        neighbors: ``int16[num_cells, num_directions]``, the adjacent cell in each direction, or ``NO_NEIGHBOR``.
        positions: ``float64[num_cells, 2]``, the center ``(x, y)`` of each cell, y upwards, neighbors at distance 1.
        distance_from_center: ``int16[num_cells]``, steps from the nearest central cell (negative off the board).
        symmetries: the symmetries, the identity first.
    """

    height: int
    width: int
    on_board: npt.NDArray[np.bool_]
    neighbors: npt.NDArray[np.int16]
    positions: npt.NDArray[np.float64]
    distance_from_center: npt.NDArray[np.int16]
    symmetries: tuple[GridSymmetry, ...]

    @property
    def num_cells(self) -> int:
        """Number of cells of the rectangle, including those off the board."""
        return self.height * self.width

    @cached_property
    def cell_names(self) -> tuple[str, ...]:
        """Name of each cell, e.g. ``"a1"`` for row 0, column 0."""
        columns = [column_name(column) for column in range(self.width)]
        return tuple(f"{column}{row + 1}" for row in range(self.height) for column in columns)

    @cached_property
    def _cell_of_name(self) -> dict[str, int]:
        return {name: cell for cell, name in enumerate(self.cell_names)}

    def cell_index(self, name: str) -> int | None:
        """Return the cell with this exact name, or None if there is none."""
        return self._cell_of_name.get(name)


def column_name(column: int) -> str:
    """Return the letters of a column: ``a``, ..., ``z``, ``aa``, ``ab``, ..."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters


def _turns_and_reflections(num_turns: int) -> Iterator[tuple[str, int, bool]]:
    """Yield name, number of turns, and whether it reflects first, of each symmetry of a regular polygon."""
    for reflected in (False, True):
        yield "reflect" if reflected else "identity", 0, reflected
        for turns in range(1, num_turns):
            yield f"{'reflect, then ' * reflected}rotate {360 * turns // num_turns}", turns, reflected


def _neighbors(on_board: npt.NDArray[np.bool_], steps: Sequence[tuple[int, int]]) -> npt.NDArray[np.int16]:
    """Return ``Grid.neighbors`` of a board ``bool[height, width]``, given the step ``(column, row)`` in each direction.

    Raises:
        ValueError: there are more than ``MAX_CELLS`` cells.
    """
    height, width = on_board.shape
    if on_board.size > MAX_CELLS:
        raise ValueError(f"grids must have at most {MAX_CELLS:,} cells, off the board or on it, got {height} x {width}")
    cells = np.full((height + 2, width + 2), NO_NEIGHBOR, np.int16)
    cells[1:-1, 1:-1] = np.where(on_board, np.arange(on_board.size).reshape(height, width), NO_NEIGHBOR)
    shifted = [cells[1 + up : 1 + up + height, 1 + right : 1 + right + width] for right, up in steps]
    neighbors = np.stack([part.ravel() for part in shifted], axis=1)
    neighbors[~on_board.ravel()] = NO_NEIGHBOR
    return neighbors


def hexhex(radius: int) -> Grid:
    """Return the hexagon of pointy-top hexes at distance <= ``radius`` from the center, in axial coordinates.

    Row = r + radius and column = q + radius. The symmetries are the 6 rotations, each with and without the reflection
    that swaps q and r.
    """
    side = 2 * radius + 1
    r, q = (axis.ravel() - radius for axis in np.mgrid[0:side, 0:side])
    distance = np.maximum(np.maximum(abs(q), abs(r)), abs(q + r))
    on_board = distance <= radius

    symmetries = []
    for name, turns, mirrored in _turns_and_reflections(6):
        image_q, image_r = (r, q) if mirrored else (q, r)
        for _ in range(turns):
            image_q, image_r = -image_r, image_q + image_r
        cells = np.where(on_board, (image_r + radius) * side + image_q + radius, np.arange(side * side))
        # The reflection swaps E with NE and NW with SE: direction d is mapped to 1 - d (mod 6).
        directions = ((1 - np.arange(6) if mirrored else np.arange(6)) + turns) % 6
        symmetries.append(GridSymmetry(name, cells, directions))

    return Grid(
        height=side,
        width=side,
        on_board=on_board,
        neighbors=_neighbors(on_board.reshape(side, side), HEX_DIRECTIONS),
        positions=np.stack([q + r / 2, r * np.sqrt(3) / 2], axis=1),
        distance_from_center=np.where(on_board, distance, -1).astype(np.int16),
        symmetries=tuple(symmetries),
    )


def rhombus(size: int) -> Grid:
    """Return ``size`` rows of ``size`` pointy-top hexes, each row half a hex to the right of the one below, as for Hex.

    The symmetries are the identity and the half turn; the reflections swap the two pairs of opposite sides.
    """
    row, column = (axis.ravel() for axis in np.mgrid[0:size, 0:size])
    cells = np.arange(size * size)
    # Offsets from the nearest of the one or four central cells.
    above, right = (np.trunc(axis - (size - 1) / 2).astype(np.int16) for axis in (row, column))
    return Grid(
        height=size,
        width=size,
        on_board=np.ones(size * size, np.bool_),
        neighbors=_neighbors(np.ones((size, size), np.bool_), HEX_DIRECTIONS),
        positions=np.stack([column + row / 2, row * np.sqrt(3) / 2], axis=1),
        distance_from_center=np.max([abs(above), abs(right), abs(above + right)], axis=0),
        symmetries=(
            GridSymmetry("identity", cells, np.arange(6)),
            GridSymmetry("rotate 180", cells[::-1].copy(), (np.arange(6) + 3) % 6),
        ),
    )


def square(side: int, *, edge_points: bool = False) -> Grid:
    """Return a board of ``side x side`` cells with neighbors N, E, S, W.

    With ``edge_points``, every row and every column has an additional cell at each end. Its only neighbor is the
    outermost cell of that row or column. The corners of the larger rectangle are off the board. The symmetries are the
    4 rotations, each with and without the reflection that swaps rows and columns. A board of even side has four
    central cells.
    """
    rim = 1 if edge_points else 0
    full = side + 2 * rim
    y, x = (axis.ravel() for axis in np.mgrid[0:full, 0:full])
    # 0 for a cell of the inner board, 1 for an edge point, 2 for a corner.
    outside = ((x < rim) | (x >= side + rim)).astype(np.int64) + ((y < rim) | (y >= side + rim))
    on_board, edge_point = outside < 2, outside == 1
    neighbors = _neighbors(on_board.reshape(full, full), SQUARE_DIRECTIONS)
    neighbors[edge_point[:, None] & edge_point[neighbors]] = NO_NEIGHBOR

    symmetries = []
    for name, turns, mirrored in _turns_and_reflections(4):
        image_x, image_y = (y, x) if mirrored else (x, y)
        for _ in range(turns):
            image_x, image_y = full - 1 - image_y, image_x
        # The reflection swaps N with E and S with W. Rotations are counter-clockwise, directions are numbered clockwise.
        directions = ((1 - np.arange(4) if mirrored else np.arange(4)) - turns) % 4
        cells = np.where(on_board, image_y * full + image_x, np.arange(full * full))
        symmetries.append(GridSymmetry(name, cells, directions))

    return Grid(
        height=full,
        width=full,
        on_board=on_board,
        neighbors=neighbors,
        positions=np.stack([x, y], axis=1).astype(np.float64),
        distance_from_center=np.where(on_board, abs(2 * x - full + 1) // 2 + abs(2 * y - full + 1) // 2, -1).astype(
            np.int16
        ),
        symmetries=tuple(symmetries),
    )
