"""Watched sources: game record files, arenas and training runs in the folders given on the command line.

Access is read-only. Sources are found by scanning the folders and identified by their relative path; files not listed by the
scan cannot be read.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasPath, ConfigDict, Field
from starlette.requests import Request
from starlette.routing import Route
from typing_extensions import TypedDict

from stoneworks.documents import Document, Tuple
from stoneworks.evaluation.arena import load_arena
from stoneworks.evaluation.folder import CHUNKS_FOLDER, SETTINGS_FILE, ArenaFolderError
from stoneworks.evaluation.ratings import RatingError
from stoneworks.evaluation.records import GameRecord, GameRecordError
from stoneworks.locks import is_in_use
from stoneworks.models.shipped import METADATA_FILE
from stoneworks.reading import read_bytes, read_json, read_json_lines
from stoneworks.web.agents import Agents
from stoneworks.web.board import Positions, Turn, turns_of
from stoneworks.web.requests import PageQuery, Query, RequestError, get

#: Maximum size of a file; larger files are listed but cannot be opened.
_MAX_FILE_BYTES = 64_000_000
_MAX_SOURCES = 2000
_MAX_DEPTH = 6
#: Maximum number of rows of a run's metrics that are sent.
_MAX_POINTS = 2000
_METRICS_FILE = "metrics.jsonl"
_CHECKPOINT_FILE = Path("checkpoint", METADATA_FILE)
#: Subfolders with the games of an arena and of the matches of a run.
_GAMES_FOLDERS = {"arena": CHUNKS_FOLDER, "run": "matches"}
#: Folders that are not scanned.
_SKIPPED = {"positions", "tensorboard", "__pycache__", "node_modules"}


class _UnreadableError(ValueError):
    """Raised for a file that cannot be read."""


class SourceQuery(Query):
    """A watched source by its id."""

    source: str


class RecordQuery(SourceQuery):
    """A game of a source by its number, from 0."""

    index: int = Field(0, ge=0)


class RecordsQuery(SourceQuery, PageQuery):
    """A page of the games of a source that match some filters.

    Attributes:
        player: a part of a player's name.
        result: the winner, or another result.
        reason: how the game ended.
        game: the game string.
        file: the name of a match of a run.
        shortest: the minimum number of actions.
        longest: the maximum number of actions.
    """

    player: str | None = None
    result: Literal["0", "1", "draw", "unfinished"] | None = None
    reason: str | None = None
    game: str | None = None
    file: str | None = None
    shortest: int = Field(0, ge=0)
    longest: int | None = Field(None, ge=0)

    def matches(self, record: GameRecord, file: str) -> bool:
        """Return whether a record in a file matches the filters."""
        finished = "draw" if record.winner is None else str(record.winner)
        return (
            (self.player is None or any(self.player.strip().lower() in name.lower() for name in record.players))
            and self.result in (None, "unfinished" if record.reason is None else finished)
            and self.reason in (None, record.reason or "unfinished")
            and self.game in (None, record.game)
            and self.file in (None, file)
            and self.shortest <= len(record.actions)
            and (self.longest is None or len(record.actions) <= self.longest)
        )


class _Checkpoint(Document):
    """What is read of a run's checkpoint; other keys are ignored."""

    model_config = ConfigDict(extra="ignore")

    game: str
    algorithm: str = Field(validation_alias=AliasPath("training", "algorithm"))
    match_results: Tuple[dict[str, Any]] = Field((), validation_alias=AliasPath("training", "match_results"))


class Source(TypedDict):
    """A watched source.

    Attributes:
        id: ``"<folder number>/<relative path>"``.
        kind: ``"records"``, ``"arena"`` or ``"run"``.
        name: the relative path; for a file or folder given on the command line, its name.
        folder: name of the folder given on the command line.
        modified: modification time in seconds since 1970.
        state: ``"running"`` while a process writes to it; else, for a run, ``"finished"`` or ``"stopped"``; or empty.
    """

    id: str
    kind: str
    name: str
    folder: str
    modified: float
    state: str


class SourcesAnswer(TypedDict):
    """All sources, most recently changed first."""

    sources: list[Source]


class RecordRow(TypedDict):
    """A game in a table: its number in the source, and of its record the fields and the number of actions.

    Attributes:
        file: name of the file without the suffix.
    """

    index: int
    players: tuple[str, str]
    winner: int | None
    reason: str | None
    length: int
    file: str


class RecordsAnswer(TypedDict):
    """A page of the games of a source that match the filters.

    Attributes:
        total: number of games that match.
        all: number of all games.
        broken: number of invalid lines.
        games: the game strings of all games; ``reasons``, ``players`` and ``files`` likewise, at most 100 players.
        mean_length: mean number of actions of the games that match; None if there are none.
        first_player_score: mean score of player 0 in those that are finished.
    """

    rows: list[RecordRow]
    total: int
    all: int
    broken: int
    games: list[str]
    reasons: list[str]
    players: list[str]
    files: list[str]
    mean_length: float | None
    first_player_score: float | None


class WatchedGame(GameRecord):
    """The record of a game, with its number in the source and its turns."""

    index: int
    turns: Tuple[Turn]


class CrossTableRow(TypedDict):
    """Two players, the score of the first, and the number of their games."""

    names: tuple[str, str]
    score: float
    games: int


class ArenaAnswer(TypedDict):
    """An arena: its progress and its results.

    Attributes:
        pairs: number of pairs of games; ``pairs_in_all``, that of all to be played.
        results: fields of :class:`~stoneworks.evaluation.results.ArenaResult`; None without games.
    """

    game: str
    pairs: int
    pairs_in_all: int
    finished: bool
    results: dict[str, Any] | None
    cross_table: list[CrossTableRow]


class RunAnswer(TypedDict):
    """A training run.

    Attributes:
        game: the game string; None without a checkpoint, as ``algorithm``.
        match_results: the results of its matches as the checkpoint has them.
        axis: the column of the unit; None without metrics.
        columns: the rows by column, at most 2000; None where a row lacks it.
        agent: the name of its agent; None if it may not be played.
    """

    game: str | None
    algorithm: str | None
    match_results: Sequence[dict[str, Any]]
    axis: str | None
    columns: dict[str, list[float | None]]
    agent: str | None


class _Cache:
    """Values read from files until the files change. Beyond ``max_size``, those used least recently are dropped."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._kept: OrderedDict[Path, tuple[Any, int, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: Path, stamp: Any, read: Callable[[], Any], size: int = 1) -> Any:
        """Return the value that was read from ``path`` when it had the same stamp, or else that of ``read``."""
        with self._lock:
            known = self._kept.get(path)
            if known is not None and known[0] == stamp:
                self._kept.move_to_end(path)
                return known[2]
        value = read()
        with self._lock:
            self._kept[path] = stamp, size, value
            self._kept.move_to_end(path)
            total = sum(size for _, size, _ in self._kept.values())
            while total > self._max_size:
                total -= self._kept.popitem(last=False)[1][1]
        return value


class Watch:
    """The watched folders and files.

    Attributes:
        roots: absolute paths of the given folders and files.
    """

    def __init__(self, paths: Sequence[Path], agents: Agents | None = None) -> None:
        """Set the folders and files to watch, and the agents that may be played.

        Raises:
            ValueError: a path does not exist.
        """
        for path in paths:
            if not path.exists():
                raise ValueError(f"there is no folder or file {str(path)!r} to watch")
        self.roots = [path.resolve() for path in paths]
        self._agents = agents or Agents()
        self._records = _Cache(2 * _MAX_FILE_BYTES)
        self._folders = _Cache(64)
        self._states = _Cache(_MAX_SOURCES)

    def routes(self, positions: Positions) -> list[Route]:
        """Return the routes of the sources."""

        def record(_: Request, asked: RecordQuery) -> WatchedGame:
            found = self.record(asked.source, asked.index)
            game = positions.game(found.game)
            if found.version != game.version:
                raise RequestError(f"version must be {game.version} for {game}, got {found.version}", 409)
            turns = turns_of(positions.line(game, found.actions))
            fields = {name: getattr(found, name) for name in GameRecord.model_fields}
            return WatchedGame(**fields, index=asked.index, turns=turns)

        return [
            get("/api/watch", lambda _, __: SourcesAnswer(sources=self.sources())),
            get("/api/watch/records", lambda _, asked: self.records(asked), RecordsQuery),
            get("/api/watch/record", record, RecordQuery),
            get("/api/watch/arena", lambda _, asked: self.arena(asked.source), SourceQuery),
            get("/api/watch/run", lambda _, asked: self.run(asked.source), SourceQuery),
        ]

    # -- Finding -----------------------------------------------------------------------------------------------------------

    def sources(self) -> list[Source]:
        """Return all sources, most recently changed first."""
        return sorted((source for source, _ in self._scan().values()), key=lambda source: -source["modified"])

    def _scan(self) -> dict[str, tuple[Source, Path]]:
        """Return the sources and their paths by their ids."""
        found: dict[str, tuple[Source, Path]] = {}
        seen: set[Path] = set()  # a folder may be within another one
        for number, root in enumerate(self.roots):
            for kind, path, dated in _paths_in(root):
                if path in seen:
                    continue
                seen.add(path)
                with contextlib.suppress(OSError):
                    status = dated.stat() if dated.exists() else path.stat()
                    relative = "" if path == root else path.relative_to(root).as_posix()
                    source = Source(
                        id=f"{number}/{relative}",
                        kind=kind,
                        name=relative or root.name,
                        folder=root.name,
                        modified=status.st_mtime,
                        state=self._state_of(kind, path),
                    )
                    found[source["id"]] = source, path
                if len(found) >= _MAX_SOURCES:
                    return found
        return found

    def _state_of(self, kind: str, path: Path) -> str:
        if kind != "records" and is_in_use(path):
            return "running"
        if kind != "run":
            return ""
        file = path / _METRICS_FILE
        return "finished" if self._states.get(file, _stamp(file), lambda: _is_finished(file)) else "stopped"

    def _path(self, source_id: str, *kinds: str) -> tuple[Path, str]:
        """Return the path and the kind of a source of one of the kinds."""
        source, path = self._scan().get(source_id, (None, Path()))
        if source is None or source["kind"] not in kinds:
            raise RequestError(f"there is no {' or '.join(kinds)} {source_id[:80]!r} in the watched folders", 404)
        return path, source["kind"]

    # -- Records -----------------------------------------------------------------------------------------------------------

    def records(self, query: RecordsQuery) -> RecordsAnswer:
        """Return a table of the games in a record file, an arena or the matches of a run."""
        found = list(self._records_of(query.source))
        known = [(index, record, file) for index, (record, file) in enumerate(found) if isinstance(record, GameRecord)]
        rows: list[RecordRow] = [
            {
                "index": index,
                "players": record.players,
                "winner": record.winner,
                "reason": record.reason,
                "length": len(record.actions),
                "file": file,
            }
            for index, record, file in known
            if query.matches(record, file)
        ]
        scores = [0.5 if row["winner"] is None else 1.0 - row["winner"] for row in rows if row["reason"] is not None]
        return {
            "rows": rows[query.first : query.first + query.count],
            "total": len(rows),
            "all": len(known),
            "broken": len(found) - len(known),
            "games": sorted({record.game for _, record, _ in known}),
            "reasons": sorted({record.reason or "unfinished" for _, record, _ in known}),
            "players": sorted({name for _, record, _ in known for name in record.players})[:100],
            "files": sorted({file for _, file in found}),
            "mean_length": sum(row["length"] for row in rows) / len(rows) if rows else None,
            "first_player_score": sum(scores) / len(scores) if scores else None,
        }

    def record(self, source_id: str, index: int) -> GameRecord:
        """Return one game."""
        records = [record for record, _ in self._records_of(source_id)]
        if index >= len(records):
            raise RequestError(f"index must be an integer from 0 to {len(records) - 1}, got {index}", 404)
        record = records[index]
        if isinstance(record, str):
            raise RequestError(record)
        return record

    def _records_of(self, source_id: str) -> Iterator[tuple[GameRecord | str, str]]:
        """Yield the records of a source, each with the name of its file without the suffix; see :func:`_records_in`."""
        path, kind = self._path(source_id, "records", *_GAMES_FOLDERS)
        for file in [path] if kind == "records" else _games_files(path / _GAMES_FOLDERS[kind]):
            try:
                status = file.stat()
                if status.st_size > _MAX_FILE_BYTES:
                    raise RequestError(f"{file.name} is larger than {_MAX_FILE_BYTES} bytes", 413)
                stamp = status.st_mtime_ns, status.st_size
                records = self._records.get(file, stamp, lambda file=file: _records_in(file), status.st_size)  # type: ignore[misc]
            except (OSError, _UnreadableError):
                raise RequestError(f"{file.name} cannot be read", 404) from None
            yield from ((record, file.stem) for record in records)

    # -- Arenas ------------------------------------------------------------------------------------------------------------

    def arena(self, source_id: str) -> ArenaAnswer:
        """Return the ratings, the cross table and the progress of an arena."""
        path, kind = self._path(source_id, "arena")
        games = path / _GAMES_FOLDERS[kind]
        if not games.is_dir():
            raise RequestError("this arena has no games yet", 409)
        if any(map(_is_link, (games, *games.glob("*.jsonl")))):
            raise RequestError("the games of this arena are links, which are not followed, or may not be read", 409)
        stamp = [(file.name, _stamp(file)) for file in sorted(games.glob("*.jsonl"))]
        try:
            return self._folders.get(path, stamp, lambda: _read_arena(path))
        except (ArenaFolderError, RatingError) as error:
            raise RequestError(str(error).replace(str(path), path.name), 409) from None

    # -- Runs --------------------------------------------------------------------------------------------------------------

    def run(self, source_id: str) -> RunAnswer:
        """Return the metrics of a training run per iteration, and its match results."""
        path, _ = self._path(source_id, "run")
        stamp = [_stamp(path / name) for name in (_METRICS_FILE, _CHECKPOINT_FILE)]
        return self._folders.get(path, stamp, lambda: _read_run(path, self._agents))


def _paths_in(root: Path) -> Iterator[tuple[str, Path, Path]]:
    """Yield the kind and path of each source in a folder, and the path whose modification time counts."""
    if root.is_file():
        yield "records", root, root
        return
    for name, folders, files in os.walk(root):  # does not follow links, which may point outside the folder
        folder = Path(name)
        kind = None
        if _is_own_file(folder, SETTINGS_FILE):
            kind, dated = "arena", folder / _GAMES_FOLDERS["arena"]
        elif _is_own_file(folder, _METRICS_FILE):
            kind, dated = "run", folder / _METRICS_FILE
        elif _is_own_file(folder, *_CHECKPOINT_FILE.parts):
            kind, dated = "run", folder / _CHECKPOINT_FILE
        if kind is not None:
            yield kind, folder, dated
        shown_with_it = _GAMES_FOLDERS.get(kind or "")
        deeper = len(folder.relative_to(root).parts) < _MAX_DEPTH
        folders[:] = sorted(
            name
            for name in folders
            if deeper and not name.startswith(".") and name not in _SKIPPED and name != shown_with_it
        )
        for name in sorted(files):
            file = folder / name
            if file.suffix == ".jsonl" and name != _METRICS_FILE and not name.startswith(".") and not _is_link(file):
                yield "records", file, file


def _is_own_file(folder: Path, *parts: str) -> bool:
    """Return whether a file exists in a folder without following links."""
    paths = list(itertools.accumulate(parts, lambda path, part: path / part, initial=folder))[1:]
    return not any(map(_is_link, paths)) and paths[-1].is_file()


def _is_link(path: Path) -> bool:
    """Return whether a path is a link, or in a folder that may not be entered."""
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except OSError as error:
        return isinstance(error, PermissionError)


def _games_files(folder: Path) -> list[Path]:
    """Return the record files of an arena or of the matches of a run, without links.

    They are in the order in which they were written, so that games keep their indices as others are added.
    """
    files = [] if _is_link(folder) else [file for file in folder.glob("*.jsonl") if not _is_link(file)]
    return sorted(files, key=lambda file: (_stamp(file) or (0, 0), file.name))


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _records_in(file: Path) -> list[GameRecord | str]:
    """Return the records of a file, with an error message for each invalid line. An incomplete last line is skipped."""
    records: list[GameRecord | str] = []
    lines = read_bytes(file, _UnreadableError, _MAX_FILE_BYTES).split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            records.append(GameRecord.from_json(line.decode("utf-8", "replace"), f"{file.name}, line {number}"))
        except GameRecordError as error:
            if number < len(lines):  # the last line is incomplete
                records.append(str(error))
    return records


def _read_arena(folder: Path) -> ArenaAnswer:
    result = load_arena(folder)
    results = result.to_fields() if result.num_games else None
    return {
        "game": result.settings.game,
        "pairs": result.num_pairs,
        "pairs_in_all": result.settings.total_pairs,
        "finished": result.finished,
        "results": results and {name: results[name] for name in ("players", "anchor", "seat")},
        "cross_table": [{"names": one.names, "score": one.score, "games": one.num_games} for one in result.matches],
    }


def _read_run(folder: Path, agents: Agents) -> RunAnswer:
    axis, rows = _metrics(folder / _METRICS_FILE)
    names = sorted({name for row in rows for name in row})
    step = max(1, -(-len(rows) // _MAX_POINTS))
    checkpoint = None
    if _is_own_file(folder, *_CHECKPOINT_FILE.parts):
        with contextlib.suppress(ValueError):
            fields = read_json(folder / _CHECKPOINT_FILE, _UnreadableError, _MAX_FILE_BYTES)
            checkpoint = _Checkpoint.parse(fields, "checkpoint")
    return {
        "game": None if checkpoint is None else checkpoint.game,
        "algorithm": None if checkpoint is None else checkpoint.algorithm,
        "match_results": () if checkpoint is None else checkpoint.match_results,
        "axis": axis,
        "columns": {name: [row.get(name) for row in rows[::-step][::-1]] for name in names},
        "agent": None if checkpoint is None else agents.name_of(folder / _CHECKPOINT_FILE.parent),
    }


def _metrics(file: Path) -> tuple[str | None, list[dict[str, float]]]:
    """Return the unit of a run, and the numbers in the rows of its metrics.

    The unit is ``positions`` or ``frames``, or else the first column that grows. A resumed run may repeat iterations; the
    later rows are kept.
    """
    lines: list[dict[str, Any]] = []
    if _is_own_file(file.parent, file.name):
        with contextlib.suppress(_UnreadableError):
            lines = read_json_lines(file, _UnreadableError, _MAX_FILE_BYTES)
    numbers = [{name: value for name, value in line.items() if _is_number(value)} for line in lines]
    numbers = [row for row in numbers if row]
    if not numbers:
        return None, []
    first, last = numbers[0], numbers[-1]
    grown = [name for name in first if last.get(name, first[name]) > first[name]]
    axis = next((name for name in ("positions", "frames", *grown, *first) if name in first), None)
    rows: list[dict[str, float]] = []
    for row in numbers:
        if axis not in row:
            continue
        while rows and rows[-1][axis] >= row[axis]:
            rows.pop()
        rows.append(row)
    return axis, rows


def _is_finished(file: Path) -> bool:
    """Return whether the last row of a run's metrics has reached the total of its unit."""
    axis, rows = _metrics(file)
    return bool(rows) and rows[-1][str(axis)] >= rows[-1].get(f"total_{axis}", math.inf)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and abs(value) < 1e300
