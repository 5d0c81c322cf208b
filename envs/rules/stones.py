"""What games of stones share: the codes of cells, the first planes, and random playouts where a stone goes on any empty cell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.random_numbers import random_below
from stoneworks.envs.rules.compiler.types import Float32Table, Int8s, Int16s, Record, UInt64s
from stoneworks.envs.rules.contract import apply_action
from stoneworks.envs.rules.fields import Field

EMPTY, BLACK, WHITE, OFF_BOARD = 0, 1, 2, 3


def stones_field(on_board: npt.NDArray[np.bool_]) -> Field:
    """Return the field of the stones by cell, for ``on_board[num_cells]``."""
    low, high = np.where(on_board, EMPTY, OFF_BOARD), np.where(on_board, WHITE, OFF_BOARD)
    return Field("stones", "u1", low, high, on_board.shape)


#: The planes that observations of games of stones begin with.
OWN_STONES, OPPONENT_STONES, BOARD = 0, 1, 2


@kernel
def observe_colors(board: Record, state: Record, color: int, planes: Float32Table) -> None:
    """Write the first two planes: own stones and opponent's stones."""
    own = color + 1
    other = 2 - color
    for cell in range(board.num_cells):
        planes[OWN_STONES, cell] = state.stones[cell] == own
    for cell in range(board.num_cells):
        planes[OPPONENT_STONES, cell] = state.stones[cell] == other


@kernel
def clear_planes(board: Record, planes: Float32Table) -> None:
    """Write the plane of the board and clear those after it."""
    for cell in range(board.num_cells):
        planes[BOARD, cell] = board.on_board[cell]
    planes[BOARD + 1 :, :] = 0


@kernel
def list_empty_cells(board: Record, state: Record, cells: Int16s) -> int:
    """Write the empty cells to the front of ``cells`` (``int16[>= num_cells]``) and return their number."""
    num_empty = 0
    for cell in range(board.num_cells):
        cells[num_empty] = cell
        num_empty += state.stones[cell] == EMPTY
    return num_empty


def finish_at_random(board: Record, state: Record, mask: Int8s, seeds: UInt64s, game: int) -> int:
    """Play to the end at random, like the default kernel but from a list of the empty cells.

    A game specializes it with its own ``apply_action`` and ``count_legal_globals``. The global actions that are legal must be
    the first ones, empty cells have the code ``EMPTY`` in ``state.stones``, and a stone never leaves its cell.
    """
    empty = np.empty(board.num_cells, np.int16)
    num_empty = list_empty_cells(board, state, empty)
    played = 0
    while not state.ending:
        choice = random_below(seeds, game, num_empty + count_legal_globals(board, state))
        if choice >= num_empty:
            apply_action(board, state, board.num_cells + choice - num_empty)
        else:
            apply_action(board, state, empty[choice])
            num_empty -= 1
            empty[choice] = empty[num_empty]
        played += 1
    return played


def count_legal_globals(board: Record, state: Record) -> int:
    """Return the number of legal global actions. Each game has its own kernel of this name."""
    raise NotImplementedError
