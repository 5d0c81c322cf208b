"""The command ``stoneworks web``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def web(
    watched: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Game records, arenas and runs to watch; read only."),
    ] = None,
    data: Annotated[Path, typer.Option(help="The folder that the games of the page are kept in.")] = Path("games"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any that is free.")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen on. Anything but loopback lets others in.")
    ] = "127.0.0.1",
    allowed_hosts: Annotated[
        list[str] | None, typer.Option("--allow-host", help="Another name of this server; may be repeated.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes in which bots think.")] = None,
    thinking_seconds: Annotated[
        float, typer.Option(min=1, max=3600, help="The longest that a bot may think about one turn.")
    ] = 60.0,
) -> None:
    """Play, watch and analyze games in a browser. Ctrl-C ends the server; the games stay in the data folder."""
    from stoneworks.web.limits import Limits
    from stoneworks.web.server import serve

    serve(
        data,
        watched or [],
        host=host,
        port=port,
        allowed_hosts=allowed_hosts or [],
        num_workers=workers,
        limits=Limits(thinking_seconds=thinking_seconds),
        started=lambda address: print(f"the page is at {address} (Ctrl-C ends it)", flush=True),
    )
