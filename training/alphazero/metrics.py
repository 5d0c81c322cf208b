"""The figures of a run: what they are called, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A figure that a run writes after each iteration.

    Attributes:
        tag: what TensorBoard calls it; empty where it is not shown there.
        meaning: what it says.
    """

    tag: str
    meaning: str


#: By their names in ``metrics.jsonl``.
METRICS = {
    "positions": Metric("", "positions learned from so far; the horizontal axis of all curves"),
    "total_positions": Metric("", "positions to learn from in all"),
    "games": Metric("progress/games", "games played so far"),
    "iterations": Metric("progress/iterations", "rounds of playing and learning so far"),
    "seconds": Metric(
        "progress/seconds",
        "time so far, in all sessions; what a killed one did after its last checkpoint does not count",
    ),
    "games_per_second": Metric("speed/games_per_second", "games that ended in the iteration, by its time"),
    "positions_per_second": Metric("speed/positions_per_second", "positions to learn from, likewise"),
    "simulations_per_second": Metric("speed/simulations_per_second", "simulations of all searches, likewise"),
    "mean_length": Metric("games/mean_length", "mean number of actions of those games, their random openings included"),
    "draw_share": Metric("games/draw_share", "their share of draws"),
    "first_player_score": Metric("games/first_player_score", "mean score of player 0 in them, a draw being half a win"),
    "network_share": Metric(
        "time/network_share", "the network's share of the time of all processes: evaluating positions for searches"
    ),
    "search_share": Metric("time/search_share", "the search's own share: trees, rules, playouts"),
    "learning_share": Metric(
        "time/learning_share", "the learner's share: gradient steps and handing out the new weights"
    ),
    "search_share_of_self_play": Metric(
        "time/search_share_of_self_play", "the search's own share of self-play alone, without the learner"
    ),
    "policy": Metric(
        "loss/policy",
        "cross entropy of the search's policy and the network's, in nats: never below the search's entropy",
    ),
    "policy_divergence": Metric(
        "loss/policy_divergence", "the same without the search's entropy: 0 where network and search agree"
    ),
    "value": Metric(
        "loss/value",
        "cross entropy of the result (win, draw, loss) and the network's prediction, in nats; ln 3 ≈ 1.10 is chance level",
    ),
    "gradient_norm": Metric("loss/gradient_norm", "length of the gradient before it is clipped"),
}


def tensorboard_scalars(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the figures that TensorBoard shows, by their tags."""
    return {METRICS[name].tag: value for name, value in figures.items() if name in METRICS and METRICS[name].tag}
