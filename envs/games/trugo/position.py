"""Positions of Trugo for users and drawings: as arrays, and as text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.trugo.plane import BOTTOM, DOUBLE, NO_JUNCTION, SINGLE, TOP, plane_hexes
from stoneworks.envs.rules.game import Game
from stoneworks.envs.rules.state import State
from stoneworks.envs.rules.text_board import diagram, labeled_lines, status_text

# First action plane of each kind.
LAY, REMOVE, PICK, MOVE = 0, 3, 4, 6

NOTHING_PICKED = -1

#: Letters of White's and Blue's pieces.
PIECES = "XO"


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


class TrugoPositions(Game):
    """A game whose positions are those of Trugo."""

    def position(self, state: State) -> TrugoPosition:
        """Return the contents of ``state`` as arrays."""
        record = state.record
        contents = record["contents"][plane_hexes(self.options["radius"])]
        codes = np.stack([contents >> 2 & 7, contents >> 5]).astype(np.int8)  # unsigned as they are: no room for -1
        picked = int(record["picked"])
        return TrugoPosition(
            tiles=(contents & 3).astype(np.int8) - 1,
            junctions=codes != NO_JUNCTION,
            top=np.where(codes >= SINGLE, codes & 1, np.int8(-1)),
            below=np.where(codes >= DOUBLE, codes >> 1 & 1, np.int8(-1)),
            picked=None if picked == NOTHING_PICKED else (picked & 1, int(self.board["cell_of_hex"][0, picked >> 1])),
            pool=int(record["pool"]),
            reserve=(int(record["reserve"][0]), int(record["reserve"][1])),
            turns=int(record["turns"]),
        )

    def state_to_text(self, state: State) -> str:
        """Return a diagram of the tiles with a margin of one hex, and lines with the player to move and what is left.

        A tile is the digit of its rotation, an empty hex a dot. Between two rows of hexes are the ``^`` corners of the
        lower row, each above its hex, and the ``v`` corners of the upper row, each below its hex. ``+`` is an empty
        junction, X a White piece, O a Blue one; in a stack the first letter is the upper piece.
        """
        grid, position = self.grid, self.position(state)
        occupied = np.flatnonzero(position.tiles >= 0)
        if not occupied.size:
            occupied = np.array([grid.num_cells // 2])
        rows, columns = np.divmod(occupied, grid.width)
        row, column = np.divmod(np.arange(grid.num_cells), grid.width)
        near = (rows.min() - 1 <= row) & (row <= rows.max() + 1)
        near &= (columns.min() - 1 <= column) & (column <= columns.max() + 1)
        # Half of the pitch separates the corners between two rows.
        lines, places = labeled_lines(
            grid, np.flatnonzero(grid.on_board & near), pitch=6, margin=6, gap=7, lines_per_row=2
        )
        for cell, place in places.items():
            line = 2 * (cell // grid.width)
            lines[line][place] = "." if position.tiles[cell] < 0 else str(position.tiles[cell])
            for kind, line_of_kind in ((TOP, line + 1), (BOTTOM, line - 1)):
                if position.junctions[kind, cell]:
                    pieces = (position.top[kind, cell], position.below[kind, cell])
                    text = "".join(PIECES[color] for color in pieces if color >= 0)
                    lines.setdefault(line_of_kind, {})[place] = text or "+"
        return f"{diagram(lines)}\n{status_text(state, symbols=PIECES)}"
