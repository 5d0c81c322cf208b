"""``TrugoPosition``: a position of Trugo as arrays, for drawings, text and tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# First action plane of each kind.
LAY, REMOVE, PICK, MOVE = 0, 3, 4, 6


class TrugoPosition(NamedTuple):
    """Contents of a position by cell of the grid (corners are explained in ``docs/trugo.md``).

    Attributes:
        tiles: ``int8[num_cells]``, the rotation of each tile, -1 for none.
        junctions: ``bool[2, num_cells]``, whether the cell's ``^`` corner (row 0) or ``v`` corner (row 1) is a junction.
        top: ``int8[2, num_cells]``, the color of the corner's top piece, -1 for none.
        below: ``int8[2, num_cells]``, the color of the piece below it, -1 for none.
        picked: kind (0 for ``^``, 1 for ``v``) and cell of the corner whose piece has been picked, or None.
        pool: tiles left to place.
        reserve: pieces in reserve, White's and Blue's.
        turns: turns played.
    """

    tiles: npt.NDArray[np.int8]
    junctions: npt.NDArray[np.bool_]
    top: npt.NDArray[np.int8]
    below: npt.NDArray[np.int8]
    picked: tuple[int, int] | None
    pool: int
    reserve: tuple[int, int]
    turns: int
