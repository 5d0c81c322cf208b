"""Texts on an AlphaZero run for the report and the model card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoneworks.text import percent
from stoneworks.training.runs.algorithms import Plot, ReportTexts, Row, Section, latest_medians


def _facts(training: Row) -> Mapping[str, str]:
    return {"games": f"{training['games']:,}", "gradient steps": f"{training['gradient_steps']:,}"}


def _speed(rows: Sequence[Row]) -> str:
    speeds = ("games_per_second", "positions_per_second", "simulations_per_second")
    number, (games, positions, simulations, share) = latest_medians(rows, *speeds, "search_share_of_self_play")
    return (
        f"{games:,.1f} games, {positions:,.0f} positions and {simulations:,.0f} simulations per second, medians over the "
        f"latest {number} iterations. The search's own share of self-play: {percent(share)}."
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

_RESULTS_PLOT = Plot("results.png", "Draws and scores of player 0", _RESULTS, shares=True)
_SPEED_PLOTS = Plot("speed.png", "Speed", _SPEEDS), Plot("time.png", "Shares of time", _TIMES, shares=True)
_SECTIONS = (
    Section("Losses", [Plot("losses.png", "Losses over positions", _LOSSES)]),
    Section("Games of self-play", [Plot("lengths.png", "Lengths of games", _LENGTHS), _RESULTS_PLOT]),
    Section("Speed", _SPEED_PLOTS, words=_speed),
)
TEXTS = ReportTexts(title="AlphaZero", facts=_facts, sections=_SECTIONS)
