"""Graceful shutdown on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Yield an event that is set by the first SIGINT or SIGTERM; a second one interrupts immediately. Main thread only."""
    stop = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def set_stop(number: int, frame: object) -> None:
        stop.set()
        for signal_number, handler in before.items():
            signal.signal(signal_number, handler)

    for number in before:
        signal.signal(number, set_stop)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
