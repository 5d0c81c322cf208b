"""Worker processes that end with their parent process and leave Ctrl-C to it."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

_SECONDS_TO_END = 5.0

#: Exit code of a process that would have started the program again (see :func:`check_main_guard`).
_NO_MAIN_GUARD = 81
_MAIN_GUARD = (
    "processes are started by a program without `if __name__ == '__main__':`. Every process imports the program, so put "
    "what starts processes, such as stoneworks.train(...) or play_arena(..., workers=2), below that line"
)


class MainGuardError(RuntimeError):
    """Raised if processes cannot start because the program does not guard its main part."""


def check_main_guard() -> None:
    """Exit this process if it is a worker that is still importing the program, which would start everything again."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        print(_MAIN_GUARD, file=sys.stderr)
        sys.exit(_NO_MAIN_GUARD)


def raise_for_main_guard(exit_codes: Iterable[int | None]) -> None:
    """Raise :class:`MainGuardError` if a process ended in :func:`check_main_guard`."""
    if _NO_MAIN_GUARD in exit_codes:
        raise MainGuardError(_MAIN_GUARD) from None


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

    Raises:
        MainGuardError: the program does not guard its main part.
        OSError: a process cannot be started.
    """
    check_main_guard()
    pool = ProcessPoolExecutor(number, multiprocessing.get_context("spawn"), initializer, arguments)
    processes = pool._processes
    try:
        try:
            with interrupts_blocked():
                for _ in range(number):  # each job starts a process unless one is idle
                    pool.submit(int)
            yield pool
        finally:
            _terminate(pool)
    except Exception:
        # After the end of the pool's thread: a process is seen to end before its exit code can be read.
        raise_for_main_guard(process.exitcode for process in processes.values())
        raise


def _terminate(pool: ProcessPoolExecutor) -> None:
    """End the processes of the pool, even if they are busy. Python 3.14 has ``pool.terminate_workers()``."""
    # All of them: one that is ended while it waits for a job keeps the lock for which the others wait.
    processes = list(pool._processes.values())
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
