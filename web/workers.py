"""Pool of worker processes for bots, with a time limit per job. Canceled jobs are killed."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from numba.core import event

from stoneworks.envs.rules.registry import Entry, add_entries, added_entries
from stoneworks.processes import interrupts_blocked
from stoneworks.web.errors import RequestError

#: Grace period of a canceled job before its process is killed.
_GRACE_SECONDS = 0.3
#: Time limit per job for the start of a process and the compilation of kernels, once per machine.
_PREPARING_SECONDS = 600.0
#: Interval at which a worker is looked at.
_LOOK_SECONDS = 0.5


class WorkerError(RuntimeError):
    """A job failed inside its worker process. The message is the worker's traceback."""


class WorkerPool:
    """A pool of worker processes. Must be used from a single event loop."""

    def __init__(self, num_workers: int, thinking_seconds: float, most_waiting: int) -> None:
        """Create the pool. Processes are started on demand.

        Args:
            num_workers: maximum number of processes.
            thinking_seconds: time limit per job.
            most_waiting: maximum number of jobs waiting for a process.
        """
        self._thinking_seconds = thinking_seconds
        self._most_waiting = most_waiting
        self._num_waiting = 0
        self._workers = [_Worker() for _ in range(num_workers)]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()
        for worker in self._workers:
            self._idle.put_nowait(worker)
        self._threads = ThreadPoolExecutor(num_workers, "worker")
        self._given_up: set[asyncio.Future[None]] = set()

    async def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run a job (see :mod:`stoneworks.web.thinking`) and return its result. Canceling the call cancels the job.

        Raises:
            RequestError: too many jobs are waiting, or the job exceeded its time limit, not counting the start of a process and
                the compilation of kernels.
            WorkerError: the job failed.
        """
        worker = await self._free_worker()
        answer = asyncio.get_running_loop().run_in_executor(self._threads, worker.ask, job)
        try:
            await self._wait(worker, answer)
            if not answer.done():
                raise RequestError(f"{job['bot']} did not answer within {self._thinking_seconds:g} seconds", 504)
            return answer.result()
        finally:
            if answer.done():
                self._idle.put_nowait(worker)
            else:
                given_up = asyncio.ensure_future(self._give_up(worker, answer))
                self._given_up.add(given_up)
                given_up.add_done_callback(self._given_up.discard)

    async def _free_worker(self) -> _Worker:
        if self._idle.empty():
            if self._num_waiting >= self._most_waiting:
                raise RequestError(f"{self._num_waiting} requests are waiting for a bot; try again later", 503)
            self._num_waiting += 1
            try:
                return await self._idle.get()
            finally:
                self._num_waiting -= 1
        return await self._idle.get()

    async def _wait(self, worker: _Worker, answer: asyncio.Future[dict[str, Any]]) -> None:
        """Wait for an answer, or until the time limit; the start of a process and the compilation of kernels do not count."""
        left = self._thinking_seconds
        left_preparing = _PREPARING_SECONDS
        while not answer.done() and left > 0 and left_preparing > 0:
            begin = time.monotonic()
            is_preparing = worker.is_preparing
            await asyncio.wait([answer], timeout=min(left, _LOOK_SECONDS))
            seconds = time.monotonic() - begin
            if is_preparing or worker.is_preparing:
                left_preparing -= seconds
            else:
                left -= seconds

    async def _give_up(self, worker: _Worker, answer: asyncio.Future[dict[str, Any]]) -> None:
        await asyncio.wait([answer], timeout=_GRACE_SECONDS)
        if not answer.done():
            worker.kill()
            await asyncio.wait([answer])
        answer.exception()  # the result is no longer needed
        self._idle.put_nowait(worker)

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(wait=True)


class _Worker:
    """A worker process, started on demand."""

    def __init__(self) -> None:
        self.is_preparing = False
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run a job and block until its result is available. Raises :class:`WorkerError` if the job fails."""
        self.is_preparing = self._process is None or not self._process.is_alive()
        if self.is_preparing:
            self._start()
        connection = self._connection
        assert connection is not None
        try:
            connection.send(job)
            while isinstance(message := connection.recv(), bool):
                self.is_preparing = message
            answer, failure = message
        except (EOFError, OSError):
            self.kill()
            raise WorkerError("the worker process ended") from None
        if failure is not None:
            raise WorkerError(failure)
        return dict(answer)

    def kill(self) -> None:
        """Kill the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, added_entries()), daemon=True)
        with interrupts_blocked():
            self._process.start()
        theirs.close()


class _CompilingListener(event.Listener):
    """Tells the server when the compilation of kernels begins and ends."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._depth = 0

    def on_start(self, _: event.Event) -> None:
        self._depth += 1
        if self._depth == 1:
            self._connection.send(True)

    def on_end(self, _: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._connection.send(False)


def _serve(connection: Connection, entries: tuple[Entry, ...]) -> None:
    """Process jobs until the connection to the server is closed."""
    with contextlib.suppress(OSError):
        os.nice(5)  # keeps the server responsive while all processors are busy
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from stoneworks.web.thinking import think

    add_entries(entries)
    event.register("numba:compile", _CompilingListener(connection))
    with contextlib.suppress(OSError):
        connection.send(False)
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[dict[str, Any] | None, str | None] = think(job), None
        except Exception:
            answer = None, traceback.format_exc()
        try:
            connection.send(answer)
        except OSError:
            return
