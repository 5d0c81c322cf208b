"""The command ``stoneworks replay``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stoneworks.files import check_output_file


def replay(
    records: Annotated[Path, typer.Argument(help="A file of game records (JSON lines).")],
    html: Annotated[Path, typer.Option(help="The HTML file to write.")],
    games: Annotated[
        str | None, typer.Option(help="Numbers of the games, e.g. 3, 1-10 or 1,4,7-9 (default: the first 20).")
    ] = None,
) -> None:
    """Write replays of games to one self-contained HTML file."""
    from stoneworks.evaluation.records import read_records
    from stoneworks.web.html_replay import Replay, numbers_in

    check_output_file("html", html)
    if html.exists() and html.samefile(records):
        raise ValueError(f"html must be another file than the records, got {str(html)!r}")
    found = read_records(records)
    if not found:
        raise ValueError(f"{records} has no games")
    chosen = [found[number - 1] for number in numbers_in(games, len(found))] if games else found[:20]
    Replay(chosen).save(html)
    print(f"{html}: {len(chosen)} of {len(found)} games, {html.stat().st_size / 1000:.0f} kB")
