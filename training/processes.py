"""Worker processes that end with their parent process and leave Ctrl-C to it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator

#: Time that a worker process has to clean up before it is killed.
_SECONDS_TO_CLEAN_UP = 5.0


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


def clean_up_on_sigterm() -> None:
    """Handle SIGTERM in this worker process by ``SystemExit``, so that programs that it has started end with it."""
    signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _wait_and_exit(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    if signal.getsignal(signal.SIGTERM) is _exit:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_SECONDS_TO_CLEAN_UP)
    os._exit(1)
