"""Tags of records, and the validation of external records.

A position is one record of its game's dtype. Games may share a dtype, so each record carries a tag derived from the game
string and the version of the rules. Kernels copy the tag and never read it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import templates
from stoneworks.envs.rules.errors import RecordError

if TYPE_CHECKING:
    from stoneworks.envs.rules.game import Game

#: The field that contains the tag.
TAG = "game_tag"


def field_numbers(dtype: np.dtype[Any]) -> dict[str, int]:
    """Return the number of each field, counted from 1."""
    return {name: number for number, name in enumerate(dtype.names or (), start=1)}


def record_tag(game: Game) -> int:
    """Return the tag of a game's records, from 1 to 2**32 - 1."""
    digest = hashlib.sha256(f"{game} {game.version}".encode()).digest()
    return int.from_bytes(digest[:4], "little") or 1


def blank_records(game: Game, number: int) -> npt.NDArray[np.void]:
    """Return ``number`` records of zeros with the game's tag, for a ``reset`` kernel to fill."""
    records: npt.NDArray[np.void] = np.zeros(number, game.state_dtype)
    records[TAG] = game.record_tag
    return records


def check_tags(game: Game, records: npt.NDArray[np.void]) -> None:
    """Check the tags of records ``[n]`` of ``game.state_dtype``. Raises ``RecordError`` for a record of another game."""
    foreign = np.flatnonzero(records[TAG] != game.record_tag)
    if foreign.size:
        raise RecordError(
            f"{game}: record {foreign[0]} is a position of another game, other options or another version"
        )


def check_records(game: Game, records: npt.NDArray[np.void]) -> None:
    """Check that records ``[n]`` are valid positions of the game.

    Raises:
        RecordError: a record is invalid (the message names the first one and its field), or the game has no kernel
            ``check_record``.
    """
    if getattr(records, "dtype", None) != game.state_dtype:
        raise RecordError(f"{game}: the records have a different dtype; expected game.state_dtype")
    check_tags(game, records)
    if not game.can_check_records:
        raise RecordError(
            f"{game} has no check_record kernel, so external records cannot be checked; "
            "load records that you trust with trusted=True"
        )
    found: int = game.compiled(templates.first_wrong_record)(
        game.board, np.array(records)
    )  # writable, as kernels require
    if found < 0:
        return
    row, number = divmod(found, templates.MAX_FIELDS)
    name = (game.state_dtype.names or ())[number - 1]
    value = records[name][row]
    shown = f" = {value}" if np.ndim(value) == 0 else ""
    raise RecordError(f"{game}: record {row} is not a valid position: field {name}{shown} contradicts the other fields")
