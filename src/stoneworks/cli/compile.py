"""The command ``compile``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table


def compile_command(
    games: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GAME", help="Game strings, such as 'vadus(size=11)' (default: all games at their default sizes)."
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Number of processes (default: one per processor).")
    ] = None,
) -> None:
    """Compile the kernels of games ahead of time, for container images and CI.

    Boards of similar sizes share their kernels. Kernels are stored in the cache folder (STONEWORKS_CACHE_DIR).
    """
    from stoneworks.cli.console import console, progress_bar
    from stoneworks.envs.rules import game_names, load_game
    from stoneworks.envs.rules.compiler.kernel_cache import cache_folder
    from stoneworks.models.compiling import compile_games

    loaded = [load_game(game) for game in games or game_names()]
    with progress_bar() as show:
        results = compile_games(
            loaded,
            num_processes=processes,
            progress=lambda one, done, total: show(f"{one.game}: {one.part}", done, total),
        )
    table = Table("game", "kernels for", "CPU seconds")
    for result in sorted(results, key=lambda result: (result.game, -result.seconds)):
        table.add_row(result.game, result.part, f"{result.seconds:.1f}")
    console().print(table)
    print(f"the kernels are kept in {cache_folder() or 'memory only: no folder can be written'}")
