"""The sections on metrics in the report of an AlphaZero run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stoneworks.text import percent
from stoneworks.training.runs.algorithms import ReportSection, Row
from stoneworks.training.runs.plots import latest_medians, metrics_plot


def report_sections(rows: Sequence[Row]) -> Iterator[ReportSection]:
    """Yield the sections (see :class:`~stoneworks.training.runs.algorithms.AlgorithmEntry`)."""
    policy = {"policy": "cross entropy", "policy_divergence": "without the search's entropy"}
    losses = {"policy loss, nats": policy, "value loss, nats": {"value": "cross entropy"}}
    yield "Losses", "", {"losses": metrics_plot(rows, "positions", losses)}
    results = {"results": {"draw_share": "draws", "first_player_score": "score of player 0"}}
    yield (
        "Games of self-play",
        "",
        {
            "lengths": metrics_plot(rows, "positions", {"actions": {"mean_length": "mean length"}}),
            "results": metrics_plot(rows, "positions", results, shares=True),
        },
    )
    names = ("games_per_second", "positions_per_second", "simulations_per_second", "search_share_of_self_play")
    number, (games, positions, simulations, share) = latest_medians(rows, *names)
    speeds = {
        "positions per second": {"positions_per_second": "positions"},
        "simulations per second": {"simulations_per_second": "simulations"},
    }
    shares = {"network_share": "network", "search_share": "search", "learning_share": "learning"}
    yield (
        "Speed",
        f"{games:,.1f} games, {positions:,.0f} positions and {simulations:,.0f} simulations per second, medians over the "
        f"latest {number} iterations. The search's own share of self-play: {percent(share)}.",
        {
            "speed": metrics_plot(rows, "positions", speeds),
            "time": metrics_plot(rows, "positions", {"time of all processes": shares}, shares=True),
        },
    )
