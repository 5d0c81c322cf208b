"""Contestants and how they are measured: in turns, several times over, so that their ratios hold on a noisy machine."""

from __future__ import annotations

import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from stoneworks.training.bench.example_games import is_available

#: Do at least the given number of units of work, and return how many were done.
Play = Callable[[int], int]


@dataclass
class Measured(ABC):
    """Something with a rate.

    Attributes:
        name: what the table calls it.
        requires: the modules of other projects that it needs, and ``HEX``.
        rates_per_second: one for each time that it was measured.
    """

    name: str
    requires: tuple[str, ...] = field(default=(), kw_only=True)
    rates_per_second: list[float] = field(default_factory=list, kw_only=True)

    def missing(self) -> list[str]:
        """Return what it requires that is not there."""
        return [requirement for requirement in self.requires if not is_available(requirement)]

    @abstractmethod
    def measure(self, seconds: float) -> None:
        """Work for about ``seconds`` where the work can be divided, and append the rate."""


@dataclass
class Contestant(Measured):
    """Something that does countable work in this process.

    Attributes:
        prepare: load and compile what the work needs, and return the function that does it. Called once.
        clock: seconds, as a function. The default counts the CPU time of this process, all its threads together: work on one
            core takes the same CPU time whatever else the machine does. Work on several cores needs ``time.perf_counter``.
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
        """See :meth:`Measured.measure`. The first time finds out how much work takes that long."""
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
    """The median, the least and the greatest of several figures."""

    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> Spread:
        """Return the spread of at least one figure."""
        figures = list(figures)
        return cls(statistics.median(figures), min(figures), max(figures))


def take_turns(contestants: Iterable[Measured], rounds: int, seconds: float, tell: Callable[[str], None]) -> None:
    """Measure every contestant once a round, for ``rounds`` rounds. ``tell`` is called with what is being measured."""
    contestants = list(contestants)
    for round_number in range(rounds):
        for contestant in contestants:
            tell(f"round {round_number + 1} of {rounds}: {contestant.name}")
            contestant.measure(seconds)


def ratio(one: Measured, other: Measured) -> Spread:
    """Return the spread of the ratios of two contestants' rates, round by round."""
    return Spread.of(a / b for a, b in zip(one.rates_per_second, other.rates_per_second, strict=True))
