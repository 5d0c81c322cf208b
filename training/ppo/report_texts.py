"""Texts on a PPO run for the report and the model card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoneworks.training.runs.algorithms import Plot, ReportTexts, Row, Section, latest_medians


def _facts(training: Row) -> Mapping[str, str]:
    return {"updates": f"{training['updates']:,}"}


def _speed(rows: Sequence[Row]) -> str:
    number, (speed,) = latest_medians(rows, "frames_per_second")
    return f"{speed:,.0f} frames per second, the median over the latest {number} updates."


_SCORES = {"score by opponent": {"score/*": ""}}
_LENGTHS = {"actions of the learner": {"rollout/ep_len_mean": "mean length"}}
_LOSSES = {
    "value loss": {"train/value_loss": "mean squared error"},
    "negative entropy of the policy, nats": {"train/entropy_loss": "negative entropy"},
    "divergence of an update, nats": {"train/approx_kl": "approximate KL divergence"},
}
_SPEEDS = {"frames per second": {"frames_per_second": "frames"}}

_SCORES_PLOT = Plot("training-scores.png", "Scores in training games", _SCORES, shares=True)
_SECTIONS = (
    Section("Training games", [_SCORES_PLOT, Plot("lengths.png", "Lengths of games", _LENGTHS)]),
    Section("Losses", [Plot("losses.png", "Losses over frames", _LOSSES)]),
    Section("Speed", [Plot("speed.png", "Speed", _SPEEDS)], words=_speed),
)
TEXTS = ReportTexts(title="PPO", facts=_facts, sections=_SECTIONS)
