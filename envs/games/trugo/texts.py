"""Positions of Trugo for users and drawings: as arrays, as text, and with explanations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.trugo.plane import BOTTOM, DOUBLE, NO_JUNCTION, SINGLE, TOP, plane_hexes
from stoneworks.envs.rules.contract import Explanation
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


class TrugoTexts(Game):
    """Positions of Trugo as arrays, and texts on them."""

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

    def describe_turn(self, state: State) -> str:
        """See :meth:`Game.describe_turn`."""
        position = self.position(state)
        if position.picked is not None:
            return f"the destination of the piece on {self._corner_name(*position.picked)}"
        tile = "lay a tile" if position.pool else "remove a tile"
        planes = [action // self.grid.num_cells for action in state.legal_actions()]
        choices = {tile: min(planes) < PICK, "move a piece": max(planes) >= PICK}
        return ", or ".join(text for text, is_legal in choices.items() if is_legal)

    def describe_supplies(self, state: State) -> str:
        """See :meth:`Game.describe_supplies`."""
        position = self.position(state)
        turns = f"turn {position.turns + 1} of at most {self.options['max_turns']}"
        if not position.pool:
            white, blue = ((position.top == color).sum() + (position.below == color).sum() for color in (0, 1))
            return f"waning phase (tiles are removed), pieces on the board: {white} White, {blue} Blue; {turns}"
        white, blue = position.reserve
        return (
            f"waxing phase (tiles are added), tiles in the pool: {position.pool}; "
            f"pieces in reserve: {white} White, {blue} Blue; {turns}"
        )

    def explain_result(self, state: State) -> Explanation:
        """See :meth:`Game.explain_result` (R8, R9)."""
        position, outcome = self.position(state), state.outcome()
        assert outcome is not None
        if outcome.winner is None:
            return Explanation(f"no winner in {position.turns} turns")
        kinds, cells = np.nonzero((position.top == outcome.winner) | (position.below == outcome.winner))
        text = "neither player has a piece left after the winner's turn"
        if len(cells):
            text = f"{self.colors[1 - outcome.winner]} has no piece left"
        return Explanation(text, tuple(((PICK + kinds) * self.grid.num_cells + cells).tolist()))

    def explain_illegal(self, state: State, action: int) -> str:
        """See :meth:`Game.explain_illegal`."""
        if state.is_terminal():
            return "R8: the game is over" if not state.is_truncated() else "R9: the game is over"
        position, (plane, cell) = self.position(state), divmod(action, self.grid.num_cells)
        if position.picked is not None:
            if plane < MOVE:
                return f"R5: the piece on {self._corner_name(*position.picked)} is picked; choose its destination"
            return self._problem_of_destination(position, plane - MOVE, cell)
        if plane >= MOVE:
            return "R5: first pick the piece to move"
        if plane >= PICK:
            return self._problem_of_pick(position, plane - PICK, cell, state.current_player())
        return self._problem_of_tile(position, cell, lays=plane < REMOVE)

    def _problem_of_tile(self, position: TrugoPosition, cell: int, *, lays: bool) -> str:
        grid, has_tile = self.grid, position.tiles >= 0
        name, ruling = grid.cell_names[cell], "R3" if lays else "R4"
        if lays != (position.pool > 0):
            return "R4: the pool is empty" if lays else "R4: no tile is removed while there are tiles in the pool"
        if not grid.on_board[cell]:
            return f"{ruling}: {name} is outside the window"
        if lays == bool(has_tile[cell]):
            return f"{ruling}: {name} has {'a' if lays else 'no'} tile"
        if lays:
            if not has_tile.any():
                return f"R3: the first tile goes to {grid.cell_names[grid.num_cells // 2]}"
            return f"R3: {name} is not next to a tile"
        around = [neighbor >= 0 and bool(has_tile[neighbor]) for neighbor in grid.neighbors[cell]]
        if all(around[side] or around[side - 1] or around[side - 2] for side in range(6)):
            return f"R4: {name} has no three consecutive empty neighbors"
        return f"R4: without {name} the tiles would fall apart"

    def _problem_of_pick(self, position: TrugoPosition, kind: int, cell: int, player: int) -> str:
        piece = f"the piece on {self._corner_name(kind, cell)}"
        if position.top[kind, cell] < 0:
            return f"R5: there is no piece on {self._corner_name(kind, cell)}"
        if position.top[kind, cell] == player:
            return f"R5: {piece} has no destination"
        return f"R5: {piece} is pinned" if position.below[kind, cell] == player else f"R5: {piece} is the opponent's"

    def _problem_of_destination(self, position: TrugoPosition, kind: int, cell: int) -> str:
        name = self._corner_name(kind, cell)
        if position.picked == (kind, cell):
            return f"R6: the piece stands on {name} already"
        if not position.junctions[kind, cell]:
            return f"R6: {name} is not a corner where three tiles meet"
        if position.below[kind, cell] >= 0:
            return f"R6: {name} has two pieces, the most that a stack has"
        if position.top[kind, cell] >= 0 and not self.options["stacking"]:
            return f"R6: {name} has a piece, and stacking is off"
        return f"R6: no slide or step leads to {name}"

    def _corner_name(self, kind: int, cell: int) -> str:
        return f"{self.grid.cell_names[cell]}{'^v'[kind]}"
