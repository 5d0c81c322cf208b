"""What a game declares: the fields of its positions with their ranges, board constants, and named planes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.compiler.compiler import capacity, kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Record

#: ``current_player`` after the end of the game (OpenSpiel's ``PlayerId.TERMINAL``).
TERMINAL_PLAYER = -4
#: ``winner`` of a game without a winner.
NO_WINNER = -1

#: Fields at the start of every state record. ``current_player`` is 0, 1 or ``TERMINAL_PLAYER``; ``winner`` is a
#: player or ``NO_WINNER``; ``ending`` is 0 until the game is over, then 1 + the index of the reason in ``Game.reasons``.
#: ``game_tag`` is ``Game.record_tag``: games may share a dtype, so each record identifies its game, options and version.
#: Kernels copy the tag and never read it.
STATE_HEADER = [("current_player", "i1"), ("winner", "i1"), ("ending", "u1"), ("truncated", "u1"), ("game_tag", "u4")]

#: The field that contains the tag.
TAG = "game_tag"


class Constant(NamedTuple):
    """A board constant for kernels.

    Attributes:
        name: name of the field.
        type: its type, as in a numpy dtype.
        value: a number or an array.
        by_cell: whether ``value`` has an entry or a row for each cell; the field has room for more cells (see ``capacity``).
    """

    name: str
    type: str
    value: Any
    by_cell: bool = False


class Field(NamedTuple):
    """A field of a game's positions and the values that it may have, so that records from outside can be checked.

    Attributes:
        name: name of the field.
        type: its type, as in a numpy dtype.
        low: smallest value; a number, or an array with the shape of the field.
        high: largest value, in the same form.
        shape: shape of the field; empty for a number.
    """

    name: str
    type: str
    low: Any
    high: Any
    shape: tuple[int, ...] = ()


def record_dtype(fields: Sequence[Field], *, align: bool = False) -> np.dtype[Any]:
    """Return the dtype of records with the header and ``fields``, aligned or not (see ``numpy.dtype``)."""
    return np.dtype([*STATE_HEADER, *((field.name, field.type, field.shape) for field in fields)], align=align)


def board_record(num_cells: int, num_actions: int, constants: Sequence[Constant]) -> npt.NDArray[np.void]:
    """Return the record ``[1]`` of ``num_cells`` and ``num_actions``, which every game has, and ``constants``."""
    header = Constant("num_cells", "i4", num_cells), Constant("num_actions", "i4", num_actions)
    fields, values = [], {}
    for name, type_, value, by_cell in (*header, *constants):
        values[name] = np.asarray(value)
        if by_cell:
            missing = capacity(num_cells) - num_cells
            values[name] = np.pad(values[name], [(0, missing)] + [(0, 0)] * (values[name].ndim - 1))
        fields.append((name, type_, values[name].shape))
    board: npt.NDArray[np.void] = np.zeros(1, np.dtype(fields, align=True))
    for name, array in values.items():
        board[name] = array
    return board


@kernel
def start_game(state: Record) -> None:
    """Write the header of a game in progress with player 0 to move."""
    state.current_player = 0
    state.winner = NO_WINNER
    state.ending = 0
    state.truncated = 0


@kernel
def end_game(state: Record, winner: int, ending: int) -> None:
    """Mark the game as over."""
    state.current_player = TERMINAL_PLAYER
    state.winner = winner
    state.ending = ending


def plane_names(planes: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of the planes of a game, for ``Game.observation_planes``.

    Args:
        planes: a named tuple with the number of each plane, whose fields are indices in kernels. The older versions of numba
            do not take the members of an ``IntEnum`` for indices.

    Raises:
        ValueError: the numbers are not 0, 1, 2, ...
    """
    if planes != tuple(range(len(planes))):
        raise ValueError(f"planes must be numbered 0, 1, 2, ..., got {planes}")
    return tuple(name.lower() for name in type(planes)._fields)  # type: ignore[attr-defined]


@kernel
def change_plane(planes: Float32Table, plane: int, value: float) -> None:
    """Write a value to all of a plane of ``planes[planes, height * width]``, unless a plane of a single value has it already."""
    if planes[plane, 0] != np.float32(value):
        planes[plane, :] = value
