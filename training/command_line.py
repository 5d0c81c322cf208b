"""The command line ``stoneworks``. Each command is thin: it reads its arguments and calls the library."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

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


@app.command()
def train(
    config: Annotated[str, typer.Argument(help="A configuration that comes with stoneworks, such as vadus-5-ppo, or a YAML file.")],
    folder: Annotated[Path | None, typer.Option(help="Where the run lives; runs/<configuration> by default.")] = None,
    frames: Annotated[int | None, typer.Option("--frames", "--steps", help="How many frames to train on in all.")] = None,
    overrides: Annotated[list[str] | None, typer.Option("--set", help="key=value, e.g. network.channels=32; may be repeated.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in the folder.")] = False,
) -> None:
    """Train an agent by PPO self-play. Ctrl-C finishes the update and saves; --resume goes on."""
    from stoneworks.training.config import load_config
    from stoneworks.training.display import train_with_display

    given = list(overrides or []) + ([f"frames={frames}"] if frames is not None else [])
    run_folder = folder or Path("runs") / Path(config).stem
    result = train_with_display(load_config(config, given), run_folder, resume=resume)
    print(f"{result.frames} frames in {result.seconds:.0f} seconds; the checkpoint is {result.checkpoint}")
    if not result.finished:
        raise typer.Exit(130)


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
