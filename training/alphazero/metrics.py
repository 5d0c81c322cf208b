"""Names and descriptions of the metrics of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A metric that is logged after each iteration.

    Attributes:
        tag: TensorBoard tag; empty if the metric is not shown in TensorBoard.
        meaning: description of the metric.
    """

    tag: str
    meaning: str


#: Metrics by name in ``metrics.jsonl``.
METRICS = {
    "positions": Metric("", "training positions so far; the horizontal axis of all curves"),
    "total_positions": Metric("", "total number of training positions of the run"),
    "games": Metric("progress/games", "games played so far"),
    "iterations": Metric("progress/iterations", "iterations of self-play and learning so far"),
    "seconds": Metric(
        "progress/seconds",
        "time so far over all sessions, without progress lost when a run was killed",
    ),
    "games_per_second": Metric("speed/games_per_second", "games finished in the iteration, per second"),
    "positions_per_second": Metric("speed/positions_per_second", "training positions per second"),
    "simulations_per_second": Metric("speed/simulations_per_second", "simulations of all searches per second"),
    "mean_length": Metric("games/mean_length", "mean number of actions per game, including random openings"),
    "draw_share": Metric("games/draw_share", "share of draws"),
    "first_player_score": Metric("games/first_player_score", "mean score of player 0; a draw counts as half a win"),
    "network_share": Metric(
        "time/network_share", "share of the total process time spent in the network, evaluating positions for searches"
    ),
    "search_share": Metric("time/search_share", "share of the search itself: trees, rules, playouts"),
    "learning_share": Metric(
        "time/learning_share", "share of the learner: gradient steps and distribution of new weights"
    ),
    "search_share_of_self_play": Metric(
        "time/search_share_of_self_play", "share of the search itself in self-play, without the learner"
    ),
    "policy": Metric(
        "loss/policy",
        "cross entropy between the policies of search and network, in nats; its minimum is the entropy of the search policy",
    ),
    "policy_divergence": Metric(
        "loss/policy_divergence", "the same minus the entropy of the search policy: 0 if network and search agree"
    ),
    "value": Metric(
        "loss/value",
        "cross entropy between the result (win, draw, loss) and the network's prediction, in nats; ln 3 ≈ 1.10 is chance level",
    ),
    "final_board": Metric(
        "loss/final_board",
        "cross entropy between the owners of the cells at the end and the network's prediction, in nats; 0 without "
        "`learner.final_board_weight`",
    ),
    "gradient_norm": Metric("loss/gradient_norm", "norm of the gradient before clipping"),
}


def tensorboard_scalars(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics shown in TensorBoard, by tag."""
    return {METRICS[name].tag: value for name, value in figures.items() if name in METRICS and METRICS[name].tag}
