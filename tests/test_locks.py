"""Locks: one process at a time, refused by name, and free again however the process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stoneworks.locks import InUseError, lock_folder

HOLDER = """
import sys, time
from pathlib import Path
from stoneworks.locks import lock_folder
with lock_folder(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(600)
"""


def test_a_folder_in_use_is_refused_and_the_process_named_until_it_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(InUseError, match=rf"run is in use by process {holder.pid}"), lock_folder(folder):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait(30)
    with lock_folder(folder):
        assert folder.is_dir()


def test_a_lock_is_free_after_an_error(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyError), lock_folder(tmp_path):
            raise KeyError


def test_a_folder_is_locked_within_a_process_too(tmp_path: Path) -> None:
    with lock_folder(tmp_path), pytest.raises(InUseError, match=f"process {os.getpid()}"), lock_folder(tmp_path):
        pass
    with lock_folder(tmp_path):
        pass
