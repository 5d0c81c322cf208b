"""The status of self-play on a cluster: for the display, ``metrics.jsonl`` and TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

#: Nodes that the display names.
_NODES_SHOWN = 4


@dataclass(frozen=True)
class ClusterStatus:
    """Status of self-play on a cluster. Rates and staleness are those of the latest iteration.

    Attributes:
        nodes: number of nodes with actors.
        actors: number of actors.
        queued_positions: number of positions that wait for the learner.
        outstanding_batches: number of calls to actors that have not been answered.
        weights_behind: mean number of updates between the weights that played a game and the latest, over games.
        max_weights_behind: maximum of this number.
        restarts: number of actors that were started again so far in this session.
        lost_batches: number of batches that were lost with actors and nodes so far in this session.
        games_per_second_by_node: games per second by node name.
    """

    nodes: int
    actors: int
    queued_positions: int
    outstanding_batches: int
    weights_behind: float
    max_weights_behind: int
    restarts: int
    lost_batches: int
    games_per_second_by_node: Mapping[str, float]

    def lines(self) -> Sequence[str]:
        """Return the lines of the display."""
        rates = sorted(self.games_per_second_by_node.items(), key=lambda item: -item[1])
        shown = ", ".join(f"{name} {rate:,.1f}" for name, rate in rates[:_NODES_SHOWN])
        more = f" and {len(rates) - _NODES_SHOWN} more" if len(rates) > _NODES_SHOWN else ""
        return (
            f"cluster: {self.nodes} nodes, {self.actors} actors; {self.queued_positions:,} positions queued, "
            f"{self.outstanding_batches} batches outstanding; weights {self.weights_behind:.1f} updates behind "
            f"(at most {self.max_weights_behind})",
            f"games/s by node: {shown or 'none'}{more}",
        )

    def scalars(self) -> dict[str, float]:
        """Return the metrics shown in TensorBoard, by tag."""
        figures = asdict(self)
        by_node = figures.pop("games_per_second_by_node")
        figures |= {f"games_per_second/{name}": rate for name, rate in by_node.items()}
        return {f"cluster/{name}": value for name, value in figures.items()}
