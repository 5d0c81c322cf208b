"""The command ``check``."""

from __future__ import annotations

from typing import Annotated

import typer


def check(
    game: Annotated[str, typer.Argument(help="Game string of a small board, such as 'hex(size=3)'.")],
    games: Annotated[int, typer.Option(min=1, help="Number of random games.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the games.")] = 0,
) -> None:
    """Check that a game keeps the contract of games: one line for each failure, with the position that shows it.

    Of a game that is your own, name its module with --import.
    """
    from stoneworks.envs.rules import check_game

    failures = check_game(game, num_games=games, seed=seed)
    print("\n".join(failures) or f"{game}: nothing found in {games} random games")
    if failures:
        raise typer.Exit(1)
