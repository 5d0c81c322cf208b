"""``TrugoPosition``: a position of Trugo as arrays, for drawings, texts and tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class TrugoPosition(NamedTuple):
    """What lies where, by cell of the grid (``docs/trugo.md`` explains the corners).

    Attributes:
        tiles: ``int8[num_cells]``, the rotation of each tile, -1 where there is none.
        junctions: ``bool[2, num_cells]``, whether the cell's ``^`` (row 0) or ``v`` corner (row 1) is a junction.
        top: ``int8[2, num_cells]``, the color of the corner's top piece, -1 where there is none.
        below: ``int8[2, num_cells]``, the color of the piece under it, -1 where there is none.
        picked: kind (0 for ``^``, 1 for ``v``) and cell of the corner whose piece has been picked, or None.
        pool: tiles to be laid.
        reserve: pieces to come, White's and Blue's.
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
