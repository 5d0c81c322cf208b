"""Training with a display: a progress bar with the speed, messages above it, and a graceful stop on Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from stoneworks.training.runs.algorithms import RunConfig
from stoneworks.training.runs.config_files import load_config
from stoneworks.training.runs.report import write_report
from stoneworks.training.runs.run import OnMetrics, OnStatus, TrainingResult, TrainingStatus, train_run

#: The remaining time is estimated from the speed over this number of seconds.
_SPEED_SECONDS = 600.0


class _ProgressWithLines(Progress):
    """Progress bar with lines of text below it."""

    lines: Sequence[str] = ()

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the bar, then the lines."""
        yield from super().get_renderables()
        for line in self.lines:
            yield Text(line)


@contextmanager
def training_bar(total: int, unit: str, console: Console | None = None) -> Iterator[OnStatus]:
    """Yield a function that shows the status of a run in a progress bar, which appears with the first status.

    Args:
        total: total amount of training.
        unit: unit of this amount.
        console: console to print to; standard output by default.
    """
    amount = f"{{task.completed:,.0f}}/{{task.total:,.0f}} {unit}, {{task.fields[speed]:,.0f}}/s"
    columns = (
        BarColumn(bar_width=8),
        TextColumn(amount, markup=False),
        TextColumn("{task.fields[beside]}", markup=False),
    )
    progress = _ProgressWithLines(
        *columns, TimeRemainingColumn(), console=console, speed_estimate_period=_SPEED_SECONDS
    )
    task = progress.add_task("", total=total, speed=0.0, beside="")

    def show(status: TrainingStatus) -> None:
        progress.start()
        progress.lines = status.below
        progress.update(task, completed=min(status.done, total), speed=status.per_second, beside=status.beside)
        if status.message:
            progress.console.print(status.message, highlight=False, markup=False)

    try:
        yield show
    finally:
        if progress.live.is_started:  # else stop() writes an empty line
            progress.stop()


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Yield an event that is set by the first SIGINT or SIGTERM; a second one interrupts immediately.

    Only the main thread receives signals; in another one, the event stays unset.
    """
    stop = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.getsignal(number) for number in numbers}

    def set_stop(number: int, frame: object) -> None:
        stop.set()
        for signal_number, handler in before.items():
            signal.signal(signal_number, handler)

    for number in before:
        signal.signal(number, set_stop)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def train(
    config: str | os.PathLike[str] | RunConfig,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    console: Console | None = None,
    on_metrics: OnMetrics | None = None,
    **overrides: Any,
) -> TrainingResult:
    """Train an agent, show the progress in a terminal or notebook, and write the report of the run.

    The first Ctrl-C (in a notebook, "interrupt") saves a checkpoint and returns; ``resume=True`` continues.

    Args:
        config: name of a built-in configuration (see :func:`~stoneworks.training.config_names`), path of a YAML file, or a
            configuration.
        folder: the folder of the run: checkpoint, metrics, game records and ``report.md``.
        resume: whether to resume from the checkpoint in ``folder``; if there is none, a new run starts.
        console: console to print to; standard output by default.
        on_metrics: called with new metrics and match scores by name, and the completed amount of training; an exception that it
            raises ends the run.
        **overrides: values by key of the configuration, such as ``positions=10_000``; a key inside of a section of a named
            configuration or file is given as ``**{"network.channels": 32}``.

    Raises:
        ConfigError: the configuration or an override is invalid.
        CheckpointError, InUseError, MainGuardError, ValueError: see :func:`stoneworks.training.runs.run.train_run`.
    """
    loaded = config.replace(**overrides) if isinstance(config, RunConfig) else load_config(os.fspath(config), overrides)
    with training_bar(loaded.total, loaded.unit, console) as show, stop_on_signals() as stop:
        result = train_run(loaded, folder, resume=resume, on_status=show, on_metrics=on_metrics, stop=stop)
    write_report(folder)
    return result
