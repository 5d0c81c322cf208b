"""Worker processes end when they are asked to."""

from __future__ import annotations

import signal
import subprocess
import sys

TERMINATED_IN_A_DESTRUCTOR = """
import os, signal
from stoneworks.processes import exit_with_parent

class Doomed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        print("still in the destructor", flush=True)

exit_with_parent(clean_up=lambda: print("cleaned up", flush=True))
Doomed()
print("still there", flush=True)
"""


def test_sigterm_in_a_destructor_is_not_lost() -> None:
    """An exception raised there is printed and ignored: an arena's worker went on after SIGTERM."""
    done = subprocess.run(
        [sys.executable, "-c", TERMINATED_IN_A_DESTRUCTOR], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("cleaned up\n", "", 128 + signal.SIGTERM)
