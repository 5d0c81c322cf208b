"""What a benchmark measures, and how: contestants take turns, several times over, so that their ratios hold on a noisy machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass
class Contestant:
    """Something that does countable work.

    Attributes:
        name: for people.
        play: does at least the given number of units of work and returns how many it did.
    """

    name: str
    play: Callable[[int], int]
    rates_per_second: list[float] = field(default_factory=list)
    _amount: int = 0

    def measure(self, seconds: float) -> None:
        """Work for about ``seconds`` and remember the rate; the first time, find out how much work that is."""
        if not self._amount:
            self.play(1)
            amount = 1
            while (elapsed := self._time(amount)) < seconds / 4:
                amount = max(2 * amount, round(amount * min(20, seconds / 3 / max(elapsed, 1e-6))))
            self._amount = max(1, round(amount * seconds / elapsed))
        start = time.perf_counter()
        done = self.play(self._amount)
        self.rates_per_second.append(done / (time.perf_counter() - start))

    def _time(self, amount: int) -> float:
        start = time.perf_counter()
        self.play(amount)
        return time.perf_counter() - start


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


def take_turns(contestants: Iterable[Contestant], rounds: int, seconds: float, tell: Callable[[str], None]) -> None:
    """Measure every contestant once a round, for ``rounds`` rounds. ``tell`` hears who is being measured."""
    contestants = list(contestants)
    for round_number in range(rounds):
        for contestant in contestants:
            tell(f"round {round_number + 1} of {rounds}: {contestant.name}")
            contestant.measure(seconds)


def ratio(one: Contestant, other: Contestant) -> Spread:
    """Return the spread of the ratios of two contestants' rates, round by round."""
    return Spread.of(a / b for a, b in zip(one.rates_per_second, other.rates_per_second, strict=True))
