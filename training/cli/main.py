"""The command line ``stoneworks``. Commands parse their arguments and call the library."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import cast

import typer

from stoneworks.training.cli import arena, bench, compile, play, replay, train, web

app = typer.Typer(
    name="stoneworks",
    help="Five new board games for reinforcement learning: environments, bots, training, matches and benchmarks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


# Typer keeps click's error for bad arguments inside; BadParameter, which it exports, is one.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])


@app.callback()
def stoneworks() -> None:
    """Five new board games for reinforcement learning: environments, bots, training, matches and benchmarks."""


for command in (
    play.games,
    play.bots,
    train.train,
    train.report,
    train.ship,
    play.play,
    play.match,
    bench.bench,
    replay.replay,
    web.web,
    arena.arena,
    arena.rate,
):
    app.command()(command)
app.command("compile")(compile.compile_command)
app.add_typer(arena.ladder_app, name="ladder")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 for success, 2 for an error (one line on standard error), 130 if interrupted.

    ``arguments`` defaults to those of the process.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal that is ASCII alone must not end a command at its last line
    try:
        status = app(args=arguments, standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except _UsageError as error:
        if message := error.format_message():  # empty if there were no arguments, which shows the help
            print(f"stoneworks: {message}", file=sys.stderr)
        status = error.exit_code
    except Exception as error:
        if not isinstance(error, (ValueError, OSError)) and not type(error).__module__.startswith("stoneworks."):
            raise  # a bug in stoneworks
        print(f"stoneworks: {error}", file=sys.stderr)
        status = 2
    if status == 130:
        print("stoneworks: interrupted", file=sys.stderr)
    sys.exit(status if isinstance(status, int) else 0)
