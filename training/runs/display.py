"""Progress display during training: a progress bar with the speed, and messages above it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from types import TracebackType

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from stoneworks.training.runs.algorithms import ALGORITHMS
from stoneworks.training.runs.config_files import RunConfig
from stoneworks.training.runs.interruption import stop_on_signals
from stoneworks.training.runs.report import write_report
from stoneworks.training.runs.status import TrainingResult, TrainingStatus

#: The remaining time is estimated from the speed over this number of seconds.
_SPEED_SECONDS = 600.0


class _AmountColumn(ProgressColumn):
    """Progress column with the completed amount, the total and the speed per second."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        super().__init__()

    def render(self, task: Task) -> Text:
        """Return the text."""
        done, total, speed = task.completed, task.total or 0, task.fields["speed"]
        return Text(f"{done:,.0f}/{total:,.0f} {self._unit}, {speed:,.0f}/s", no_wrap=True)


class _ProgressWithLines(Progress):
    """Progress bar with lines of text below it."""

    lines: Sequence[str] = ()

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the bar, then the lines."""
        yield from super().get_renderables()
        for line in self.lines:
            yield Text(line)


class TrainingBar:
    """Progress bar of a run. It appears with the first update and ends with the context."""

    def __init__(self, total: int, unit: str, console: Console | None = None) -> None:
        """Initialize the display.

        Args:
            total: total amount of training.
            unit: unit of this amount.
            console: console to print to; standard output by default.
        """
        self._total = total
        self._progress = _ProgressWithLines(
            BarColumn(bar_width=8),
            _AmountColumn(unit),
            TextColumn("{task.fields[beside]}", markup=False),
            TimeRemainingColumn(),
            console=console,
            speed_estimate_period=_SPEED_SECONDS,
        )
        self._task = self._progress.add_task("", total=total, speed=0.0, beside="")

    def __enter__(self) -> TrainingBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress.live.is_started:  # else stop() writes an empty line
            self._progress.stop()

    def show(self, done: int, speed: float, *, beside: str = "", below: Sequence[str] = (), message: str = "") -> None:
        """Update the display.

        Args:
            done: completed amount of training.
            speed: amount per second.
            beside: text beside the bar.
            below: lines below the bar.
            message: text to print above the bar; empty for none.
        """
        self._progress.start()
        self._progress.lines = below
        self._progress.update(self._task, completed=min(done, self._total), speed=speed, beside=beside)
        if message:
            self._progress.console.print(message, highlight=False, markup=False)


def train_with_display(
    config: RunConfig, folder: str | os.PathLike[str], *, resume: bool, console: Console | None = None
) -> TrainingResult:
    """Train with the configured algorithm, show progress, stop cleanly on Ctrl-C, and write the report of the run.

    See :func:`stoneworks.training.runs.run.train_run` and :func:`stoneworks.training.runs.report.write_report`.
    """
    entry = ALGORITHMS[config.algorithm]
    train, story = entry.load("train"), entry.run_story()
    with TrainingBar(getattr(config, entry.amount), entry.amount, console) as bar, stop_on_signals() as stop:

        def report(status: TrainingStatus) -> None:
            beside, below = story.lines(status)
            bar.show(status.done, status.per_second, beside=beside, below=below, message=status.message)

        result: TrainingResult = train(config, folder, resume=resume, report=report, stop=stop)
    write_report(folder)
    return result
