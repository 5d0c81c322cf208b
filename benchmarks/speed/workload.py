"""Workloads and their measurement: in alternation over several rounds, so that ratios are robust on a noisy machine."""

from __future__ import annotations

import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pydantic import Field

from benchmarks.speed.example_games import is_available
from stoneworks.documents import Document

#: Function that does at least the given number of units of work and returns the number done.
Play = Callable[[int], int]


@dataclass
class Measured(ABC):
    """Base class of measured work with a rate.

    Attributes:
        name: name in the table.
        requires: required third-party modules, or ``HEX``.
        rates_per_second: one rate per measurement.
    """

    name: str
    requires: tuple[str, ...] = field(default=(), kw_only=True)
    rates_per_second: list[float] = field(default_factory=list, kw_only=True)

    def missing(self) -> list[str]:
        """Return the requirements that are not available."""
        return [requirement for requirement in self.requires if not is_available(requirement)]

    @abstractmethod
    def measure(self, seconds: float) -> None:
        """Work for about ``seconds``, or for one complete unit if the work is indivisible, and append the rate."""


@dataclass
class Workload(Measured):
    """Countable work that is measured in this process.

    Attributes:
        prepare: function that loads and compiles what the work needs and returns the function that does it. Called once.
        clock: function that returns seconds. The default is the CPU time of this process, summed over its threads, which for
            single-core work does not depend on the load of the machine. Multi-core work requires ``time.perf_counter``.
    """

    prepare: Callable[[], Play]
    clock: Callable[[], float] = field(default=time.process_time, kw_only=True)
    _play: Play | None = field(default=None, init=False)
    _units: int = field(default=0, init=False)

    def play(self, units: int) -> int:
        """Do at least ``units`` units of work and return how many were done."""
        if self._play is None:
            self._play = self.prepare()
        return self._play(units)

    def measure(self, seconds: float) -> None:
        """See :meth:`Measured.measure`. The first call also determines the number of units that take ``seconds``."""
        if not self._units:
            self.play(1)
            units = 1
            done, elapsed = self._timed(units)
            while elapsed < seconds / 4:
                units = max(2 * done, round(done * min(20, seconds / 3 / max(elapsed, 1e-6))))
                done, elapsed = self._timed(units)
            self._units = max(1, round(done * seconds / elapsed))
        done, elapsed = self._timed(self._units)
        self.rates_per_second.append(done / elapsed)

    def _timed(self, units: int) -> tuple[int, float]:
        start = self.clock()
        done = self.play(units)
        return done, self.clock() - start


class Spread(Document):
    """Median, minimum and maximum of several rates or ratios."""

    median: float = Field(gt=0)
    minimum: float = Field(gt=0)
    maximum: float = Field(gt=0)

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return the spread of one or more values."""
        values = list(values)
        return cls(median=statistics.median(values), minimum=min(values), maximum=max(values))


def measure_in_turns(
    workloads: Iterable[Measured], rounds: int, seconds: float, progress: Callable[[str], None]
) -> None:
    """Measure every workload once per round, for ``rounds`` rounds. ``progress`` is called with the current workload."""
    workloads = list(workloads)
    for round_number in range(rounds):
        for workload in workloads:
            progress(f"round {round_number + 1} of {rounds}: {workload.name}")
            workload.measure(seconds)


def ratio(one: Measured, other: Measured) -> Spread:
    """Return the spread of the ratio of two workloads' rates, computed per round."""
    return Spread.of(a / b for a, b in zip(one.rates_per_second, other.rates_per_second, strict=True))
