"""Command line of the speed benchmarks: ``python -m benchmarks.speed --help``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from stoneworks.cli.main import run
from stoneworks.files import check_output_file

#: Width of the table if the output is not a terminal: enough for every row on one line.
WIDTH_OF_FILES = 240


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def speed(
    rounds: Annotated[int, typer.Option(min=1, help="Number of rounds; medians and spreads are over the rounds.")] = 5,
    seconds: Annotated[float, typer.Option(min=0.01, help="Approximate time per measurement.")] = 0.5,
    only: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="Measure only rows that match this regular expression.")
    ] = None,
    training: Annotated[
        bool, typer.Option(help="Also measure training and self-play with a network, which take minutes per round.")
    ] = True,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the results to a JSON file.")
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="OLD.json", help="Mark rows that are slower than in an earlier --json file, beyond the spread."
        ),
    ] = None,
) -> None:
    """Measure speed relative to other environments and engines in the same run.

    OpenSpiel, pgx and mctx are included if they are installed (the extra bench).
    """
    from benchmarks.speed.report import load_report, run_bench, save_report, table_of

    if json is not None:
        check_output_file("json", json)
    earlier = None if compare is None else load_report(compare)
    with Console(stderr=True).status("measuring") as status:
        report = run_bench(rounds=rounds, seconds=seconds, only=only, with_training=training, progress=status.update)
    width = None if sys.stdout.isatty() else WIDTH_OF_FILES
    Console(width=width, markup=False, highlight=False).print(table_of(report, earlier))
    if json is not None:
        save_report(report, json)


if __name__ == "__main__":
    run(app)
