"""Locks: one process at a time, refused by name, and free again however the process ends; and that workers end."""

from __future__ import annotations

import multiprocessing.context
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stoneworks.locks import InUseError, is_in_use, lock_file, lock_folder
from stoneworks.processes import MainGuardError, exit_with_parent, process_pool

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
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(InUseError, match="run is in use by another process"), lock_folder(folder):
            pass
        assert is_in_use(folder)
        holder.send_signal(signal.SIGKILL)
        holder.wait(600)
    assert not is_in_use(folder)
    with lock_folder(folder):
        assert is_in_use(folder)
    assert not is_in_use(folder / "new")


def test_a_new_folder_in_which_nothing_was_written_is_removed_and_a_new_file_locked(tmp_path: Path) -> None:
    with pytest.raises(KeyError), lock_folder(tmp_path / "runs" / "new"):
        raise KeyError
    assert not any(tmp_path.iterdir())
    with lock_folder(tmp_path / "runs" / "new"):
        (tmp_path / "runs" / "config.yaml").touch()
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["config.yaml"]
    with lock_folder(tmp_path / "new"):
        (tmp_path / "new" / "config.yaml").touch()
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        with lock_folder(tmp_path / name):
            pass
    assert (tmp_path / "new" / "config.yaml").exists()
    assert (tmp_path / "empty").is_dir()
    for file in (tmp_path / "new" / "config.yaml", tmp_path / "new" / "config.yaml" / "below"):
        with pytest.raises(ValueError, match="folder must be"), lock_folder(file):
            pass
    file, other = tmp_path / "a.json", tmp_path / "b.json"
    refused = pytest.raises(InUseError, match=r"a\.json is in use by another process")
    for _ in range(2):
        with refused, lock_file(file), lock_file(other), lock_file(file):
            pass
    assert not file.exists()
    assert not list(tmp_path.glob(".*.lock"))


def test_a_look_at_a_lock_does_not_refuse_it(tmp_path: Path) -> None:
    with lock_folder(tmp_path):
        pass
    stop = threading.Event()
    looking = threading.Thread(target=lambda: [is_in_use(tmp_path) for _ in iter(stop.is_set, True)])
    looking.start()
    for _ in range(20):
        with lock_folder(tmp_path):
            pass
    stop.set()
    looking.join()
    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(is_in_use, [tmp_path] * 400)), "looks do not see each other"


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


@pytest.mark.parametrize("num_started", [0, 1])
def test_a_pool_whose_processes_cannot_start_leaves_none(monkeypatch: pytest.MonkeyPatch, num_started: int) -> None:
    start, started = multiprocessing.context.SpawnProcess.start, []

    def start_some(process: multiprocessing.context.SpawnProcess) -> None:
        if len(started) == num_started:
            raise BlockingIOError(11, "too many processes")
        started.append(process)
        start(process)

    monkeypatch.setattr(multiprocessing.context.SpawnProcess, "start", start_some)
    with pytest.raises(BlockingIOError, match="too many"), process_pool(2, exit_with_parent):
        pass
    assert [process.is_alive() for process in started] == [False] * num_started


def test_a_pool_ends_its_processes_whether_they_are_busy_send_a_result_or_wait() -> None:
    with process_pool(2, exit_with_parent) as pool:
        busy = [pool.submit(time.sleep, 3600) for _ in range(2)]
        while not all(job.running() for job in busy) or len(pool._processes) < 2:
            time.sleep(0.01)
        processes = list(pool._processes.values())
    assert not any(process.is_alive() for process in processes)
    with process_pool(2, exit_with_parent) as pool:
        pool.submit(bytes, 300_000_000)
        while not pool._result_queue._reader.poll():
            pass
    for _ in range(3):
        with process_pool(3, exit_with_parent) as pool:
            assert list(pool.map(abs, range(6))) == list(range(6))


WITHOUT_MAIN_GUARD_SLOWLY = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.closerange(3, 1000)  # its parent takes it to have ended
time.sleep(1)
os._exit(81)
"""


def test_a_missing_main_guard_is_told_of_even_if_processes_end_slowly() -> None:
    with pytest.raises(MainGuardError), process_pool(1, int) as pool:
        pool.submit(exec, WITHOUT_MAIN_GUARD_SLOWLY).result()
