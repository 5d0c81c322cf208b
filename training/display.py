"""What a person sees while training goes on: a bar, the speed, and the scores of the latest games against the bots."""

from __future__ import annotations

import os

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from stoneworks.training.interruption import stop_on_signals
from stoneworks.training.ppo import TrainingResult, TrainingStatus, train
from stoneworks.training.ppo_config import PPOConfig


class _FramesColumn(ProgressColumn):
    """Frames so far, and frames per second."""

    def render(self, task: Task) -> Text:
        """Return the text."""
        return Text(f"{task.completed:,.0f}/{task.total:,.0f} frames, {task.fields['speed']:,.0f}/s", no_wrap=True)


def train_with_display(
    config: PPOConfig, folder: str | os.PathLike[str], *, resume: bool, console: Console | None = None
) -> TrainingResult:
    """Train, show how it goes, and stop cleanly at Ctrl-C (see :func:`stoneworks.training.ppo.train`)."""
    progress = Progress(
        BarColumn(bar_width=8),
        _FramesColumn(),
        TextColumn("{task.fields[scores]}"),
        TimeRemainingColumn(),
        console=console,
    )
    task = progress.add_task("", total=config.frames, speed=0.0, scores="")
    with stop_on_signals() as stop:

        def report(status: TrainingStatus) -> None:
            progress.start()
            scores = ", ".join(
                f"{kind} {100 * score:.0f} %" for kind, score in status.scores.items() if kind in ("greedy", "random")
            )
            progress.update(
                task,
                completed=min(status.frames, status.total_frames),
                speed=status.frames_per_second,
                scores=scores,
            )
            if status.message:
                progress.console.print(status.message, highlight=False)

        try:
            return train(config, folder, resume=resume, report=report, stop=stop)
        finally:
            progress.stop()
