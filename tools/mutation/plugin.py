"""A plugin for pytest that runs, for each mutant, the tests that reach it, in a fork of the process that collected them."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import os
import random
import resource
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pytest

from tools.mutation.switch import activate, take_reached

#: A mutant whose tests take this many times the processor time as without it, and these seconds more, is killed: it loops.
_TIME_FACTOR, _EXTRA_SECONDS = 4, 20


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    parser.addoption("--mutation-folder", type=Path, required=True, help="where results are kept")
    parser.addoption("--mutation-workers", type=int, default=1, help="number of mutants tested at a time")
    parser.addoption("--mutation-seconds", type=float, required=True, help="bound on what tests of one mutant may take")
    parser.addoption("--mutation-count", type=int, required=True, help="number of mutants")


def pytest_configure(config: pytest.Config) -> None:
    """Let property tests try the same examples for every mutant, however slow the machine is."""
    try:
        import hypothesis
    except ImportError:
        return
    hypothesis.settings.register_profile("mutation", derandomize=True, deadline=None, database=None)
    hypothesis.settings.load_profile("mutation")


class _Failures:
    """The tests that failed so far."""

    def __init__(self) -> None:
        self.tests: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self.tests.add(report.nodeid)


class _Tests:
    """The collected tests, and what each reaches."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._failures = _Failures()
        session.config.pluginmanager.register(self._failures)
        self._folder: Path = session.config.getoption("--mutation-folder")
        self._items = {item.nodeid: item for item in session.items}
        self._max_seconds: float = session.config.getoption("--mutation-seconds")
        self._seconds: dict[str, float] = {}
        self.num_killed: Counter[str] = Counter()
        self._by_mutant: defaultdict[int, set[str]] = defaultdict(set)

    def find_reached(self, workers: int) -> None:
        """Run all tests without a mutant, and note which mutants each reaches; those that fail are left out from then on.

        Each file of tests runs in a fork of its own, in which nothing is cached that tests of other files have made.
        """
        folder = self._folder / "reached"
        folder.mkdir(exist_ok=True)
        files: defaultdict[str, list[pytest.Item]] = defaultdict(list)
        for item in self._items.values():
            files[_file(item.nodeid)].append(item)
        running = 0
        for name, items in files.items():
            part = folder / f"{name.replace('/', '-')}.jsonl"
            if not part.exists():
                if running == workers:
                    os.wait()
                    running -= 1
                _fork(functools.partial(self._note_reached, part, items))
                running += 1
        for _ in range(running):
            os.wait()
        for part in folder.glob("*.jsonl"):
            for line in part.read_text(encoding="utf-8").splitlines():
                test, seconds, failed, reached = json.loads(line)
                if not failed and test in self._items:
                    self._seconds[test] = seconds
                    for number in reached:
                        self._by_mutant[number].add(test)

    def _note_reached(self, part: Path, items: Sequence[pytest.Item]) -> int:
        unfinished = part.with_suffix(".unfinished")
        with unfinished.open("w", encoding="utf-8") as stream:
            for item, following in _pairs(items):
                take_reached()
                start = sum(os.times()[:4])
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                seconds = sum(os.times()[:4]) - start  # of the processor, as a busy machine takes longer
                failed = item.nodeid in self._failures.tests
                print(json.dumps([item.nodeid, seconds, failed, take_reached()]), file=stream, flush=True)
        unfinished.rename(part)
        return 0

    def of_mutant(self, number: int) -> tuple[list[pytest.Item], float]:
        """Return the tests that can notice a mutant, and their seconds: of what would take too long, the most promising.

        These are the tests that reach it, and after them the others of their files, which may use what those have cached.
        """
        reaching = self._by_mutant[number]
        files = {_file(test) for test in reaching}
        tests = [test for test in self._seconds if _file(test) in files]
        chosen, total = [], 0.0
        for test in sorted(tests, key=lambda test: (test in reaching, self._promise(test)), reverse=True):
            if total + self._seconds[test] <= self._max_seconds:
                chosen.append(self._items[test])
                total += self._seconds[test]
        return chosen, total

    def _promise(self, test: str) -> float:
        return (1 + self.num_killed[test]) / (0.05 + self._seconds[test])

    def kills(self, number: int, items: Sequence[pytest.Item], killer: Path) -> int:
        """Return 1 as soon as a test fails with this mutant, else 0; the name of that test is written to a file."""
        activate(number)
        for item, following in _pairs(items):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failures.tests:
                killer.write_text(item.nodeid, encoding="utf-8")
                return 1
        return 0


def _file(test: str) -> str:
    return test.partition("::")[0]


def _pairs(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    return zip(items, [*items[1:], None], strict=True)


def _fork(function: Callable[[], int], seconds: float | None = None) -> int:
    """Call a function in a fork of this process, in a process group of its own, and return the fork's number.

    With ``seconds``, the fork is killed when it has used so much processor time.
    """
    process = os.fork()
    if process:
        return process
    status = 70
    try:
        os.setpgid(0, 0)
        faulthandler.disable()
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        status = function()
    finally:
        os._exit(status)


class _Running(NamedTuple):
    mutant: int
    start: float
    limit_seconds: float
    killer: Path


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Test all mutants that have no result yet; results are appended to ``results.jsonl``, so this can be interrupted."""
    option = session.config.getoption
    folder, workers = option("--mutation-folder"), option("--mutation-workers")
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    reporter._tw._file = open(os.devnull, "w")  # noqa: SIM115 - until the process ends
    tests = _Tests(session)
    tests.find_reached(workers)
    results = folder / "results.jsonl"
    done = {json.loads(line)["mutant"] for line in results.read_text().splitlines()} if results.exists() else set()
    running: dict[int, _Running] = {}
    with results.open("a", encoding="utf-8") as stream:
        for number in _order(option("--mutation-count")):
            if number in done:
                continue
            items, seconds = tests.of_mutant(number)
            if not items:
                _note(stream, number, "not reached", "", 0.0)
                continue
            while len(running) >= workers:
                _collect(running, tests, stream)
            killer = folder / f"killer-{number}"
            limit = _TIME_FACTOR * seconds + _EXTRA_SECONDS
            process = _fork(functools.partial(tests.kills, number, items, killer), limit)
            running[process] = _Running(number, time.perf_counter(), 4 * limit, killer)
        while running:
            _collect(running, tests, stream)
    return True


def _order(count: int) -> list[int]:
    """Return all numbers in a random order, always the same: what an interrupted run has done is a sample of all."""
    return random.Random(0).sample(range(count), count)


def _collect(running: dict[int, _Running], tests: _Tests, stream: TextIO) -> None:
    """Wait for a moment, and note the results of the forks that have ended."""
    time.sleep(0.02)
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))  # how much slower a busy machine is
    for process, (mutant, start, limit_seconds, killer) in list(running.items()):
        seconds = time.perf_counter() - start
        ended, status = os.waitpid(process, os.WNOHANG)
        if not ended and seconds <= limit_seconds * crowd:
            continue
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)  # with what its tests have started
        if not ended:
            os.waitpid(process, 0)
        outcome = "survived" if ended and status == 0 else "killed"
        test = killer.read_text(encoding="utf-8") if killer.exists() else ""
        killer.unlink(missing_ok=True)
        tests.num_killed[test] += outcome == "killed"
        _note(stream, mutant, outcome, test, seconds)
        del running[process]


def _note(stream: TextIO, mutant: int, outcome: str, test: str, seconds: float) -> None:
    result = {"mutant": mutant, "outcome": outcome, "test": test, "seconds": round(seconds, 2)}
    print(json.dumps(result), file=stream, flush=True)
