"""The command ``stoneworks web``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from stoneworks.cli.options import with_option_groups
from stoneworks.extras import require_extra


@dataclass(frozen=True)
class _AddressOptions:
    """The address of the server."""

    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 selects a free one.")] = 8000
    host: Annotated[
        str, typer.Option(help="Address to listen on. Any address except loopback gives others access.")
    ] = "127.0.0.1"
    allowed_hosts: Annotated[
        list[str] | None, typer.Option("--allow-host", help="Additional host name of this server; can be repeated.")
    ] = None
    root_path: Annotated[
        str, typer.Option(metavar="PREFIX", help="Prefix of all addresses behind a proxy, such as /games.")
    ] = ""


@with_option_groups
def web(
    address: _AddressOptions,
    watched: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Game records, arenas and runs to watch (read-only).")
    ] = None,
    data: Annotated[Path, typer.Option(help="Folder for the games played on the page.", file_okay=False)] = Path(
        "games"
    ),
    agents: Annotated[
        list[Path] | None, typer.Option(help="Folder whose checkpoints may be played, such as runs/; can be repeated.")
    ] = None,
    agent: Annotated[
        list[str] | None, typer.Option(metavar="NAME=BOT", help="Any other bot that may be played; can be repeated.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes for bots.")] = None,
    thinking_seconds: Annotated[
        float, typer.Option(min=1, max=3600, help="Maximum thinking time of a bot per turn, in seconds.")
    ] = 60.0,
) -> None:
    """Play, watch and analyze games in a browser. Ctrl-C stops the server; games are kept in the data folder."""
    with require_extra("web", "web pages"):
        from stoneworks.web.agents import Agents
        from stoneworks.web.app import Address, serve

    serve(
        data,
        watched or [],
        address=Address(address.host, address.port, tuple(address.allowed_hosts or ()), address.root_path),
        num_workers=workers,
        agents=Agents(thinking_seconds, agents or (), _bots_by_name(agent or ())),
        started=lambda url: print(f"the page is at {url} (press Ctrl-C to stop)", flush=True),
    )


def _bots_by_name(texts: Iterable[str]) -> dict[str, str]:
    bots: dict[str, str] = {}
    for text in texts:
        name, equals, bot = text.partition("=")
        if not (name and equals and bot):
            raise ValueError(f"agent must be a name and a bot such as 'mine=runs/first/checkpoint@64', got {text!r}")
        if name in bots:
            raise ValueError(f"agent must have a name of its own, got {text!r} after '{name}={bots[name]}'")
        bots[name] = bot
    return bots
