"""``ThreadTeam``: threads that wait for short calls of compiled functions."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

_Call = tuple[Callable[..., Any], tuple[Any, ...], "SimpleQueue[BaseException | None]"]


class ThreadTeam:
    """The calling thread and ``num_threads - 1`` others, which end when the team is garbage-collected.

    Sharing a call between two threads costs 40 to 60 µs; with an executor of ``concurrent.futures``, it costs two to five
    times as much, more than half of a step of a thousand games.
    """

    def __init__(self, num_threads: int) -> None:
        """Start the threads when they are first needed."""
        self._num_threads = num_threads
        self._process = 0
        self._queues: list[SimpleQueue[_Call | None]] = []

    def run(self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> None:
        """Call ``function(*arguments[i])`` for each thread ``i``, the first in the calling thread, and wait for all calls.

        Raises:
            BaseException: what the first call that failed raised.
        """
        if self._process != os.getpid():  # a forked process does not inherit threads
            self._start()
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        for queue, given in zip(self._queues, arguments[1:], strict=False):
            queue.put((function, given, done))
        try:
            function(*arguments[0])
        finally:
            errors = [done.get() for _ in arguments[1:]]
        for error in errors:
            if error is not None:
                raise error

    def _start(self) -> None:
        queues: list[SimpleQueue[_Call | None]] = [SimpleQueue() for _ in range(self._num_threads - 1)]
        try:
            for queue in queues:
                threading.Thread(target=_work, args=(queue,), daemon=True).start()
        except BaseException:  # e.g. the process may not have more threads
            _end(queues)
            raise
        self._queues, self._process = queues, os.getpid()
        weakref.finalize(self, _end, queues).atexit = False


def _work(queue: SimpleQueue[_Call | None]) -> None:
    while (call := queue.get()) is not None:
        function, arguments, done = call
        try:
            function(*arguments)
        except BaseException as error:  # raised again in the calling thread
            done.put(error)
        else:
            done.put(None)
        del call, function, arguments, done  # they keep the arrays of the batch alive


def _end(queues: Sequence[SimpleQueue[_Call | None]]) -> None:
    for queue in queues:
        queue.put(None)
