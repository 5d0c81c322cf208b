"""Text diagrams of Trugo positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stoneworks.envs.rules.grid import column_name
from stoneworks.envs.rules.text_board import diagram, status_text
from stoneworks.envs.rules.trugo.plane import BOTTOM, TOP
from stoneworks.envs.rules.trugo.position import TrugoPosition

if TYPE_CHECKING:
    from stoneworks.envs.rules.state import State

#: Letters of White's and Blue's pieces.
PIECES = "XO"

_HEX_PITCH = 6  # columns of text from a hex to the next in its row; half of them separate the corners between two rows


def position_text(state: State, position: TrugoPosition) -> str:
    """Return a diagram of the tiles with a margin of one hex, and lines with the player to move and what is left.

    A tile is the digit of its rotation, an empty hex a dot. Between two rows of hexes are the ``^`` corners of the
    lower row, each above its hex, and the ``v`` corners of the upper row, each below its hex. ``+`` is an empty
    junction, X a White piece, O a Blue one; in a stack the first letter is the upper piece.
    """
    grid = state.get_game().grid
    occupied = np.flatnonzero(position.tiles >= 0)
    if not occupied.size:
        occupied = np.array([grid.num_cells // 2])
    rows, columns = np.divmod(occupied, grid.width)
    shown = [
        row * grid.width + column
        for row in range(max(rows.min() - 1, 0), min(rows.max() + 2, grid.height))
        for column in range(max(columns.min() - 1, 0), min(columns.max() + 2, grid.width))
        if grid.on_board[row * grid.width + column]
    ]
    margin = len(str(grid.height)) + 6
    left = min(grid.positions[cell, 0] for cell in shown)
    lines: dict[int, dict[int, str]] = {}
    labeled: set[int] = set()
    numbered: set[int] = set()
    for cell in shown:
        row, column = divmod(cell, grid.width)
        place = margin + round(_HEX_PITCH * (grid.positions[cell, 0] - left))
        lines.setdefault(2 * row, {})[place] = "." if position.tiles[cell] < 0 else str(position.tiles[cell])
        for kind, line in ((TOP, 2 * row + 1), (BOTTOM, 2 * row - 1)):
            if position.junctions[kind, cell]:
                lines.setdefault(line, {})[place] = _corner_text(position, kind, cell)
        if column not in labeled:
            labeled.add(column)
            lines.setdefault(2 * row - 2, {})[place - _HEX_PITCH // 2] = column_name(column)
        if row not in numbered:
            numbered.add(row)
            number = str(row + 1)
            lines[2 * row][place - _HEX_PITCH - 1 - len(number)] = number
    return f"{diagram(lines)}\n{status_text(state, symbols=PIECES)}"


def _corner_text(position: TrugoPosition, kind: int, cell: int) -> str:
    colors = (position.top[kind, cell], position.below[kind, cell])
    return "".join(PIECES[color] for color in colors if color >= 0) or "+"
