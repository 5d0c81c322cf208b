"""Trugo's symmetries: where they take rotations of tiles, and the corners of hexes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.grid import Grid, GridSymmetry
from stoneworks.envs.rules.trugo_plane import HEX_CORNERS, TOP


def corner_image(directions: npt.NDArray[np.int64], corner: int) -> int:
    """Return which corner of a hex's image its corner ``corner`` becomes, both in the order of ``HEX_CORNERS``.

    ``directions`` is the image of each direction.
    """
    # Corner i lies between the directions 1 - i and 2 - i (mod 6).
    sides = {int(directions[(1 - corner) % 6]), int(directions[(2 - corner) % 6])}
    return next(image for image in range(6) if {(1 - image) % 6, (2 - image) % 6} == sides)


def keeps_corner_colours(of_grid: GridSymmetry) -> bool:
    """Return whether a symmetry of the grid takes ``^`` corners to ``^`` corners."""
    return HEX_CORNERS[corner_image(of_grid.directions, 0)][2] == TOP


def rotation_images(directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return ``int64[3]``, the image of each rotation: rotation i cuts off corners 2i and 2i + 3 (R1)."""
    return np.array([corner_image(directions, 2 * rotation) // 2 for rotation in range(3)])


def corner_cells(grid: Grid, of_grid: GridSymmetry, kind: int) -> npt.NDArray[np.int64]:
    """Return ``int64[num_cells]``: the cell that owns the image of each cell's corner of one kind.

    The image of a hex's ``^`` corner need not be the ``^`` corner of its image, but of a hex next to that. Where that hex
    is outside the window the corner is never a junction, and nothing is ever there; so that the result is a permutation,
    such cells get the cells that are left, each itself where it is left.
    """
    image = corner_image(of_grid.directions, HEX_CORNERS.index((0, 0, kind)))
    q_step, r_step, _ = HEX_CORNERS[image]
    rows, columns = np.divmod(of_grid.cells, grid.width)
    rows, columns = rows + r_step, columns + q_step
    inside = grid.on_board & (rows >= 0) & (rows < grid.height) & (columns >= 0) & (columns < grid.width)
    images = np.where(inside, rows * grid.width + columns, -1)
    images[inside & ~grid.on_board[images]] = -1
    taken = set(images.tolist())
    for cell in range(grid.num_cells):
        if images[cell] < 0 and cell not in taken:
            images[cell] = cell
            taken.add(cell)
    left = (cell for cell in range(grid.num_cells) if cell not in taken)
    for cell in np.flatnonzero(images < 0):
        images[cell] = next(left)
    return images
