"""The command line ``stoneworks``. Commands parse their arguments and call the library."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, cast

import typer

from stoneworks.cli import arena, check, compile, export, play, replay, solve, train, web
from stoneworks.registry import IMPORT_VARIABLE

app = typer.Typer(
    name="stoneworks",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich would take [GAME] and [train] in a help text for markup
)


# Typer keeps click's error for bad arguments inside; BadParameter, which it exports, is one.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])


for command in (
    play.games,
    play.bots,
    train.train,
    train.report,
    export.export,
    check.check,
    play.play,
    play.match,
    replay.replay,
    web.web,
    arena.arena,
    arena.rate,
    solve.solve,
    solve.accuracy,
):
    app.command()(command)
app.command("compile")(compile.compile_command)
app.add_typer(arena.ladder_app, name="ladder")


@app.callback()
def import_modules(
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--import",
            metavar="MODULE",
            envvar=IMPORT_VARIABLE,
            help="Python module that registers games, bots or networks; imported first, also from the current folder. Repeatable.",
        ),
    ] = None,
) -> None:
    """Five new board games for reinforcement learning: environments, bots, training and matches."""
    if modules:
        sys.path.insert(0, os.getcwd())  # as with `python -m`; worker processes get the same path
    for module in modules or ():
        try:
            import_module(module)
        except Exception as error:  # third-party code can raise anything
            raise ValueError(f"--import {module} failed: {type(error).__name__}: {error}") from error


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line ``stoneworks`` and exit. See :func:`run`."""
    run(app, arguments)


def run(app: typer.Typer, arguments: Sequence[str] | None = None) -> None:
    """Run a command line and exit: 0 for success, 2 for an error (one line on standard error), 130 if interrupted.

    SIGTERM interrupts like Ctrl-C.

    Args:
        app: the command line.
        arguments: its arguments; None for those of the process.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # non-ASCII output must not raise an error on an ASCII-only terminal
    try:
        with _interrupted_by_sigterm():
            status = app(args=arguments, standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except _UsageError as error:
        message = error.format_message()
        if not message.startswith("Usage:"):  # else the help, since there were no arguments
            value = _value_given(error, sys.argv[1:] if arguments is None else arguments)
            ending = "" if value is None or repr(value) in message or value in message.split() else f", got {value!r}"
            message = f"stoneworks: {message.replace('Value error, ', '')}{ending}"
        print(message, file=sys.stderr)
        status = error.exit_code
    except Exception as error:
        if not _is_of_input_or_machine(error):
            raise  # a bug in stoneworks
        print(f"stoneworks: {_message(error)}", file=sys.stderr)
        status = 2
    if status == 130:
        print("stoneworks: interrupted", file=sys.stderr)
    sys.exit(status if isinstance(status, int) else 0)


def _value_given(error: typer.BadParameter, arguments: Sequence[str]) -> str | None:
    """Return the value of the option that an error is about; None if it is not about an option with a value."""
    options = getattr(getattr(error, "param", None), "opts", ())
    for argument, following in zip(arguments, [*arguments, None][1:], strict=True):
        option, equals, value = argument.partition("=")
        if option in options:
            return value if equals else following
    return None


def _is_of_input_or_machine(error: Exception) -> bool:
    """Return whether an error is due to bad input, or to a file system, device or memory that fails; else it is a bug."""
    package = type(error).__module__.partition(".")[0]
    if isinstance(error, (ValueError, OSError, MemoryError)) or package in ("stoneworks", "torch"):
        return True
    # Most errors of devices that torch raises are plain RuntimeErrors.
    return isinstance(error, RuntimeError) and any(words in str(error) for words in ("CUDA", "allocate memory"))


def _message(error: Exception) -> str:
    if type(error).__module__.partition(".")[0] == "stoneworks" or isinstance(error, ValueError):
        return str(error)
    return str(error).partition("\n")[0] or "not enough memory"


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Handle SIGTERM as Ctrl-C, so that what has been done so far is kept and programs that were started end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
