"""Ladders: fixed players of a game with ratings from a long arena, stored as data.

The file of a ladder contains the arena's results (see ``results.py``) and their origin: command, date and versions.
The shipped ladders are in the package ``stoneworks.models.ladders``.
"""

from __future__ import annotations

import datetime
import os
import platform
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game, as_game
from stoneworks.evaluation.folder import file_stem, player_hashes
from stoneworks.evaluation.results import ArenaResult

_LADDERS = "stoneworks.models.ladders"
#: The standard players of a ladder, roughly by increasing strength.
ANCHORS = ("random", "mcts:10", "greedy", "alphabeta:1", "mcts:100", "alphabeta:2", "alphabeta:3", "mcts:1000")


class LadderError(ValueError):
    """Raised when a ladder file is missing or invalid. The message lists the available ladders or states the problem."""


class CheckpointHash(Document):
    """The SHA-256 hash of a player, such as a checkpoint (see :func:`~stoneworks.evaluation.folder.player_hashes`)."""

    name: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Origin(Document):
    """How a ladder was made: the command, the date in UTC, and the versions of libraries."""

    command: str
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    versions: dict[str, str]


class Ladder(ArenaResult):
    """A ladder: the results of an arena (see :class:`~stoneworks.evaluation.results.ArenaResult`) and their origin.

    Attributes:
        checkpoints: hashes of the players that are checkpoints.
        made: how the ladder was made.
    """

    error = LadderError

    checkpoints: Tuple[CheckpointHash] = ()
    made: Origin

    @model_validator(mode="after")
    def _check_names(self) -> Ladder:
        names = self.ratings.names  # a ladder without ratings is of no use
        if unknown := [recorded.name for recorded in self.checkpoints if recorded.name not in names]:
            raise ValueError(f"checkpoints must be players of the ladder, {', '.join(names)}, got {unknown[0]}")
        return self

    def changed_players(self) -> tuple[str, ...]:
        """Return the players that are checkpoints and have changed, or are gone, since the ladder was made."""
        hashes = player_hashes({recorded.name: recorded.name for recorded in self.checkpoints})
        return tuple(recorded.name for recorded in self.checkpoints if hashes.get(recorded.name) != recorded.sha256)

    @classmethod
    def of_result(cls, result: ArenaResult, command: str) -> Ladder:
        """Return the ladder from an arena's result; ``command`` is the command that reproduces it.

        Raises:
            LadderError: the players cannot be rated.
        """
        hashes = player_hashes({name: name for name in result.settings.players})
        versions = {name: metadata.version(name) for name in ("stoneworks", "numpy", "numba")}
        return cls(
            settings=result.settings,
            pairings=result.matches,
            checkpoints=tuple(CheckpointHash(name=name, sha256=digest) for name, digest in hashes.items()),
            made=Origin(
                command=command,
                date=datetime.datetime.now(datetime.UTC).date().isoformat(),
                versions={"python": platform.python_version(), **versions},
            ),
        )


def shipped_ladders() -> dict[str, Ladder]:
    """Return the shipped ladders by game string. Raises :class:`LadderError` if a file is invalid."""
    return {ladder.game: ladder for ladder in Ladder.shipped(_LADDERS)}


def load_ladder(game: Game | str, path: str | os.PathLike[str] | None = None) -> Ladder:
    """Return the ladder of a game: the shipped one, or the one in a file.

    Raises:
        LadderError: there is none, the file cannot be read, or it is for a different game.
    """
    wanted = str(as_game(game))
    if path is not None:
        ladder = Ladder.from_file(path)
        if ladder.game != wanted:
            raise LadderError(f"{path} must be a ladder of {wanted}, got one of {ladder.game}")
        return ladder
    file = Path(str(resources.files(_LADDERS)), f"{file_stem(wanted)}.json")
    if not file.is_file():
        raise LadderError(
            f"no ladder for {wanted}; available: {', '.join(shipped_ladders()) or 'none'} (`stoneworks ladder make` makes one)"
        )
    return Ladder.from_file(file)
