"""Contestants and their measurement: in alternation over several rounds, so that ratios are robust on a noisy machine."""

from __future__ import annotations

import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from benchmarks.speed.example_games import is_available

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
class Contestant(Measured):
    """Countable work that is measured in this process.

    Attributes:
        prepare: function that loads and compiles what the work needs and returns the function that does it. Called once.
        clock: function that returns seconds. The default is the CPU time of this process, summed over its threads, which for
            single-core work does not depend on the load of the machine. Multi-core work requires ``time.perf_counter``.
    """

    prepare: Callable[[], Play]
    clock: Callable[[], float] = field(default=time.process_time, kw_only=True)
    _play: Play | None = field(default=None, init=False)
    _amount: int = field(default=0, init=False)

    def play(self, amount: int) -> int:
        """Do at least ``amount`` units of work and return how many were done."""
        if self._play is None:
            self._play = self.prepare()
        return self._play(amount)

    def measure(self, seconds: float) -> None:
        """See :meth:`Measured.measure`. The first call also determines the amount of work that takes ``seconds``."""
        if not self._amount:
            self.play(1)
            amount = 1
            done, elapsed = self._timed(amount)
            while elapsed < seconds / 4:
                amount = max(2 * done, round(done * min(20, seconds / 3 / max(elapsed, 1e-6))))
                done, elapsed = self._timed(amount)
            self._amount = max(1, round(done * seconds / elapsed))
        done, elapsed = self._timed(self._amount)
        self.rates_per_second.append(done / elapsed)

    def _timed(self, amount: int) -> tuple[int, float]:
        start = self.clock()
        done = self.play(amount)
        return done, self.clock() - start


@dataclass(frozen=True)
class Spread:
    """Median, minimum and maximum of several values."""

    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> Spread:
        """Return the spread of one or more values."""
        figures = list(figures)
        return cls(statistics.median(figures), min(figures), max(figures))


def take_turns(contestants: Iterable[Measured], rounds: int, seconds: float, tell: Callable[[str], None]) -> None:
    """Measure every contestant once per round, for ``rounds`` rounds. ``tell`` is called with the current contestant."""
    contestants = list(contestants)
    for round_number in range(rounds):
        for contestant in contestants:
            tell(f"round {round_number + 1} of {rounds}: {contestant.name}")
            contestant.measure(seconds)


def ratio(one: Measured, other: Measured) -> Spread:
    """Return the spread of the ratio of two contestants' rates, computed per round."""
    return Spread.of(a / b for a, b in zip(one.rates_per_second, other.rates_per_second, strict=True))
