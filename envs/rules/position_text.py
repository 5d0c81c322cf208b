"""Positions as text, what FEN is for chess: ``"vadus(size=3) current_player=1 num_stones=1 stones=c3:1"``.

A text is the game string and the fields in which the record differs from that of the initial position, separated by spaces. Of an
array, the differing entries are listed as ``place:value``, separated by commas; places of the board have the names of
cells, all others are numbers, and several indices are separated by slashes. The text of a position is unique.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.compiler.compiler import capacity
from stoneworks.envs.rules.fields import TAG
from stoneworks.envs.rules.grid import Grid


def position_text(game: str, grid: Grid, initial: np.void, record: np.void) -> str:
    """Return the text of a record.

    Args:
        game: the game string.
        grid: the grid of the game.
        initial: the record of the initial position.
        record: the record.
    """
    return " ".join([game, *_differences(grid, initial, record)])


def _differences(grid: Grid, initial: np.void, record: np.void) -> Iterator[str]:
    for name in _fields(record):
        changed = np.argwhere(np.asarray(record[name] != initial[name])).tolist()
        if changed:
            entries = (f"{_place(grid, record[name].shape, index)}{record[name][tuple(index)]}" for index in changed)
            yield f"{name}={','.join(entries)}"


def _fields(records: Any) -> list[str]:
    return [name for name in records.dtype.names if name != TAG]


def _place(grid: Grid, shape: tuple[int, ...], index: list[int]) -> str:
    """Return where an entry of a field is, with a colon; nothing for a number."""
    parts = [
        grid.cell_names[i] if length == capacity(grid.num_cells) and i < grid.num_cells else str(i)
        for i, length in zip(index, shape, strict=True)
    ]
    return f"{'/'.join(parts)}:" if parts else ""


def parse_position(game: str, grid: Grid, initial: npt.NDArray[np.void], text: str) -> npt.NDArray[np.void]:
    """Return the record ``[1]`` that a text describes; whether it is a valid position is not checked.

    Args:
        game: the game string.
        grid: the grid of the game.
        initial: the record ``[1]`` of the initial position.
        text: the text.

    Raises:
        ValueError: the text is not one of a position of the game. The message names the part and what is expected.
    """
    given = text if isinstance(text, str) else repr(text)
    if not f"{given} ".startswith(f"{game} "):
        raise ValueError(f"the text of a position of {game} must begin with {game!r}, got {given[:100]!r}")
    record = initial.copy()
    seen = set()
    for field in given.removeprefix(game).split():
        name, _, values = field.partition("=")
        if name not in _fields(record):
            raise ValueError(f"{game}: unknown field {name[:100]!r}; fields are {', '.join(_fields(record))}")
        for entry in values.split(","):
            place, _, value = entry.rpartition(":")
            index = _index(grid, record.dtype[name].shape, place)
            if index is None:
                raise ValueError(f"{game}: field {name} has no place {place[:100]!r}")
            if (name, index) in seen:
                raise ValueError(f"{game}: field {name} has two values{f' at {place}' if place else ''}")
            seen.add((name, index))
            try:
                record[name][(0, *index)] = int(value)
            except (ValueError, OverflowError):
                allowed = f"an integer that fits into {record.dtype[name].base}"
                raise ValueError(f"{game}: field {name} must be {allowed}, got {value[:100]!r}") from None
    return record


def _index(grid: Grid, shape: tuple[int, ...], place: str) -> tuple[int, ...] | None:
    """Return the index of a place in a field, or None if there is no such place."""
    parts = place.split("/") if place else []
    if len(parts) != len(shape):
        return None
    index = []
    for part, length in zip(parts, shape, strict=True):
        number = int(part) if part.isdecimal() else grid.cell_index(part)
        if number is None or number >= length or (not part.isdecimal() and length != capacity(grid.num_cells)):
            return None
        index.append(number)
    return tuple(index)
