"""What a search says about the actions of its root: for those who draw it, learn from it, or choose by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class RootStatistics:
    """The statistics of a root, all for the player to move there. A bot makes one with each step.

    Attributes:
        player: the player to move.
        actions: ``int64[num_legal]``, the legal actions in ascending order.
        visits: ``int64[num_legal]``, the simulations that began with each, those of a tree carried over included.
        values: ``float64[num_legal]``, their mean results in [-1, 1]; 0 where there was none.
        proven: ``float64[num_legal]``, 1, 0 or -1 for an action that is proven to win, draw or lose; NaN where nothing is.
    """

    player: int
    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    proven: npt.NDArray[np.float64]

    @property
    def result(self) -> float:
        """1, 0 or -1 where the root is a proven win, draw or loss; NaN where it is not proven."""
        if np.any(self.proven == 1):
            return 1.0
        return float(self.proven.max())  # NaN, where one action has NaN

    @property
    def best(self) -> npt.NDArray[np.int64]:
        """The actions to choose from, all equally good.

        Where the root is proven, they are those that are proven best; else those that are not proven. But where the
        choice would fall on one whose value is not above 0, it is on those proven to draw, if there are such. Of all
        these it is the most visited ones, and of them the ones of greatest value.
        """
        result = self.result
        if not np.isnan(result):
            return self.actions[self._most_visited(self.proven == result)]
        best = self._most_visited(np.isnan(self.proven))
        draws = self.proven == 0
        if draws.any() and self.values[best].max() <= 0:
            best = self._most_visited(draws)
        return self.actions[best]

    def _most_visited(self, allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which of the ``allowed``, at least one, have most visits, and of these the greatest value."""
        most = allowed & (self.visits == self.visits[allowed].max())
        return most & (self.values == self.values[most].max())

    @classmethod
    def sum_of(cls, parts: Sequence[RootStatistics]) -> RootStatistics:
        """Return the statistics of several independent searches of one position together."""
        first = parts[0]
        visits = np.sum([part.visits for part in parts], axis=0)
        sums = np.sum([part.values * part.visits for part in parts], axis=0)
        proven = first.proven.copy()
        for part in parts[1:]:
            proven = np.where(np.isnan(proven), part.proven, proven)
        return cls(first.player, first.actions, visits, sums / np.maximum(visits, 1), proven)
