"""Texts on a PPO run for the display, the report and the model card."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stoneworks.text import percent
from stoneworks.training.runs.story import Plot, Row, RunStory, Section

if TYPE_CHECKING:
    from stoneworks.training.ppo.run import PPOStatus

#: Number of latest updates over which the speed is the median.
_LATEST_UPDATES = 20


def lines_of(status: PPOStatus) -> tuple[str, Sequence[str]]:
    """Return the text beside the progress bar and the lines below it."""
    shown = (
        f"{kind} {percent(score, digits=0)}" for kind, score in status.scores.items() if kind in ("greedy", "random")
    )
    return ", ".join(shown), ()


def _facts(training: Row) -> Mapping[str, str]:
    return {"updates": f"{training['updates']:,}"}


def _trained(training: Row) -> str:
    return f"in {training['updates']:,} updates"


def _speed(rows: Sequence[Row]) -> str:
    latest = [row["time/fps"] for row in rows[-_LATEST_UPDATES:] if "time/fps" in row]
    return f"{statistics.median(latest):,.0f} frames per second, the median over the latest {len(latest)} updates."


STORY = RunStory(
    title="PPO",
    lines=lines_of,
    facts=_facts,
    trained=_trained,
    sections=(
        Section(
            "Training games",
            [
                Plot(
                    "training-scores.png",
                    "Scores in training games",
                    [("score by opponent", {"score/*": ""})],
                    shares=True,
                ),
                Plot(
                    "lengths.png",
                    "Lengths of games",
                    [("actions of the learner", {"rollout/ep_len_mean": "mean length"})],
                ),
            ],
        ),
        Section(
            "Losses",
            [
                Plot(
                    "losses.png",
                    "Losses over frames",
                    [
                        ("value loss", {"train/value_loss": "mean squared error"}),
                        ("negative entropy of the policy, nats", {"train/entropy_loss": "negative entropy"}),
                        ("divergence of an update, nats", {"train/approx_kl": "approximate KL divergence"}),
                    ],
                )
            ],
        ),
        Section("Speed", [Plot("speed.png", "Speed", [("frames per second", {"time/fps": "frames"})])], words=_speed),
    ),
)
