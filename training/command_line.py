"""The command line ``stoneworks``. Each command is thin: it reads its arguments and calls the library."""

from __future__ import annotations

import sys

import typer
from rich.console import Console
from rich.table import Table

from stoneworks.envs.rules import game_names, load_game

app = typer.Typer(
    name="stoneworks",
    help="Five new board games for reinforcement learning: play, train, evaluate, measure.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def stoneworks() -> None:
    """Five new board games for reinforcement learning: play, train, evaluate, measure."""


@app.command()
def games() -> None:
    """List the games with their options and their number of actions."""
    table = Table("game", "options and defaults", "actions", "observation")
    for name in game_names():
        game = load_game(name)
        options = ", ".join(f"{option}={value!r}" for option, value in game.options.items())
        table.add_row(name, options, str(game.num_distinct_actions()), " x ".join(map(str, game.observation_tensor_shape())))
    Console().print(table)


def main() -> None:
    """Run the command line. Bad input is one line on standard error and exit code 2; an interruption is exit code 130."""
    try:
        app(standalone_mode=True)
    except KeyboardInterrupt:
        print("stoneworks: interrupted", file=sys.stderr)
        sys.exit(130)
    except (ValueError, OSError) as error:
        print(f"stoneworks: {error}", file=sys.stderr)
        sys.exit(2)
