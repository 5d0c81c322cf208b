"""Worker processes that end with their parent process and leave Ctrl-C to it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator


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


def exit_with_parent() -> None:
    """Start a thread that exits this worker process when its parent ends, even if it is killed or this process is busy."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_exit, args=(parent,), daemon=True).start()


def _wait_and_exit(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
