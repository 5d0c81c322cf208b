"""What a person sees while training goes on: a bar, the speed, and the score of the latest games."""

from __future__ import annotations

import os

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from stoneworks.training.config import PPOConfig
from stoneworks.training.ppo import TrainingResult, TrainingStatus, stop_on_signals, train


class _FramesColumn(ProgressColumn):
    """Frames so far, and frames a second."""

    def render(self, task: Task) -> Text:
        """Return the text."""
        return Text(f"{task.completed:,.0f} of {task.total:,.0f} frames, {task.fields['speed']:,.0f} a second")


def train_with_display(
    config: PPOConfig, folder: str | os.PathLike[str], *, resume: bool, console: Console | None = None
) -> TrainingResult:
    """Train, show how it goes, and stop cleanly at Ctrl-C (see :func:`stoneworks.training.ppo.train`)."""
    progress = Progress(
        TextColumn(config.game),
        BarColumn(),
        _FramesColumn(),
        TextColumn("{task.fields[scores]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
    with progress, stop_on_signals() as stop:
        task = progress.add_task("", total=config.frames, speed=0.0, scores="")

        def report(status: TrainingStatus) -> None:
            scores = ", ".join(
                f"{kind} {100 * score:.0f} %" for kind, score in status.scores.items() if kind in ("random", "greedy")
            )
            progress.update(
                task,
                completed=min(status.frames, status.total_frames),
                speed=status.frames_per_second,
                scores=f"score against {scores}" if scores else "",
            )
            if status.message:
                progress.console.print(status.message, highlight=False)

        return train(config, folder, resume=resume, report=report, stop=stop)
