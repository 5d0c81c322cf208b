"""What a person sees while PPO trains: the speed, and the scores of the latest games against the bots."""

from __future__ import annotations

import os

from rich.console import Console

from stoneworks.training.ppo.config import PPOConfig
from stoneworks.training.ppo.run import TrainingResult, TrainingStatus, train
from stoneworks.training.runs.display import TrainingBar
from stoneworks.training.runs.interruption import stop_on_signals


def train_with_display(
    config: PPOConfig, folder: str | os.PathLike[str], *, resume: bool, console: Console | None = None
) -> TrainingResult:
    """Train, show how it goes, and stop cleanly at Ctrl-C (see :func:`stoneworks.training.ppo.run.train`)."""
    with TrainingBar(config.frames, "frames", console) as bar, stop_on_signals() as stop:

        def report(status: TrainingStatus) -> None:
            scores = ", ".join(
                f"{kind} {100 * score:.0f} %" for kind, score in status.scores.items() if kind in ("greedy", "random")
            )
            bar.show(status.frames, status.frames_per_second, beside=scores, message=status.message)

        return train(config, folder, resume=resume, report=report, stop=stop)
