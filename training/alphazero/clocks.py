"""Time and counts of self-play."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass
class Clocks:
    """Time and counts of self-play, summed over processes.

    Attributes:
        network_seconds: time in the network.
        search_seconds: time in the search, without the network.
        other_seconds: time in the rest of self-play.
        num_simulations: number of simulations.
        num_actions: number of actions chosen by a search.
    """

    network_seconds: float = 0.0
    search_seconds: float = 0.0
    other_seconds: float = 0.0
    num_simulations: int = 0
    num_actions: int = 0

    def add(self, other: Clocks) -> None:
        """Add the time and counts of ``other``."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))
