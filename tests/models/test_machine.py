from __future__ import annotations

import math
import os
import platform
from pathlib import Path

import pytest

from fresh_runs import run_python
from stoneworks.models import machine
from stoneworks.models.machine import keep_freed_memory, num_processors, processor_name, processor_quota

PROGRAM = """
import resource
import numpy as np
from stoneworks.models.machine import keep_freed_memory

def page_faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        arrays = [np.ones(3 * 2**20, np.uint8) for _ in range(3)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

page_faults()
without = page_faults()
print(keep_freed_memory(), without, page_faults(), page_faults())
"""


@pytest.fixture(autouse=True)
def default_allocator(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("MALLOC_", "GLIBC_TUNABLES")):
            monkeypatch.delenv(name)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these settings")
def test_freed_memory_is_used_again_without_page_faults() -> None:
    kept, without, _, with_it = run_python(PROGRAM).split()
    assert kept == "True"
    assert int(without) > 10_000
    assert int(with_it) < int(without) / 10


@pytest.mark.parametrize("name", ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_an_allocator_that_is_configured_is_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "2")
    keep_freed_memory.cache_clear()
    assert not keep_freed_memory()
    keep_freed_memory.cache_clear()


def test_processors_of_one_name_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = "cpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n"
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: fields)
    assert processor_name() == "AMD EPYC (family 25, model 1)"
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "CPU part\t: 0xd40\n")
    assert processor_name() == (platform.processor() or platform.machine())


@pytest.mark.parametrize(
    ("groups", "files", "quota"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/\n", {"cpu.max": "max 100000\n"}, math.inf),
        ("0::/a/b\n", {"a/cpu.max": "200000 100000\n", "a/b/cpu.max": "max 100000\n"}, 2),
        ("0::/host/path\n", {"cpu.max": "50000 100000\n"}, 0.5),  # in a container
        (
            "3:memory:/x\n4:cpu,cpuacct:/x\n",
            {"cpu,cpuacct/x/cpu.cfs_quota_us": "300000\n", "cpu,cpuacct/x/cpu.cfs_period_us": "100000\n"},
            3,
        ),
        ("4:cpu,cpuacct:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
        ("nonsense", {}, math.inf),
        ("0::/\n", {"cpu.max": "nonsense"}, math.inf),
    ],
)
def test_the_quota_of_a_container_counts(groups: str, files: dict[str, str], quota: float, tmp_path: Path) -> None:
    of_process = tmp_path / "cgroup"
    of_process.write_text(groups)
    for name, content in files.items():
        (tmp_path / "fs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "fs" / name).write_text(content)
    assert processor_quota(of_process, tmp_path / "fs") == quota
    assert processor_quota(tmp_path / "none", tmp_path) == math.inf


def test_there_are_at_most_as_many_processors_as_the_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    for quota, number in ((0.5, 1), (1.0, 1), (math.inf, len(os.sched_getaffinity(0)))):
        monkeypatch.setattr(machine, "processor_quota", lambda quota=quota: quota)
        assert num_processors() == number
