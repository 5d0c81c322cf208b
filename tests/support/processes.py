"""Processes that tests start, and waiting for what they do."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

#: The command line ``stoneworks``, as a process.
COMMAND = [sys.executable, "-m", "stoneworks"]
#: Both outputs of a process are read, as text.
PIPES: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
#: What running a command line gives: its exit code, and what it wrote to standard output and standard error.
Run = Callable[..., tuple[int, str, str]]

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks for processes where Linux lists them"
)


def is_alive(process: int) -> bool:
    """Return whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def interrupt(process: subprocess.Popen[str], number: int = signal.SIGINT, seconds: float = 600) -> tuple[str, str]:
    """Interrupt a command by a signal, check its exit status and that there is no traceback, and return its output and errors."""
    process.send_signal(number)
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    return out, err


def wait_for_the_next_second() -> None:
    """Wait, since TensorBoard reads files in the order of the seconds at which they were begun."""
    now = int(time.time())
    while int(time.time()) == now:
        time.sleep(0.01)


def wait_until(condition: Callable[[], bool], seconds: float = 600.0) -> bool:
    """Return whether a condition comes true in time."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
