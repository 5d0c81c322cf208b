"""SQLite storage of games. Writes are on disk before a request is answered.

A game is a tree of nodes. Node 0 is the initial position; every other node is an action applied to its parent. ``current`` is
the position on the board and ``committed`` the end of the last committed turn; the actions between them are the turn in
progress.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stoneworks.web.errors import RequestError
from stoneworks.web.group_writer import GroupWriter

#: Schema version; ``_MIGRATIONS[n]`` migrates from version n to n + 1.
SCHEMA_VERSION = 1
DATABASE_FILE = "games.sqlite3"

_MIGRATIONS = (
    """
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
    """,
)


@dataclass(frozen=True)
class Node:
    """A node in the tree of a game: its number, its parent's number, the action that leads to it, and a comment."""

    node: int
    parent: int | None
    action: str
    comment: str = ""


@dataclass(frozen=True)
class StoredGame:
    """A stored game.

    Attributes:
        id: identifier of the game in the database and in URLs.
        game: the game string.
        version: version of the game's rules (``Game.version``).
        title: title given by the user; may be empty.
        players: the bot name of each seat, or None for a human player.
        confirm: whether a turn must be confirmed explicitly.
        current: the current node.
        committed: the node after the last committed turn.
        winner: the winning player; None for a draw or an unfinished game.
        reason: how the game ended; None if unfinished.
        revision: incremented with every change.
        created: time of creation in seconds since 1970.
        updated: time of the last change.
        nodes: by number.
    """

    id: str
    game: str
    version: int
    title: str
    players: tuple[str | None, str | None]
    confirm: bool
    current: int
    committed: int
    winner: int | None
    reason: str | None
    revision: int
    created: float
    updated: float
    nodes: dict[int, Node]

    def path(self, node: int) -> list[Node]:
        """Return the path from the start (exclusive) to ``node``. Raises :class:`RequestError` for an unknown node."""
        path: list[Node] = []
        if node not in self.nodes:
            raise RequestError(f"game {self.id} has no node {node}", 404)
        at = self.nodes[node]
        while at.parent is not None:
            path.append(at)
            at = self.nodes[at.parent]
        return path[::-1]

    def actions(self, node: int) -> tuple[str, ...]:
        """Return the texts of the actions that lead to ``node``. Raises as :meth:`path` does."""
        return tuple(step.action for step in self.path(node))

    def child(self, node: int, action: str) -> Node | None:
        """Return the child node reached by ``action``, or None if there is none."""
        return next((child for child in self.nodes.values() if child.parent == node and child.action == action), None)

    def children(self, node: int) -> list[Node]:
        """Return the children of ``node``, oldest first."""
        return [child for child in self.nodes.values() if child.parent == node]


class Store:
    """The database of a data folder. All methods may be called from any thread."""

    def __init__(
        self,
        folder: Path,
        most_games: int,
        most_nodes: int,
        changed: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Open the database, creating it if necessary.

        Args:
            folder: the data folder; created if missing.
            most_games: maximum number of games.
            most_nodes: maximum number of nodes per game.
            changed: called with the id of a game after each of its changes.

        Raises:
            ValueError: the file is not a valid database, or was created by a later version.
            OSError: the folder cannot be written to.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / DATABASE_FILE
        self._most_games = most_games
        self._most_nodes = most_nodes
        self._changed = changed
        try:
            self._database = self._connect()
            self._migrate()
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is not a database of games: {error}") from None
        self._reader = self._connect()
        self._reading = threading.Lock()
        self._writer = GroupWriter(self._database)

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=10)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA foreign_keys = ON")
        return database

    def _migrate(self) -> None:
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise ValueError(
                f"{self.path} has schema version {version}; this version of stoneworks reads up to {SCHEMA_VERSION}"
            )
        if version == 0 and self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise ValueError(f"{self.path} is a database of something else")
        for number in range(version, SCHEMA_VERSION):
            script = f"BEGIN IMMEDIATE; {_MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;"
            self._database.executescript(script)

    def close(self) -> None:
        """Close the database."""
        self._writer.close()
        with self._reading:
            self._reader.close()
        self._database.close()

    # -- Reading ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def _one_snapshot(self) -> Iterator[sqlite3.Connection]:
        """Yield the reader in a transaction, so that several queries see the same state of the database."""
        with self._reading, _damage_reported():
            self._reader.execute("BEGIN")
            try:
                yield self._reader
            finally:
                self._reader.execute("ROLLBACK")

    def load(self, game_id: str) -> StoredGame:
        """Return a game. Raises :class:`RequestError` where there is none of that id."""
        with self._one_snapshot() as reader:
            return _load(reader, game_id)

    def revision(self, game_id: str) -> int:
        """Return the revision of a game. Raises as :meth:`load` does."""
        with self._reading, _damage_reported():
            row = self._reader.execute("SELECT revision FROM games WHERE id = ?", (game_id,)).fetchone()
        if row is None:
            raise RequestError(f"there is no game {game_id[:20]!r}", 404)
        return int(row[0])

    def recent(self, first: int, count: int) -> tuple[list[StoredGame], int]:
        """Return a page of games without their nodes, most recently changed first, and the total number of games."""
        with self._one_snapshot() as reader:
            rows = reader.execute(
                f"SELECT {_COLUMNS} FROM games ORDER BY updated DESC, id LIMIT ? OFFSET ?", (count, first)
            ).fetchall()
            (number,) = reader.execute("SELECT count(*) FROM games").fetchone()
        return [_game_of(row, {}) for row in rows], number

    def all_ids(self) -> list[str]:
        """Return the ids of all games, oldest first."""
        with self._reading, _damage_reported():
            return [row[0] for row in self._reader.execute("SELECT id FROM games ORDER BY created, id")]

    # -- Writing ---------------------------------------------------------------------------------------------------------

    def create(self, games: Iterable[NewGame]) -> list[StoredGame]:
        """Store new games atomically. Raises :class:`RequestError` if a limit would be exceeded."""
        wanted = list(games)

        def write(database: sqlite3.Connection) -> list[StoredGame]:
            created = []
            (number,) = database.execute("SELECT count(*) FROM games").fetchone()
            for new in wanted:
                number += 1
                if number > self._most_games:
                    raise RequestError(f"there are {self._most_games} games, the most allowed; delete some first", 409)
                if len(new.nodes) > self._most_nodes:
                    raise RequestError(f"a game may have at most {self._most_nodes} positions, got {len(new.nodes)}")
                now = time.time()
                nodes = {node.node: node for node in new.nodes}
                stored = StoredGame(
                    secrets.token_urlsafe(8),
                    new.game,
                    new.version,
                    new.title,
                    new.players,
                    new.confirm,
                    new.current,
                    new.current,
                    new.winner,
                    new.reason,
                    1,
                    now,
                    now,
                    nodes,
                )
                database.execute(f"INSERT INTO games ({_COLUMNS}) VALUES ({_MARKS})", _row_of(stored))
                database.executemany(
                    "INSERT INTO nodes VALUES (?, ?, ?, ?, ?)",
                    [(stored.id, node.node, node.parent, node.action, node.comment) for node in new.nodes],
                )
                created.append(stored)
            return created

        with _damage_reported():
            return self._writer.run(write)

    def change(self, game_id: str, make: Callable[[StoredGame], StoredGame]) -> StoredGame:
        """Replace a game by ``make(game)`` in one transaction, and return it with its new revision.

        Raises:
            RequestError: the game does not exist, ``make`` raised the error, or the tree is too large. Nothing is changed.
        """

        def write(database: sqlite3.Connection) -> tuple[StoredGame, bool]:
            before = _load(database, game_id)
            after = make(before)
            if after == before:
                return before, False
            if len(after.nodes) > self._most_nodes:
                raise RequestError(f"a game may have at most {self._most_nodes} positions; this one has as many", 409)
            after = replace(after, revision=before.revision + 1, updated=time.time())
            row = _row_of(after)
            database.execute(f"UPDATE games SET {_ASSIGNMENTS} WHERE id = ?", (*row[1:], game_id))
            for number in before.nodes.keys() - after.nodes.keys():
                database.execute("DELETE FROM nodes WHERE game = ? AND node = ?", (game_id, number))
            for number, node in after.nodes.items():
                if before.nodes.get(number) != node:
                    database.execute(
                        "INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?)",
                        (game_id, node.node, node.parent, node.action, node.comment),
                    )
            return after, True

        with _damage_reported():
            stored, is_changed = self._writer.run(write)
        if is_changed:
            self._changed(game_id)
        return stored

    def delete(self, game_id: str) -> None:
        """Delete a game. Raises as :meth:`load` does."""

        def write(database: sqlite3.Connection) -> None:
            if not database.execute("DELETE FROM games WHERE id = ?", (game_id,)).rowcount:
                raise RequestError(f"there is no game {game_id[:20]!r}", 404)

        with _damage_reported():
            self._writer.run(write)
        self._changed(game_id)


@dataclass(frozen=True)
class NewGame:
    """A game to be stored; see :class:`StoredGame` for the attributes."""

    game: str
    version: int
    players: tuple[str | None, str | None]
    confirm: bool
    nodes: tuple[Node, ...]
    current: int
    title: str = ""
    winner: int | None = None
    reason: str | None = None


@contextmanager
def _damage_reported() -> Iterator[None]:
    """Convert errors of the database, such as damage or a full disk, to :class:`RequestError`."""
    try:
        yield
    except sqlite3.Error as error:
        raise RequestError(f"the database of games cannot be used: {error}", 500) from None


def _load(database: sqlite3.Connection, game_id: str) -> StoredGame:
    """Return a game. Raises :class:`RequestError` where there is none of that id."""
    row = database.execute(f"SELECT {_COLUMNS} FROM games WHERE id = ?", (game_id,)).fetchone()
    nodes = database.execute(
        "SELECT node, parent, action, comment FROM nodes WHERE game = ? ORDER BY node", (game_id,)
    ).fetchall()
    if row is None:
        raise RequestError(f"there is no game {game_id[:20]!r}", 404)
    game = _game_of(row, {node[0]: Node(*node) for node in nodes})
    _check_tree(game)
    return game


def _check_tree(game: StoredGame) -> None:
    """Check that the nodes of a game form a tree. Raises :class:`RequestError` if they do not, as a path might be endless."""
    nodes = game.nodes
    is_tree = {0, game.current, game.committed} <= nodes.keys() and all(
        node.parent is None if number == 0 else node.parent in nodes and node.parent < number
        for number, node in nodes.items()
    )
    if not is_tree:
        raise RequestError(f"game {game.id} in the database is damaged: its positions form no tree", 500)


_NAMES = (
    "id",
    "game",
    "version",
    "title",
    "players",
    "confirm",
    "current",
    "committed",
    "winner",
    "reason",
    "revision",
    "created",
    "updated",
)
_COLUMNS = ", ".join(_NAMES)
_MARKS = ", ".join("?" for _ in _NAMES)
_ASSIGNMENTS = ", ".join(f"{name} = ?" for name in _NAMES[1:])


def _row_of(game: StoredGame) -> tuple[Any, ...]:
    values = {name: getattr(game, name) for name in _NAMES}
    return tuple((values | {"players": json.dumps(game.players), "confirm": int(game.confirm)}).values())


def _game_of(row: tuple[Any, ...], nodes: dict[int, Node]) -> StoredGame:
    values = dict(zip(_NAMES, row, strict=True))
    try:
        first, second = json.loads(values.pop("players"))
    except (ValueError, TypeError, RecursionError):
        raise RequestError(f"game {values['id']} in the database is damaged: its players are not valid", 500) from None
    confirm = bool(values.pop("confirm"))
    return StoredGame(**values, players=(first, second), confirm=confirm, nodes=nodes)
