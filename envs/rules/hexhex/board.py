"""Common parts of Vadus and Laido: a hexhex board on which stones are placed and groups are compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.game import Game
from stoneworks.envs.rules.grid import hexhex
from stoneworks.envs.rules.hexhex.groups import fill_group_values
from stoneworks.envs.rules.kernels import Record, capacity, kernel
from stoneworks.envs.rules.options import IntegerOption
from stoneworks.envs.rules.records import BOARD_HEADER, Field, record_dtype, start_game
from stoneworks.envs.rules.stones import BLACK, EMPTY, OFF_BOARD, WHITE, stones_field
from stoneworks.envs.rules.text_board import hex_board_text, status_text

if TYPE_CHECKING:
    from stoneworks.envs.rules.state import State

#: Cell indices of larger boards do not fit into 16 bits.
SIZE_OPTION = IntegerOption(9, minimum=2, maximum=90, always_shown=True)


def board_dtype(room: int) -> np.dtype[Any]:
    """Return the dtype of the board constants with room for ``room`` cells."""
    return np.dtype(
        [
            *BOARD_HEADER,
            ("pie_rule", "u1"),
            ("on_board", "u1", (room,)),
            ("edge", "u1", (room,)),  # a point with fewer than six neighbors
            ("neighbors", "i2", (room, 6)),
            ("distance_from_center", "i2", (room,)),
        ],
        align=True,
    )


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
        room = capacity(self.grid.num_cells)
        self.board = self._blank_board(board_dtype(room))
        board, cells = self.board[0], slice(self.grid.num_cells)
        board["pie_rule"] = self.options.get("pie_rule", False)
        board["on_board"][cells] = self.grid.on_board
        board["edge"][cells] = self.grid.on_board & (self.grid.distance_from_center == self.options["size"] - 1)
        board["neighbors"][cells] = self.grid.neighbors
        board["distance_from_center"][cells] = self.grid.distance_from_center
        self.state_fields = state_fields(board)
        # Not aligned: numpy leaves padding bytes undefined in copies, and positions are compared bytewise.
        self.state_dtype = record_dtype(self.state_fields)

    @property
    def num_points(self) -> int:
        """Number of points of the board: 3N(N - 1) + 1 for N points per side."""
        return int(self.grid.on_board.sum())

    def score(self, state: State) -> tuple[list[int], list[int]]:
        """Return the group values of Black and of White, each sorted from high to low (V4, V6)."""
        values = np.empty((2, self.grid.num_cells), np.int16)
        record = np.zeros(1, self.state_dtype)
        record[0] = state.record
        num_black, num_white = self.compiled(fill_group_values)(self.board, record, values)
        return values[0, :num_black].tolist(), values[1, :num_white].tolist()

    def contradictions(self, records: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """See :meth:`Game.contradictions`."""
        stones = records["stones"]
        yield "num_stones", records["num_stones"] != ((stones == BLACK) | (stones == WHITE)).sum(axis=1)
        yield "consecutive_passes", (records["consecutive_passes"] == 2) != (records["ending"] != 0)  # V5, L5

    def state_to_text(self, state: State) -> str:
        """Return a text diagram with X for Black and O for White, and the player to move."""
        stones = state.record["stones"]
        picture = hex_board_text(
            self.grid, [".XO"[stones[cell]] if on else "" for cell, on in enumerate(self.grid.on_board)]
        )
        return f"{picture}\n{self._status(state)}"

    def _status(self, state: State) -> str:
        status = status_text(state)
        if state.record["second_stone"]:
            status += ", second stone of the turn"
        if state.record["consecutive_passes"] == 1:
            status += ", the opponent has passed"
        return status
