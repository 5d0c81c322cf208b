"""The machine that a process runs on: its processors, threads and memory allocator."""

from __future__ import annotations

import ctypes
import math
import os
import platform
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path

# Parameters of mallopt(3).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
#: Maximum values that glibc accepts for blocks of its own, and that C accepts, in bytes.
_MAX_BLOCK, _MAX_FREE = 32 * 2**20, 2**31 - 1


@cache
def keep_freed_memory() -> bool:
    """Let glibc keep freed memory for the next tensors, for the whole process, and return whether it does.

    By default glibc returns the memory of most tensors to the system as soon as they are freed. The page faults of new tensors
    then take 30 to 40 % of the time of a small network. Other C libraries, and a process whose environment configures glibc's
    allocator (``MALLOC_...`` or ``GLIBC_TUNABLES``), are left as they are. Results do not depend on it.
    """
    if sys.platform != "linux" or any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _MAX_BLOCK) and mallopt(_M_TRIM_THRESHOLD, _MAX_FREE))


def num_processors() -> int:
    """Return the number of processors that this process may use, by its affinity and by the quota of its container."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return math.ceil(min(number, processor_quota()))


def processor_quota(of_process: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> float:
    """Return how many processors' time the control groups (cgroups) of this process may use; infinity without a limit.

    Args:
        of_process: the file that lists the groups, one a line: ``0::/path`` of version 2, ``4:cpu,cpuacct:/path`` of version 1.
        root: where the groups are mounted. In a container, that is often its own group, whatever the path says.
    """
    quota = math.inf
    try:
        lines = of_process.read_text(encoding="utf-8").splitlines()
    except OSError:  # not on Linux
        return quota
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if controllers and "cpu" not in controllers.split(","):
            continue
        for top in (root / controllers, root / "cpu") if controllers else (root,):
            group = top / path.lstrip("/")
            for folder in (top, *(parent for parent in (group, *group.parents) if top in parent.parents)):
                quota = min(quota, _quota_of(folder))
    return quota


def _quota_of(group: Path) -> float:
    """Return the quota of a control group itself."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            words = " ".join((group / name).read_text(encoding="utf-8") for name in names).split()
            microseconds, period = float(words[0]), float(words[1])
        except (OSError, ValueError, IndexError):  # no such file, or "max" for no limit
            continue
        if microseconds > 0 and period > 0:  # -1 means no limit
            return microseconds / period
    return math.inf


def processor_name() -> str:
    """Return the processor's name as the system gives it; on x86 also its family and model, as virtual machines shorten names."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if "model name" not in fields:
        return platform.processor() or platform.machine()
    family = f" (family {fields['cpu family']}, model {fields['model']})" if "cpu family" in fields else ""
    return fields["model name"] + family


def run_in_threads(functions: Sequence[Callable[[], object]], stop: threading.Event) -> None:
    """Call each function in a thread of its own, and wait for all of them.

    Args:
        functions: the functions, which return soon after ``stop`` is set.
        stop: set at the first exception, which is raised here, and by Ctrl-C.
    """
    with ThreadPoolExecutor(len(functions)) as threads:
        running = [threads.submit(function) for function in functions]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
    for done in running:
        done.result()
