"""Worker processes that end with their parent process and leave Ctrl-C to it."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

_SECONDS_TO_END = 5.0


@contextlib.contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this thread until the end of the context, and in the processes that it starts for as long as they live.

    Ctrl-C reaches all processes of a terminal; the parent handles it and terminates its workers.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def process_pool(number: int, initializer: Callable[..., None], *arguments: Any) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of worker processes, which are terminated at the end of the context, even if they are busy.

    They are spawned, because a forked child of a multi-threaded process may deadlock.
    """
    pool = ProcessPoolExecutor(number, multiprocessing.get_context("spawn"), initializer, arguments)
    with interrupts_blocked():
        for _ in range(number):  # each job starts a process unless one is idle
            pool.submit(int)
    try:
        yield pool
    finally:
        # All of them: one that is ended while it waits for a job keeps the lock for which the others wait.
        processes = list(pool._processes.values())  # Python 3.14 has pool.terminate_workers()
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(_SECONDS_TO_END)
            process.kill()
        # The pool would wait for the rest of a result that a process was writing, as long as the pipe has this other end.
        pool._result_queue._writer.close()  # type: ignore[attr-defined]
        pool.shutdown(cancel_futures=True)


def exit_with_parent(clean_up: Callable[[], None] | None = None) -> None:
    """Start a thread that exits this worker process when its parent ends, even if it is killed or this process is busy.

    Args:
        clean_up: Called before the exit, and on SIGTERM, which then exits as well.
    """
    if clean_up is not None:
        signal.signal(signal.SIGTERM, functools.partial(_clean_up_and_exit, clean_up))
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_exit, args=(parent, clean_up), daemon=True).start()


def _clean_up_and_exit(clean_up: Callable[[], None], number: int, frame: object) -> None:
    # An exception would be ignored if the signal arrived in a destructor.
    clean_up()
    os._exit(128 + number)


def _wait_and_exit(parent: multiprocessing.process.BaseProcess, clean_up: Callable[[], None] | None) -> None:
    parent.join()
    if clean_up is not None:
        clean_up()
    os._exit(1)
