"""A plugin for pytest that runs, for each mutant, the tests that reach it, in a fork of the process that has run them all once.

The fork has all compiled kernels, so most mutants are killed in a fraction of a second.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import gc
import json
import os
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pytest

from tools.mutation.switch import activate, take_reached

#: A mutant with which a test takes this many times the processor time as without it, and these seconds more, is killed: it loops.
_TIME_FACTOR, _EXTRA_SECONDS = 10, 1
#: A mutant whose tests take four times as long as without it and these seconds more, on the clock, is killed: it waits for ever.
_SECONDS_OF_WAITING = 20
#: A test that takes longer may have compiled kernels, and is run again to measure it.
_MAY_COMPILE_SECONDS = 0.3
#: Mutants this close to one another, in the order of the code, are likely to be killed by the same tests.
_NEAR = 8


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    parser.addoption("--mutation-folder", type=Path, required=True, help="where results are kept")
    parser.addoption("--mutation-workers", type=int, default=1, help="number of mutants tested at a time")
    parser.addoption("--mutation-seconds", type=float, required=True, help="bound on what tests of one mutant may take")
    parser.addoption("--mutation-count", type=int, required=True, help="number of mutants")


def pytest_configure(config: pytest.Config) -> None:
    """Let property tests try the same examples for every mutant, however slow the machine is, and stop at the first failure."""
    try:
        import hypothesis
    except ImportError:
        return
    phases = hypothesis.Phase.explicit, hypothesis.Phase.generate
    hypothesis.settings.register_profile("mutation", derandomize=True, deadline=None, database=None, phases=phases)
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
        self._failures = _Failures()
        session.config.pluginmanager.register(self._failures)
        self._items = {item.nodeid: item for item in session.items}
        self._max_seconds: float = session.config.getoption("--mutation-seconds")
        self._seconds: dict[str, float] = {}
        self._by_mutant: defaultdict[int, set[str]] = defaultdict(set)
        self._kills: Counter[tuple[int, str]] = Counter()

    def run_all(self) -> None:
        """Run all tests without a mutant, and note which mutants each reaches; those that fail are left out from then on.

        Nothing is kept that tests have made, but compiled kernels.
        """
        for item, following in _pairs([*self._items.values()]):
            _forget_values()
            take_reached()
            seconds = _run(item, following)
            for number in take_reached():
                self._by_mutant[number].add(item.nodeid)
            if seconds > _MAY_COMPILE_SECONDS:
                seconds = _run(item, following)
            self._seconds[item.nodeid] = seconds
        for test in self._failures.tests:
            print("fails without a mutant:", test, file=sys.stderr)
            del self._seconds[test]
        self._failures.tests.clear()

    def of_mutant(self, number: int) -> list[pytest.Item]:
        """Return the tests that can notice a mutant, the most promising first, of what would take too long only these.

        These are the tests that reach it, and after them the others of their files, which use the same fixtures.
        """
        reaching = self._by_mutant[number]
        files = {_file(test) for test in reaching}
        tests = [test for test in self._seconds if _file(test) in files]
        chosen, total = [], 0.0
        for test in sorted(tests, key=lambda test: (test in reaching, self._promise(number, test)), reverse=True):
            if total + self._seconds[test] <= self._max_seconds:
                chosen.append(self._items[test])
                total += self._seconds[test]
        return chosen

    def seconds(self, items: Sequence[pytest.Item]) -> float:
        """Return the seconds of processor time that tests took without a mutant."""
        return sum(self._seconds[item.nodeid] for item in items)

    def note_killed(self, number: int, test: str) -> None:
        """Note that a test killed a mutant."""
        self._kills[number // _NEAR, test] += 1
        self._kills[-1, test] += 1

    def _promise(self, number: int, test: str) -> float:
        kills = 10 * self._kills[number // _NEAR, test] + self._kills[-1, test]
        return (1 + kills) / (0.01 + self._seconds[test])

    def kills(self, number: int, items: Sequence[pytest.Item], killer: Path) -> int:
        """Return 1 as soon as a test fails with this mutant, else 0; the name of that test is written to a file."""
        _forget_values()
        activate(number)
        for item, following in _pairs(items):
            signal.setitimer(signal.ITIMER_PROF, _TIME_FACTOR * self._seconds[item.nodeid] + _EXTRA_SECONDS)
            _run(item, following)
            if self._failures.tests:
                killer.write_text(item.nodeid, encoding="utf-8")
                return 1
        return 0


def _file(test: str) -> str:
    return test.partition("::")[0]


def _pairs(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    return zip(items, [*items[1:], None], strict=True)


def _run(item: pytest.Item, following: pytest.Item | None) -> float:
    """Run a test, and return the processor time that this process and those that it has waited for took."""
    start = _processor_seconds()
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    return _processor_seconds() - start


def _processor_seconds() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _forget_values() -> None:
    """Empty the caches of the package whose size is bounded: they hold boards and schedules. The others hold kernels."""
    for name, module in list(sys.modules.items()):
        if name.startswith("stoneworks."):
            for value in vars(module).values():
                if isinstance(value, functools._lru_cache_wrapper) and value.cache_parameters()["maxsize"] is not None:
                    value.cache_clear()


class _Running(NamedTuple):
    mutant: int
    start: float
    limit_seconds: float
    killer: Path


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Test all mutants that have not been killed yet; results are appended to ``results.jsonl``, so this can be interrupted."""
    if session.testsfailed:
        raise session.Interrupted("a file of tests cannot be imported")
    option = session.config.getoption
    folder, workers = option("--mutation-folder"), option("--mutation-workers")
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    reporter._tw._file = open(os.devnull, "w")  # noqa: SIM115 - until the process ends
    tests = _Tests(session)
    tests.run_all()
    session.testsfailed = 0  # those that fail without a mutant are left out
    gc.collect()
    gc.freeze()  # memory that forks share
    results = folder / "results.jsonl"
    rows = map(json.loads, results.read_text().splitlines()) if results.exists() else ()
    done = {row["mutant"] for row in rows if row["outcome"] == "killed"}
    running: dict[int, _Running] = {}
    with results.open("a", encoding="utf-8") as stream:
        for number in _order(option("--mutation-count")):
            if number in done:
                continue
            items = tests.of_mutant(number)
            if not items:
                _note(stream, number, "not reached", "", 0.0)
                continue
            while len(running) >= workers:
                _collect(running, tests, stream)
            killer = folder / f"killer-{number}"
            limit = 4 * tests.seconds(items) + _SECONDS_OF_WAITING
            process = _fork(tests, number, items, killer)
            running[process] = _Running(number, time.perf_counter(), limit, killer)
        while running:
            _collect(running, tests, stream)
    return True


def _order(count: int) -> list[int]:
    """Return all numbers in a random order, always the same: what an interrupted run has done is a sample of all."""
    return random.Random(0).sample(range(count), count)


def _fork(tests: _Tests, number: int, items: Sequence[pytest.Item], killer: Path) -> int:
    """Run tests of a mutant in a fork of this process, in a process group of its own, and return the fork's number."""
    process = os.fork()
    if process:
        return process
    status = 70
    try:
        os.setpgid(0, 0)
        faulthandler.disable()
        status = tests.kills(number, items, killer)
    finally:
        os._exit(status)


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
        if test:
            tests.note_killed(mutant, test)
        _note(stream, mutant, outcome, test, seconds)
        del running[process]


def _note(stream: TextIO, mutant: int, outcome: str, test: str, seconds: float) -> None:
    result = {"mutant": mutant, "outcome": outcome, "test": test, "seconds": round(seconds, 2)}
    print(json.dumps(result), file=stream, flush=True)
