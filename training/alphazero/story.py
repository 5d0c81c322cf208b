"""Texts on an AlphaZero run for the display, the report and the model card."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stoneworks.text import percent
from stoneworks.training.runs.story import Plot, Row, RunStory, Section

if TYPE_CHECKING:
    from stoneworks.training.alphazero.run import AlphaZeroStatus

#: Number of latest iterations over which speeds are medians.
_LATEST_ITERATIONS = 20


def lines_of(status: AlphaZeroStatus) -> tuple[str, Sequence[str]]:
    """Return the text beside the progress bar and the lines below it."""
    lines = [
        f"{status.games_per_second:,.1f} games/s, {status.simulations_per_second:,.0f} simulations/s; "
        f"{status.games:,} games, the latest of {status.mean_length:.0f} actions, {percent(status.draw_share, digits=0)} drawn"
    ]
    losses = status.losses
    if losses is not None:
        lines.append(
            f"loss: policy {losses.policy:.3f} ({losses.policy_divergence:.3f} above the search's), "
            f"value {losses.value:.3f}"
        )
    shares = {"network": status.network_share, "search": status.search_share, "learning": status.learning_share}
    shares["other"] = max(0.0, 1 - sum(shares.values()))
    lines.append("time: " + ", ".join(f"{name} {percent(share, digits=0)}" for name, share in shares.items()))
    if status.cluster is not None:
        lines += status.cluster.lines()
    return "", lines


def _facts(training: Row) -> Mapping[str, str]:
    return {"games": f"{training['games']:,}", "gradient steps": f"{training['gradient_steps']:,}"}


def _trained(training: Row) -> str:
    return f"from {training['games']:,} games, {training['gradient_steps']:,} gradient steps"


def _median(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return statistics.median(row[name] for row in rows)


def _speed(rows: Sequence[Row]) -> str:
    latest = rows[-_LATEST_ITERATIONS:]
    return (
        f"{_median(latest, 'games_per_second'):,.1f} games, {_median(latest, 'positions_per_second'):,.0f} positions and "
        f"{_median(latest, 'simulations_per_second'):,.0f} simulations per second, medians over the latest {len(latest)} "
        f"iterations. The search's own share of self-play: {percent(_median(latest, 'search_share_of_self_play'))}."
    )


_RESULTS = {"draw_share": "draws", "first_player_score": "score of player 0"}
_TIMES = {"network_share": "network", "search_share": "search", "learning_share": "learning"}

STORY = RunStory(
    title="AlphaZero",
    lines=lines_of,
    facts=_facts,
    trained=_trained,
    sections=(
        Section(
            "Losses",
            [
                Plot(
                    "losses.png",
                    "Losses over positions",
                    [
                        (
                            "policy loss, nats",
                            {"policy": "cross entropy", "policy_divergence": "without the search's entropy"},
                        ),
                        ("value loss, nats", {"value": "cross entropy"}),
                    ],
                )
            ],
        ),
        Section(
            "Games of self-play",
            [
                Plot("lengths.png", "Lengths of games", [("actions", {"mean_length": "mean length"})]),
                Plot("results.png", "Draws and scores of player 0", [("results", _RESULTS)], shares=True),
            ],
        ),
        Section(
            "Speed",
            [
                Plot(
                    "speed.png",
                    "Speed",
                    [
                        ("positions per second", {"positions_per_second": "positions"}),
                        ("simulations per second", {"simulations_per_second": "simulations"}),
                    ],
                ),
                Plot("time.png", "Shares of time", [("time of all processes", _TIMES)], shares=True),
            ],
            words=_speed,
        ),
    ),
)
