"""``RootStatistics``: visit counts, values and proven results of the actions at the root of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class RootStatistics:
    """Statistics of the root of a search, from the perspective of the player to move.

    Attributes:
        player: the player to move.
        actions: ``int64[num_legal]``, the legal actions in ascending order.
        visits: ``int64[num_legal]``, visit counts, including those of a reused tree.
        values: ``float64[num_legal]``, mean results in [-1, 1]; 0 for unvisited actions.
        proven: ``float64[num_legal]``, 1, 0 or -1 for a proven win, draw or loss; NaN if not proven.
    """

    player: int
    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    proven: npt.NDArray[np.float64]

    @property
    def result(self) -> float:
        """Proven result of the root: 1, 0 or -1 for a win, draw or loss; NaN if it is not proven."""
        if np.any(self.proven == 1):
            return 1.0
        return float(self.proven.max())  # NaN if any action has NaN

    @property
    def best(self) -> npt.NDArray[np.int64]:
        """Equally good best actions, ``int64[num_best]``.

        If the root is proven, the candidates are the actions with the best proven result, otherwise the actions that are not
        proven. If the selected candidate has a value <= 0 and proven draws exist, the candidates are the proven draws instead.
        The selection takes the most visited candidates and, among these, the ones of greatest value.
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
        """Return the mask of the most visited ``allowed`` actions (at least one), with ties broken by greatest value."""
        most = allowed & (self.visits == self.visits[allowed].max())
        return most & (self.values == self.values[most].max())

    @classmethod
    def sum_of(cls, parts: Sequence[RootStatistics]) -> RootStatistics:
        """Combine the statistics of several independent searches of the same position."""
        first = parts[0]
        visits = np.sum([part.visits for part in parts], axis=0)
        sums = np.sum([part.values * part.visits for part in parts], axis=0)
        proven = first.proven.copy()
        for part in parts[1:]:
            proven = np.where(np.isnan(proven), part.proven, proven)
        return cls(first.player, first.actions, visits, sums / np.maximum(visits, 1), proven)
