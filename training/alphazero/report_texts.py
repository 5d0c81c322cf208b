"""Texts on an AlphaZero run for the report and the model card."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from stoneworks.text import percent
from stoneworks.training.runs.algorithms import Plot, ReportTexts, Row, Section

#: Number of latest iterations over which speeds are medians.
_LATEST_ITERATIONS = 20


def _facts(training: Row) -> Mapping[str, str]:
    return {"games": f"{training['games']:,}", "gradient steps": f"{training['gradient_steps']:,}"}


def _median(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return statistics.median(row[name] for row in rows)


def _speed(rows: Sequence[Row]) -> str:
    latest = rows[-_LATEST_ITERATIONS:]
    return (
        f"{_median(latest, 'games_per_second'):,.1f} games, {_median(latest, 'positions_per_second'):,.0f} positions and "
        f"{_median(latest, 'simulations_per_second'):,.0f} simulations per second, medians over the latest {len(latest)} "
        f"iterations. The search's own share of self-play: {percent(_median(latest, 'search_share_of_self_play'))}."
    )


_LOSSES = {
    "policy loss, nats": {"policy": "cross entropy", "policy_divergence": "without the search's entropy"},
    "value loss, nats": {"value": "cross entropy"},
}
_LENGTHS = {"actions": {"mean_length": "mean length"}}
_RESULTS = {"results": {"draw_share": "draws", "first_player_score": "score of player 0"}}
_SPEEDS = {
    "positions per second": {"positions_per_second": "positions"},
    "simulations per second": {"simulations_per_second": "simulations"},
}
_TIMES = {"time of all processes": {"network_share": "network", "search_share": "search", "learning_share": "learning"}}

TEXTS = ReportTexts(
    title="AlphaZero",
    facts=_facts,
    sections=(
        Section("Losses", [Plot("losses.png", "Losses over positions", _LOSSES)]),
        Section(
            "Games of self-play",
            [
                Plot("lengths.png", "Lengths of games", _LENGTHS),
                Plot("results.png", "Draws and scores of player 0", _RESULTS, shares=True),
            ],
        ),
        Section(
            "Speed",
            [Plot("speed.png", "Speed", _SPEEDS), Plot("time.png", "Shares of time", _TIMES, shares=True)],
            words=_speed,
        ),
    ),
)
