"""Group commit for SQLite: concurrent writes share one commit, and so one flush to disk."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")
_Write = Callable[[sqlite3.Connection], Any]

_MOST_IN_GROUP = 64


class GroupWriter:
    """A writer thread. Each write is atomic: it is committed completely or not at all."""

    def __init__(self, database: sqlite3.Connection) -> None:
        """Start the thread. It has exclusive use of the connection until :meth:`close`."""
        self._database = database
        self._waiting: queue.SimpleQueue[tuple[_Write, Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    def run(self, write: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run ``write`` and return its result once it is on disk. If it raises, the write is rolled back and the error raised."""
        done: Future[_T] = Future()
        self._waiting.put((write, done))
        return done.result()

    def close(self) -> None:
        """Finish pending writes and stop the thread."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while True:
            group = [self._waiting.get()]
            while group[-1] is not None and len(group) < _MOST_IN_GROUP and not self._waiting.empty():
                group.append(self._waiting.get())
            self._write_group([item for item in group if item is not None])
            if group[-1] is None:
                return

    def _write_group(self, group: list[tuple[_Write, Future[Any]]]) -> None:
        if not group:
            return
        answers: list[tuple[Future[Any], Any, Exception | None]] = []
        try:
            self._database.execute("BEGIN IMMEDIATE")
            for write, done in group:
                self._database.execute("SAVEPOINT own")
                try:
                    answers.append((done, write(self._database), None))
                except Exception as error:
                    self._database.execute("ROLLBACK TO own")
                    answers.append((done, None, error))
                self._database.execute("RELEASE own")
            self._database.execute("COMMIT")
        except sqlite3.Error as error:  # e.g. the disk is full
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            answers = [(done, None, error) for _, done in group]
        for done, answer, failure in answers:
            if failure is None:
                done.set_result(answer)
            else:
                done.set_exception(failure)
