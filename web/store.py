"""SQLite storage of games. Writes are on disk before a request is answered."""

from __future__ import annotations

import json
import logging
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from stoneworks.web.game_tree import MAX_NODES, GameHeader, Node, StoredGame
from stoneworks.web.requests import RequestError

SCHEMA_VERSION = 1
DATABASE_FILE = "games.sqlite3"

_NAMES = tuple(GameHeader.model_fields)
_COLUMNS = ", ".join(_NAMES)
_MAX_GAMES = 10_000
_LOG = logging.getLogger(__name__)

_Header = TypeVar("_Header", bound=GameHeader)

_SCHEMA = """
    CREATE TABLE games (
        id TEXT PRIMARY KEY,
        game TEXT NOT NULL,
        version INTEGER NOT NULL,
        title TEXT NOT NULL,
        players TEXT NOT NULL,
        confirm INTEGER NOT NULL,
        current INTEGER NOT NULL,
        committed INTEGER NOT NULL,
        winner INTEGER,
        reason TEXT,
        revision INTEGER NOT NULL,
        created REAL NOT NULL,
        updated REAL NOT NULL
    ) STRICT;
    CREATE INDEX games_by_update ON games (updated);
    CREATE TABLE nodes (
        game TEXT NOT NULL REFERENCES games (id) ON DELETE CASCADE,
        node INTEGER NOT NULL,
        parent INTEGER,
        action TEXT NOT NULL,
        comment TEXT NOT NULL,
        PRIMARY KEY (game, node)
    ) STRICT, WITHOUT ROWID;
"""


class Store:
    """The database of a data folder. All methods may be called from any thread."""

    def __init__(self, folder: Path, changed: Callable[[str], None] = lambda _: None) -> None:
        """Open the database, creating it if necessary.

        Args:
            folder: the data folder; created if missing.
            changed: called with the id of a game after each of its changes.

        Raises:
            ValueError: the file is not a valid database, or was created by a later version.
            OSError: the folder cannot be written to.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / DATABASE_FILE
        self._changed = changed
        try:
            self._database = self._connect()
            self._check_schema()
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is not a database of games: {error}") from None
        self._lock = threading.Lock()

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=10)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA foreign_keys = ON")
        return database

    def _check_schema(self) -> None:
        """Create the tables in an empty file."""
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise ValueError(
                f"{self.path} has schema version {version}; this version of stoneworks reads up to {SCHEMA_VERSION}"
            )
        if version == 0:
            if self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise ValueError(f"{self.path} is not a database of stoneworks games")
            self._database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the database in a transaction, which is rolled back on an error.

        Errors of the database, such as damage or a full disk, are converted to :class:`RequestError`.
        """
        try:
            with self._lock, self._database:
                self._database.execute("BEGIN IMMEDIATE")
                yield self._database
        except sqlite3.Error as error:
            raise RequestError(f"the database of games cannot be used: {error}", 500) from None

    # -- Reading ---------------------------------------------------------------------------------------------------------

    def load(self, game_id: str) -> StoredGame:
        """Return a game. Raises :class:`RequestError` if there is no game with that id."""
        with self.transaction() as database:
            return _load(database, game_id)

    def recent(self, first: int, count: int) -> tuple[list[GameHeader], int]:
        """Return a page of games without their nodes, most recently changed first, and the total number of games.

        Damaged ones are left out of the page.
        """
        with self.transaction() as database:
            rows = database.execute(
                f"SELECT {_COLUMNS} FROM games ORDER BY updated DESC, id LIMIT ? OFFSET ?", (count, first)
            ).fetchall()
            (number,) = database.execute("SELECT count(*) FROM games").fetchone()
        games = []
        for row in rows:
            try:
                games.append(_game_of(GameHeader, row))
            except RequestError as error:
                _LOG.warning("%s", error)
        return games, number

    def all_ids(self) -> list[str]:
        """Return the ids of all games, oldest first."""
        with self.transaction() as database:
            # In a damaged file, an id may be NULL or a number. Its text is the id of no game, so load() raises RequestError.
            return [str(row[0]) for row in database.execute("SELECT id FROM games ORDER BY created, id")]

    # -- Writing ---------------------------------------------------------------------------------------------------------

    def create(self, games: Iterable[StoredGame]) -> tuple[list[StoredGame], list[StoredGame]]:
        """Store new games atomically. Raises :class:`RequestError` if a limit is exceeded.

        Returns:
            the new games, with ids for those that have none, and those that were stored before by the ids of the others.
        """
        now = time.time()
        created, known = [], []
        with self.transaction() as database:
            (number,) = database.execute("SELECT count(*) FROM games").fetchone()
            for game in games:
                if game.id and database.execute("SELECT 1 FROM games WHERE id = ?", (game.id,)).fetchone():
                    known.append(_load(database, game.id))
                    continue
                new = game.replace(id=game.id or secrets.token_urlsafe(8), revision=1, created=now, updated=now)
                _check_size(new)
                marks = ", ".join("?" for _ in _NAMES)
                database.execute(f"INSERT INTO games ({_COLUMNS}) VALUES ({marks})", _row_of(new))
                _insert(database, new.id, new.nodes.values())
                created.append(new)
            if number + len(created) > _MAX_GAMES:
                raise RequestError(
                    f"there must be at most {_MAX_GAMES} games, got {number + len(created)}; delete some first", 409
                )
        return created, known

    def change(self, game_id: str, make: Callable[[StoredGame], StoredGame]) -> StoredGame:
        """Replace a game by ``make(game)`` in one transaction, and return it with its new revision.

        Raises:
            RequestError: the game does not exist, ``make`` raised the error, or the tree is too large. Nothing is changed.
        """
        with self.transaction() as database:
            before = _load(database, game_id)
            after = make(before)
            if after == before:
                return before
            _check_size(after)
            after = after.replace(revision=before.revision + 1, updated=time.time())
            assignments = ", ".join(f"{name} = ?" for name in _NAMES[1:])
            database.execute(f"UPDATE games SET {assignments} WHERE id = ?", (*_row_of(after)[1:], game_id))
            for number in before.nodes.keys() - after.nodes.keys():
                database.execute("DELETE FROM nodes WHERE game = ? AND node = ?", (game_id, number))
            _insert(database, game_id, (node for node in after.nodes.values() if before.nodes.get(node.node) != node))
        self._changed(game_id)
        return after

    def delete(self, game_id: str) -> None:
        """Delete a game. Raises as :meth:`load` does."""
        with self.transaction() as database:
            if not database.execute("DELETE FROM games WHERE id = ?", (game_id,)).rowcount:
                raise RequestError(f"there is no game {game_id[:20]!r}", 404)
        self._changed(game_id)


def _load(database: sqlite3.Connection, game_id: str) -> StoredGame:
    """Return a game. Raises :class:`RequestError` if there is no game with that id, or its tree is damaged."""
    row = database.execute(f"SELECT {_COLUMNS} FROM games WHERE id = ?", (game_id,)).fetchone()
    if row is None:
        raise RequestError(f"there is no game {game_id[:20]!r}", 404)
    nodes = database.execute("SELECT node, parent, action, comment FROM nodes WHERE game = ? ORDER BY node", (game_id,))
    game = _game_of(StoredGame, row, nodes={node[0]: Node(*node) for node in nodes})
    for node in game.nodes.values():
        is_root = node.node == 0 and node.parent is None
        if not is_root and (node.parent not in game.nodes or node.parent >= node.node):
            raise RequestError(
                f"game {game_id} in the database is damaged: node {node.node} has no parent before it", 500
            )
    return game


def _check_size(game: StoredGame) -> None:
    if len(game.nodes) > MAX_NODES:
        raise RequestError(f"a game may have at most {MAX_NODES} positions, got {len(game.nodes)}", 409)


def _insert(database: sqlite3.Connection, game_id: str, nodes: Iterable[Node]) -> None:
    database.executemany("INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?)", [(game_id, *node) for node in nodes])


def _row_of(game: StoredGame) -> tuple[Any, ...]:
    values = {name: getattr(game, name) for name in _NAMES}
    return tuple((values | {"players": json.dumps(game.players)}).values())


def _game_of(kind: type[_Header], row: tuple[Any, ...], **more: Any) -> _Header:
    values = dict(zip(_NAMES, row, strict=True))
    try:
        values |= {"players": json.loads(values["players"]), "confirm": bool(values["confirm"])}
        return kind(**values, **more)
    except (ValueError, TypeError, RecursionError) as error:
        raise RequestError(f"game {values['id']} in the database is damaged: {error}", 500) from None
