"""What a search says about the actions of its root: for those who draw it, learn from it, or choose by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class RootStatistics:
    """The statistics of a root, all for the player to act there. A bot makes one with each step.

    Attributes:
        player: the player to act.
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

        Those that are proven best where the root is proven, else those that are not proven to lose; of these the most
        visited; of these the ones of greatest value.
        """
        result = self.result
        allowed = self.proven != -1 if np.isnan(result) else self.proven == result
        allowed &= self.visits == self.visits[allowed].max()
        allowed &= self.values == self.values[allowed].max()
        return self.actions[allowed]

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
