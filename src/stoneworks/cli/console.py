"""Consoles of commands, which print text as it is, and the progress bar on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

#: Called with a description, the completed amount, the total, and an optional note.
Show = Callable[..., None]


def console(*, stderr: bool = False) -> Console:
    """Return a console that takes nothing for markup: names, paths and tables may contain brackets."""
    return Console(stderr=stderr, markup=False, highlight=False)


@contextmanager
def progress_bar() -> Iterator[Show]:
    """Show a progress bar, and yield ``show(description, completed, total, note="")``.

    The bar appears with the first call, so an error before it is a single line.
    """
    before, after = (TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[note]}"))
    columns = before, BarColumn(), MofNCompleteColumn(), after, TimeElapsedColumn(), TimeRemainingColumn()
    progress = Progress(*columns, console=console(stderr=True))
    task = progress.add_task("", total=None, note="")

    def show(description: str, completed: int, total: int, note: str = "") -> None:
        progress.start()
        progress.update(task, description=description, completed=completed, total=total, note=note)

    try:
        yield show
    finally:
        if progress.live.is_started:  # else stop() writes an empty line
            progress.stop()
