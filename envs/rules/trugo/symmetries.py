"""Symmetries of Trugo: images of tile rotations and of corners."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.grid import HEX_DIRECTIONS, NO_NEIGHBOR, Grid, GridSymmetry
from stoneworks.envs.rules.trugo.plane import HEX_CORNERS, TOP


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
