"""Watched sources: game record files, arenas and training runs in the folders given on the command line.

Access is read-only. Sources are found by scanning the folders and identified by their relative path; files not listed by the
scan cannot be read.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stoneworks.evaluation.errors import ArenaFolderError
from stoneworks.evaluation.play import load_arena
from stoneworks.evaluation.ratings import RatingError
from stoneworks.evaluation.records import GameRecord, RecordError
from stoneworks.evaluation.results import results_of
from stoneworks.models.shipped import METADATA_FILE
from stoneworks.reading import check_shape, read_bytes, read_json, read_json_lines
from stoneworks.web.errors import RequestError
from stoneworks.web.limits import Limits

_DEPTH = 6
_ARENA_FILE = "arena.json"
_METRICS_FILE = "metrics.jsonl"
_CHECKPOINT_FILE = Path("checkpoint", METADATA_FILE)
#: Subfolders with the games of an arena and of the matches of a run.
_GAMES_FOLDERS = {"arena": "games", "run": "matches"}
#: Folders that are not scanned.
_SKIPPED = {"positions", "tensorboard", "__pycache__", "node_modules"}


class _UnreadableError(ValueError):
    """Raised for a file that cannot be read."""


@dataclass(frozen=True)
class Source:
    """A watched source.

    Attributes:
        id: ``"<folder number>/<relative path>"``.
        kind: ``"records"``, ``"arena"`` or ``"run"``.
        path: path of the file or folder.
        modified: modification time in seconds since 1970.
        size_bytes: file size; 0 for a folder.
    """

    id: str
    kind: str
    path: Path
    modified: float
    size_bytes: int


class Watch:
    """The watched folders and files.

    Attributes:
        roots: absolute paths of the given folders and files.
    """

    def __init__(self, paths: Sequence[Path], limits: Limits) -> None:
        """Set the folders and files to watch.

        Raises:
            ValueError: a path does not exist.
        """
        for path in paths:
            if not path.exists():
                raise ValueError(f"watch must be an existing folder or file, got {str(path)!r}")
        self.roots = [path.resolve() for path in paths]
        self._limits = limits
        self._records: OrderedDict[Path, tuple[tuple[float, int], list[GameRecord | str]]] = OrderedDict()
        self._arenas: dict[Path, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self._runs: dict[Path, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self._lock = threading.Lock()

    # -- Finding -----------------------------------------------------------------------------------------------------------

    def sources(self) -> list[dict[str, Any]]:
        """Return all sources, most recently changed first."""
        found = sorted(self._scan().values(), key=lambda source: -source.modified)
        return [
            {
                "id": source.id,
                "kind": source.kind,
                "name": source.id.partition("/")[2] or source.path.name,
                "folder": self.roots[int(source.id.partition("/")[0])].name,
                "modified": source.modified,
                "size_bytes": source.size_bytes,
            }
            for source in found
        ]

    def _scan(self) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for number, root in enumerate(self.roots):
            if root.is_file():
                self._add(found, number, root, root)
            else:
                self._scan_folder(found, number, root, root, _DEPTH)
        return found

    def _scan_folder(self, found: dict[str, Source], number: int, root: Path, folder: Path, depth: int) -> None:
        if len(found) >= self._limits.watched_sources:
            return
        kind = self._add(found, number, root, folder)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():  # a link may point outside the folder
                continue
            if kind is not None and entry.name == _GAMES_FOLDERS[kind]:
                continue  # shown with the arena or the run
            if entry.is_dir():
                if depth and entry.name not in _SKIPPED:
                    self._scan_folder(found, number, root, Path(entry.path), depth - 1)
            elif entry.name.endswith(".jsonl") and entry.name != _METRICS_FILE:
                self._add(found, number, root, Path(entry.path))

    def _add(self, found: dict[str, Source], number: int, root: Path, path: Path) -> str | None:
        """Add a file or folder, if it is a source. Return the kind of a folder."""
        if len(found) >= self._limits.watched_sources:
            return None
        kind, dated = "records", path
        if path.is_dir():
            if _is_own_file(path, _ARENA_FILE):
                kind, dated = "arena", path / "games"
            elif _is_own_file(path, _METRICS_FILE):
                kind, dated = "run", path / _METRICS_FILE
            elif _is_own_file(path, *_CHECKPOINT_FILE.parts):
                kind, dated = "run", path / _CHECKPOINT_FILE
            else:
                return None
        try:
            status = dated.stat() if dated.exists() else path.stat()
        except OSError:
            return None
        relative = "" if path == root else path.relative_to(root).as_posix()
        source_id = f"{number}/{relative}"
        found[source_id] = Source(source_id, kind, path, status.st_mtime, status.st_size if kind == "records" else 0)
        return None if kind == "records" else kind

    def _source(self, source_id: str, kind: str) -> Source:
        source = self._scan().get(source_id)
        if source is None or source.kind != kind:
            raise RequestError(f"there is no {kind} source {source_id[:80]!r} in the watched folders", 404)
        return source

    # -- Records -----------------------------------------------------------------------------------------------------------

    def records(self, source_id: str, query: Mapping[str, str], first: int, count: int) -> dict[str, Any]:
        """Return a table of the games in a record file or an arena that match the filters in ``query``.

        Filters are ``player``, a part of a name; ``result``: ``0``, ``1``, ``draw`` or ``unfinished``; ``reason``; ``game``;
        ``file``, the name of a match of a run; and ``shortest`` and ``longest`` numbers of actions.
        """
        records, files = self._records_of(source_id)
        rows: list[dict[str, Any]] = []
        games: set[str] = set()
        reasons: set[str] = set()
        players: set[str] = set()
        broken = 0
        for index, record in enumerate(records):
            if isinstance(record, str):
                broken += 1
                continue
            games.add(record.game)
            reasons.add(record.reason or "unfinished")
            players.update(record.players)
            if (file := query.get("file", "")) and files[index] != file:
                continue
            if _passes(record, query):
                rows.append(
                    {
                        "index": index,
                        "game": record.game,
                        "players": list(record.players),
                        "winner": record.winner,
                        "reason": record.reason,
                        "length": len(record.actions),
                        "file": files[index],
                    }
                )
        scores = [_score(row) for row in rows if row["reason"] is not None]
        return {
            "rows": rows[first : first + count],
            "total": len(rows),
            "all": len(records) - broken,
            "broken": broken,
            "games": sorted(games),
            "reasons": sorted(reasons),
            "players": sorted(players)[:100],
            "files": sorted(set(files)),
            "mean_length": sum(row["length"] for row in rows) / len(rows) if rows else None,
            "first_player_score": sum(scores) / len(scores) if scores else None,
        }

    def record(self, source_id: str, index: int) -> dict[str, Any]:
        """Return one game with its actions, validated by replay."""
        records, _ = self._records_of(source_id)
        if not 0 <= index < len(records):
            raise RequestError(f"index must be an integer from 0 to {len(records) - 1}, got {index}", 404)
        record = records[index]
        if isinstance(record, str):
            raise RequestError(record)
        fields: dict[str, Any] = json.loads(record.to_json())
        return fields | {"index": index}

    def _records_of(self, source_id: str) -> tuple[list[GameRecord | str], list[str]]:
        """Return the records of a source, each with the name of its file without the suffix."""
        source = self._scan().get(source_id)
        if source is None:
            raise RequestError(f"there are no records {source_id[:80]!r} in the watched folders", 404)
        files = [source.path] if source.kind == "records" else _games_files(source)
        records: list[GameRecord | str] = []
        names: list[str] = []
        for file in files:
            records += self._records_in(file)
            names += [file.stem] * (len(records) - len(names))
        return records, names

    def _records_in(self, file: Path) -> list[GameRecord | str]:
        """Return the records of a file, with an error message for each invalid line. An incomplete last line is skipped."""
        try:
            status = file.stat()
            stamp = status.st_mtime, status.st_size
            with self._lock:
                known = self._records.get(file)
                if known is not None and known[0] == stamp:
                    self._records.move_to_end(file)
                    return known[1]
            if status.st_size > self._limits.file_bytes:
                raise RequestError(f"{file.name} is larger than {self._limits.file_bytes} bytes", 413)
            content = read_bytes(file, _UnreadableError, self._limits.file_bytes)
        except (OSError, _UnreadableError):
            raise RequestError(f"{file.name} cannot be read", 404) from None
        records: list[GameRecord | str] = []
        lines = content.split(b"\n")
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                records.append(GameRecord.from_json(line.decode("utf-8")))
            except (RecordError, UnicodeDecodeError, RecursionError) as error:
                if number < len(lines):  # the last line is incomplete
                    records.append(f"{file.name}, line {number}: {error}")
        with self._lock:
            self._records[file] = stamp, records
            self._records.move_to_end(file)
            num_bytes = sum(size for (_, size), _ in self._records.values())
            while num_bytes > 2 * self._limits.file_bytes:
                (_, size), _ = self._records.popitem(last=False)[1]
                num_bytes -= size
        return records

    # -- Arenas ------------------------------------------------------------------------------------------------------------

    def arena(self, source_id: str) -> dict[str, Any]:
        """Return the ratings, the cross table and the progress of an arena."""
        source = self._source(source_id, "arena")
        games = source.path / _GAMES_FOLDERS["arena"]
        if not games.is_dir():
            raise RequestError("this arena has no games yet", 409)
        if games.is_symlink() or any(file.is_symlink() for file in games.glob("*.jsonl")):
            raise RequestError("the games of this arena are links, which are not followed", 409)
        stamp = tuple((file.name, file.stat().st_mtime) for file in sorted(games.glob("*.jsonl")))
        with self._lock:
            known = self._arenas.get(source.path)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            result = load_arena(source.path)
            answer = {
                "game": result.settings.game,
                "games": result.num_games,
                "pairs": result.num_pairs,
                "pairs_in_all": len(result.settings.pairings) * result.settings.num_pairs,
                "finished": result.finished,
                "results": None,
                "cross_table": [],
            }
            if result.num_games:
                answer["results"] = {
                    name: value
                    for name, value in results_of(result).items()
                    if name in ("players", "anchor", "seat", "sprt", "games", "distinct_games", "pairings")
                }
                answer["cross_table"] = [
                    {"names": list(match.names), "score": match.score, "games": match.num_games}
                    for match in result.matches
                ]
        except (ArenaFolderError, RatingError) as error:
            raise RequestError(str(error).replace(str(source.path), source.path.name), 409) from None
        with self._lock:
            self._arenas[source.path] = stamp, answer
        return answer

    # -- Runs --------------------------------------------------------------------------------------------------------------

    def run(self, source_id: str) -> dict[str, Any]:
        """Return the metrics of a training run per iteration, and its match results."""
        source = self._source(source_id, "run")
        stamp = tuple(_stamp(source.path / name) for name in (_METRICS_FILE, _CHECKPOINT_FILE))
        with self._lock:
            known = self._runs.get(source.path)
        if known is not None and known[0] == stamp:
            return known[1]
        answer = self._read_run(source)
        with self._lock:
            if len(self._runs) > 64:
                self._runs.clear()
            self._runs[source.path] = stamp, answer
        return answer

    def _read_run(self, source: Source) -> dict[str, Any]:
        rows = self._metrics(source.path / _METRICS_FILE)
        names = sorted({name for row in rows for name, value in row.items() if _is_number(value)})
        training = self._training(source.path / _CHECKPOINT_FILE)
        step = max(1, len(rows) // 2000)
        return {
            "axis": "positions" if "positions" in names else "frames" if "frames" in names else None,
            "names": names,
            "columns": {name: [row.get(name) for row in rows[::step]] for name in names},
            "num_rows": len(rows),
            "game": training.get("game"),
            "algorithm": training.get("algorithm"),
            "match_results": training.get("match_results", []),
        }

    def _metrics(self, file: Path) -> list[dict[str, Any]]:
        """Return the rows of ``metrics.jsonl``. A resumed run may repeat iterations; the later rows are kept."""
        rows: list[dict[str, Any]] = []
        lines: list[dict[str, Any]] = []
        if file.is_symlink():
            return rows
        with contextlib.suppress(_UnreadableError):
            lines = read_json_lines(file, _UnreadableError, self._limits.file_bytes)
        for row in lines:
            axis = "positions" if "positions" in row else "frames"
            if not _is_number(row.get(axis)):
                continue
            while rows and _is_number(rows[-1].get(axis)) and rows[-1][axis] >= row[axis]:
                rows.pop()
            rows.append({name: value for name, value in row.items() if _is_number(value)})
        return rows

    def _training(self, file: Path) -> dict[str, Any]:
        """Return the run's game, algorithm and matches from its checkpoint."""
        if file.is_symlink() or file.parent.is_symlink():
            return {}
        try:
            fields = read_json(file, _UnreadableError, self._limits.file_bytes)
            check_shape(
                fields,
                {"game": str, "training": {"algorithm": str, "match_results?": [{}]}},
                _UnreadableError,
                file.name,
            )
        except _UnreadableError:
            return {}
        training = fields["training"]
        return {
            "game": fields["game"],
            "algorithm": training["algorithm"],
            "match_results": training.get("match_results", []),
        }


def _is_own_file(folder: Path, *parts: str) -> bool:
    """Return whether a file exists in a folder without following links."""
    path = folder
    for part in parts:
        path = path / part
        if path.is_symlink():
            return False
    return path.is_file()


def _games_files(source: Source) -> list[Path]:
    """Return the record files of an arena or of the matches of a run, without links."""
    folder = source.path / _GAMES_FOLDERS[source.kind]
    return [] if folder.is_symlink() else [file for file in sorted(folder.glob("*.jsonl")) if not file.is_symlink()]


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _passes(record: GameRecord, query: Mapping[str, str]) -> bool:
    player = query.get("player", "").strip().lower()
    if player and not any(player in name.lower() for name in record.players):
        return False
    result = query.get("result", "")
    if result:
        actual = "unfinished" if record.reason is None else "draw" if record.winner is None else str(record.winner)
        if actual != result:
            return False
    if (reason := query.get("reason", "")) and (record.reason or "unfinished") != reason:
        return False
    if (game := query.get("game", "")) and record.game != game:
        return False
    for name, sign in (("shortest", 1), ("longest", -1)):
        text = query.get(name, "")
        if text:
            if not (text.isascii() and text.isdecimal() and len(text) < 9):
                raise RequestError(f"{name} must be an integer >= 0, got {text[:20]!r}")
            if sign * (len(record.actions) - int(text)) < 0:
                return False
    return True


def _score(row: Mapping[str, Any]) -> float:
    return 0.5 if row["winner"] is None else 1.0 - row["winner"]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and abs(value) < 1e300
