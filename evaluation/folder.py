"""The folder of an arena: ``arena.json`` with its settings, one file of games per finished chunk, and ``results.json``.

Files are written atomically, so an arena that was interrupted at any time resumes from its finished chunks.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from stoneworks.envs.rules import Game
from stoneworks.evaluation.match import MatchResult
from stoneworks.evaluation.records import GameRecord, GameRecordError, read_records, write_records
from stoneworks.evaluation.settings import ArenaChunk, ArenaSettings
from stoneworks.locks import LOCK_FILE
from stoneworks.models.bots.external_bot import words_of
from stoneworks.models.bots.spec import BotSpec, UnknownBotError

#: File of the results (see :class:`~stoneworks.evaluation.results.ArenaResult`).
RESULTS_FILE = "results.json"
#: File of the settings.
SETTINGS_FILE = "arena.json"
#: Subfolder with a file of games per chunk.
CHUNKS_FOLDER = "games"


class ArenaFolderError(ValueError):
    """Raised when a folder does not contain the expected arena. The message names the folder and the difference."""


class _StoredArena(ArenaSettings):
    """The file ``arena.json``: the settings, and the hashes of players (see :func:`player_hashes`)."""

    error = ArenaFolderError

    checkpoints: dict[str, str] = Field(default_factory=dict)


def file_stem(game: Game | str) -> str:
    """Return the game string in the form that is used in file names, such as ``vadus-size-5``."""
    return re.sub(r"[^a-z0-9]+", "-", str(game).lower()).strip("-")


def folder_name(game: Game | str, inputs: object) -> str:
    """Return a name for the folder of an arena: the game, and a digest of ``inputs``, which must be JSON-serializable."""
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:8]
    return f"{file_stem(game)}-{digest}"


def player_hashes(players: Mapping[str, object]) -> dict[str, str]:
    """Return the SHA-256 hashes of players whose names do not identify them, to detect changes.

    The hash is that of the description of a checkpoint, which contains the hash of the weights, of the file of a policy, or of
    the first file in the command of a program. If a player does not have the name of its bot, that name is hashed too,
    without paths.
    """
    hashes = {}
    for name, player in players.items():
        with contextlib.suppress(UnknownBotError):
            spec = BotSpec.parse(player)  # type: ignore[arg-type]
            file = _file_of(spec)
            contents = [file.read_bytes()] if file is not None and file.is_file() else []
            if player != name:
                bot = (spec.budget, spec.parameters) if contents else player
                contents.append(repr(bot).encode())
            if contents:
                hashes[name] = hashlib.sha256(b"".join(contents)).hexdigest()
    return hashes


def _file_of(spec: BotSpec) -> Path | None:
    """Return the file that changes with a bot: of a program, the first one in its command."""
    if not spec.entry.starts_programs:
        return spec.file
    return next((Path(word) for word in words_of(spec.text) if Path(word).is_file()), None)


def _may_be_left_over(file: Path) -> bool:
    """Return whether a file may be in the folder of a process that was killed before it wrote the settings."""
    return file.name == LOCK_FILE or (file.name.startswith(".") and file.suffix == ".tmp")


class ArenaFolder:
    """The folder with the games of an arena."""

    def __init__(
        self, path: str | os.PathLike[str], settings: ArenaSettings, hashes: Mapping[str, str] | None = None
    ) -> None:
        """Create the folder, or open the folder of an arena with equal settings.

        Args:
            path: the folder.
            settings: the arena's settings.
            hashes: hashes of players (see :func:`player_hashes`); None to skip the comparison.

        Raises:
            ArenaFolderError: the folder contains a different arena, or something else. Nothing is changed.
        """
        self.path = Path(path)
        self.settings = settings
        self.check(path, settings, hashes)
        file = self.path / SETTINGS_FILE
        if not file.exists():
            self.path.mkdir(parents=True, exist_ok=True)
            _StoredArena(**dict(settings), checkpoints=dict(hashes or {})).save(file)
        self._games = self.path / CHUNKS_FOLDER
        self._games.mkdir(exist_ok=True)

    @staticmethod
    def check(path: str | os.PathLike[str], settings: ArenaSettings, hashes: Mapping[str, str] | None = None) -> None:
        """Check that the folder is new, empty, or that of an arena with equal settings (see ``__init__``)."""
        folder, file = Path(path), Path(path) / SETTINGS_FILE
        if file.exists():
            there = _StoredArena.from_file(file).to_fields()
            here = settings.to_fields() | ({} if hashes is None else {"checkpoints": dict(hashes)})
            for name, value in here.items():
                if there[name] != value:
                    changed = f"{name} is {there[name]!r} in {file} and {value!r} here"
                    if name == "checkpoints":
                        changed = f"the players in {file} have changed"
                    raise ArenaFolderError(f"{changed}; give another folder")
        elif folder.exists() and (not folder.is_dir() or not all(map(_may_be_left_over, folder.iterdir()))):
            raise ArenaFolderError(f"{folder} must be a new or empty folder, or the folder of an arena")

    def file_of(self, chunk: ArenaChunk) -> Path:
        """Return the path of the file with the games of a chunk."""
        return self._games / f"pairing-{chunk.pairing:03d}-chunk-{chunk.number:05d}.jsonl"

    def write(self, chunk: ArenaChunk, records: Sequence[GameRecord]) -> None:
        """Write the games of a chunk (see :func:`records_of_chunk`)."""
        write_records(self.file_of(chunk), records)

    def remove(self, chunk: ArenaChunk) -> None:
        """Delete the games of a chunk, if there are any."""
        self.file_of(chunk).unlink(missing_ok=True)

    def read(self) -> dict[ArenaChunk, tuple[GameRecord, ...]]:
        """Return the games of all finished chunks.

        Raises:
            ArenaFolderError: a file does not contain the expected games.
        """
        found = {}
        for chunk in self.settings.chunks:
            file = self.file_of(chunk)
            if file.exists():
                try:
                    found[chunk] = tuple(read_records(file))
                except GameRecordError as error:
                    raise ArenaFolderError(str(error)) from None
                _check_chunk(file, self.settings, chunk, found[chunk])
        return found


def read_settings(path: str | os.PathLike[str]) -> ArenaSettings:
    """Return the settings of the arena in a folder. Raises :class:`ArenaFolderError` if there is none."""
    file = Path(path) / SETTINGS_FILE
    if not file.exists():
        raise ArenaFolderError(f"{path} is not the folder of an arena: {SETTINGS_FILE} is missing")
    stored = dict(_StoredArena.from_file(file))
    del stored["checkpoints"]
    return ArenaSettings(**stored)


def records_of_chunk(settings: ArenaSettings, chunk: ArenaChunk, result: MatchResult) -> tuple[GameRecord, ...]:
    """Return the games of a chunk as they are stored: with the player names of the arena, and their place in the metadata."""
    stored = []
    for index, record in enumerate(result.records):
        metadata = {**record.metadata, **_place(settings, chunk, index)}
        stored.append(record.replace(players=_players(settings, chunk, index), metadata=metadata))
    return tuple(stored)


def _players(settings: ArenaSettings, chunk: ArenaChunk, index: int) -> tuple[str, str]:
    first, second = settings.pairings[chunk.pairing]
    return (second, first) if index % 2 else (first, second)


def _place(settings: ArenaSettings, chunk: ArenaChunk, index: int) -> dict[str, int]:
    """Return the place of a game of a chunk in the arena: ``pairing``, number of the ``chunk``, and ``pair`` in the pairing."""
    pair = chunk.number * settings.chunk_pairs + index // 2
    return {"pairing": chunk.pairing, "chunk": chunk.number, "pair": pair}


def _check_chunk(file: Path, settings: ArenaSettings, chunk: ArenaChunk, records: Sequence[GameRecord]) -> None:
    if len(records) != 2 * chunk.num_pairs:
        raise ArenaFolderError(f"{file} must contain {2 * chunk.num_pairs} games, got {len(records)}")
    for index, record in enumerate(records):
        expected = {
            "game": settings.game,
            "version": settings.game_version,
            "players": _players(settings, chunk, index),
            **_place(settings, chunk, index),
        }
        found = {"game": record.game, "version": record.version, "players": record.players, **record.metadata}
        if "score" in found:  # written until version 0.2.0
            expected["score"] = record.score(0)
        for name, value in expected.items():
            if found.get(name) != value:
                raise ArenaFolderError(
                    f"{record.source}: {name} must be {value!r} in this arena, got {found.get(name)!r}"
                )
        if record.reason is None:
            raise ArenaFolderError(f"{record.source}: the game must be finished, with a reason, got null")
