"""Common parts of Vadus and Laido: a hexhex board on which stones are placed and groups are compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.hexhex.groups import fill_group_values
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Record
from stoneworks.envs.rules.fields import Constant, Field, record_dtype, start_game
from stoneworks.envs.rules.game import Game
from stoneworks.envs.rules.grid import hexhex
from stoneworks.envs.rules.options import IntegerOption
from stoneworks.envs.rules.state import State
from stoneworks.envs.rules.stones import BLACK, EMPTY, OFF_BOARD, WHITE, stones_field
from stoneworks.envs.rules.text_board import hex_board_text, status_text

#: Cell indices fit into 16 bits up to size 91.
SIZE_OPTION = IntegerOption(9, minimum=2, maximum=90, always_shown=True)


def state_fields(board: np.void) -> tuple[Field, ...]:
    """Return the fields of a position on ``board``."""
    on_board = board["on_board"] != 0
    return (
        Field("consecutive_passes", "u1", 0, 2),
        Field("second_stone", "u1", 0, 1),  # the player to move has placed the first of two stones (V2)
        Field("swapped", "u1", 0, board["pie_rule"]),  # player 0 is White, player 1 is Black (L1)
        Field("num_stones", "u2", 0, on_board.sum()),
        stones_field(on_board),
    )


@kernel
def clear_stones(board: Record, state: Record) -> None:
    """Make ``state`` an empty board with player 0 to move."""
    start_game(state)
    state.consecutive_passes = 0
    state.second_stone = 0
    state.swapped = 0
    state.num_stones = 0
    state.stones[:] = OFF_BOARD
    for cell in range(board.num_cells):
        if board.on_board[cell]:
            state.stones[cell] = EMPTY


class HexhexStonesGame(Game):
    """A game of stones on a hexhex board that is decided by comparing group values."""

    colors: ClassVar[tuple[str, str]] = ("Black", "White")
    num_action_planes: ClassVar[int] = 1

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        self.grid = hexhex(self.options["size"] - 1)
        grid, at_edge = self.grid, self.grid.distance_from_center == self.options["size"] - 1
        self.board = self.board_of(
            Constant("pie_rule", "u1", self.options.get("pie_rule", False)),
            Constant("first_pass_wins", "u1", self.options.get("tie_break") == "first_pass"),  # L6
            Constant("on_board", "u1", grid.on_board, by_cell=True),
            Constant("edge", "u1", grid.on_board & at_edge, by_cell=True),  # a point with fewer than six neighbors
            # num_cells, whose stone is OFF_BOARD, for each missing one.
            Constant("neighbors", "u2", np.where(grid.neighbors < 0, grid.num_cells, grid.neighbors), by_cell=True),
            Constant("distance_from_center", "i2", grid.distance_from_center, by_cell=True),
        )
        self.state_fields = state_fields(self.board[0])
        # Not aligned: numpy leaves padding bytes undefined in copies, and positions are compared bytewise.
        self.state_dtype = record_dtype(self.state_fields)

    @property
    def num_points(self) -> int:
        """Number of points of the board: 3N(N - 1) + 1 for N points per side."""
        return int(self.grid.on_board.sum())

    def score(self, state: State) -> tuple[list[int], list[int]]:
        """Return the group values of Black and of White, each sorted from high to low (V4, V6)."""
        values = np.empty((2, self.grid.num_cells), np.int16)
        num_black, num_white = self.compiled(fill_group_values)(self.board, state.record.reshape(1), values)
        return values[0, :num_black].tolist(), values[1, :num_white].tolist()

    def contradictions(self, records: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """See :meth:`Game.contradictions`."""
        stones = records["stones"]
        yield "num_stones", records["num_stones"] != ((stones == BLACK) | (stones == WHITE)).sum(axis=1)
        yield "consecutive_passes", (records["consecutive_passes"] == 2) != (records["ending"] != 0)  # V5, L5

    def state_to_text(self, state: State) -> str:
        """Return a text diagram with X for Black and O for White, and the player to move."""
        symbols = [".XO "[stone] for stone in state.record["stones"][: self.grid.num_cells]]
        return f"{hex_board_text(self.grid, symbols)}\n{status_text(state)}"
