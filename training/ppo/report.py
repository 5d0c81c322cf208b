"""The sections on metrics in the report of a PPO run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stoneworks.training.runs.algorithms import ReportSection, Row
from stoneworks.training.runs.plots import latest_medians, metrics_plot


def report_sections(rows: Sequence[Row]) -> Iterator[ReportSection]:
    """Yield the sections (see :class:`~stoneworks.training.runs.algorithms.AlgorithmEntry`)."""
    opponents = sorted({name for row in rows for name in row if name.startswith("score/")})
    scores = {"score by opponent": {name: name.removeprefix("score/") for name in opponents}}
    lengths = {"actions of the learner": {"rollout/ep_len_mean": "mean length"}}
    yield (
        "Training games",
        "",
        {
            "training-scores": metrics_plot(rows, "frames", scores, shares=True),
            "lengths": metrics_plot(rows, "frames", lengths),
        },
    )
    losses = {
        "value loss": {"train/value_loss": "mean squared error"},
        "negative entropy of the policy, nats": {"train/entropy_loss": "negative entropy"},
        "divergence of an update, nats": {"train/approx_kl": "approximate KL divergence"},
    }
    yield "Losses", "", {"losses": metrics_plot(rows, "frames", losses)}
    number, (speed,) = latest_medians(rows, "frames_per_second")
    yield (
        "Speed",
        f"{speed:,.0f} frames per second, the median over the latest {number} updates.",
        {"speed": metrics_plot(rows, "frames", {"frames per second": {"frames_per_second": "frames"}})},
    )
