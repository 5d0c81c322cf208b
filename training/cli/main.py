"""The command line ``stoneworks``. Each command is thin: it reads its arguments and calls the library."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.table import Table

from stoneworks.envs.rules import RegistrationError, game_names, load_game
from stoneworks.training.cli import arena as arena_commands
from stoneworks.training.cli import bench as bench_commands
from stoneworks.training.cli.replay import replay
from stoneworks.training.cli.web import web

app = typer.Typer(
    name="stoneworks",
    help="Five new board games for reinforcement learning: play, train, evaluate, measure.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


# Typer keeps click's error for bad arguments inside; BadParameter, which it exports, is one.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])


@app.callback()
def stoneworks() -> None:
    """Five new board games for reinforcement learning: play, train, evaluate, measure."""


@app.command()
def games() -> None:
    """List the games with their options and their number of actions."""
    table = Table("game", "version", "options and defaults", "actions", "observation")
    for name in game_names():
        try:
            game = load_game(name)
        except RegistrationError as error:  # another package's game must not hide the rest
            print(f"stoneworks: {error}", file=sys.stderr)
            continue
        options = ", ".join(f"{option}={value!r}" for option, value in game.options.items())
        table.add_row(
            name,
            str(game.version),
            options,
            str(game.num_distinct_actions()),
            " x ".join(map(str, game.observation_tensor_shape())),
        )
    Console().print(table)


@app.command()
def bots() -> None:
    """List the kinds of bots and the shipped checkpoints, which are bots as well."""
    from stoneworks.models import shipped
    from stoneworks.models.bots.registry import BOTS

    table = Table("bot", "plays")
    for entry in BOTS.loadable():
        table.add_row(entry.usage, "games with an evaluation" if entry.needs_evaluation else "all games")
    for name in shipped.names():
        table.add_row(f"{name}, {name}@<simulations>", f"{name.partition('-')[0]}, as a checkpoint")
    Console(markup=False).print(table)


@app.command()
def train(
    config: Annotated[
        str, typer.Argument(help="A configuration that comes with stoneworks, such as vadus-5, or a YAML file.")
    ],
    folder: Annotated[Path | None, typer.Option(help="Where the run lives; runs/<configuration> by default.")] = None,
    positions: Annotated[int | None, typer.Option(help="AlphaZero: how many positions to learn from in all.")] = None,
    frames: Annotated[
        int | None, typer.Option("--frames", "--steps", help="PPO: how many frames to train on in all.")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="key=value, e.g. network.channels=32; may be repeated.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in the folder.")] = False,
) -> None:
    """Train an agent by self-play, with AlphaZero or PPO, as the configuration says. Ctrl-C saves; --resume goes on."""
    from stoneworks.training.alphazero.config import AlphaZeroConfig
    from stoneworks.training.runs.config import load_config

    given = list(overrides or [])
    given += [f"{key}={value}" for key, value in (("positions", positions), ("frames", frames)) if value is not None]
    run_folder = folder or Path("runs") / Path(config).stem
    loaded = load_config(config, given)
    # One algorithm must not need the other's libraries.
    if isinstance(loaded, AlphaZeroConfig):
        from stoneworks.training.alphazero import display as alphazero_display

        run = alphazero_display.train_with_display(loaded, run_folder, resume=resume)
        finished, seconds, checkpoint = run.finished, run.seconds, run.checkpoint
        print(f"the report is {run_folder / 'report.md'}")
        print(f"{run.positions} positions of {run.games} games", end=" ")
    else:
        from stoneworks.training.ppo import display as ppo_display

        result = ppo_display.train_with_display(loaded, run_folder, resume=resume)
        finished, seconds, checkpoint = result.finished, result.seconds, result.checkpoint
        print(f"{result.frames} frames", end=" ")
    print(f"in {seconds:.0f} seconds; the checkpoint is {checkpoint}")
    if not finished:
        raise typer.Exit(130)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The folder of an AlphaZero run; it may still be going on.")],
) -> None:
    """Write report.md into the folder of an AlphaZero run: scores, losses, speed, and games with pictures."""
    from stoneworks.training.alphazero.report import write_report

    print(f"the report is {write_report(folder)}")


@app.command()
def ship(
    folder: Annotated[Path, typer.Argument(help="The folder of an AlphaZero run.")],
    name: Annotated[
        str, typer.Option("--as", help="What load_bot calls it: the game's name, with something after a hyphen or not.")
    ],
    into: Annotated[
        Path | None, typer.Option(help="The folder of checkpoints; by default the one that comes with stoneworks.")
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games of each final match.")] = 100,
    policy_opponents: Annotated[
        list[str] | None, typer.Option("--policy-opponent", help="A bot that the policy plays; may be repeated.")
    ] = None,
    search_opponents: Annotated[
        list[str] | None, typer.Option("--search-opponent", help="A bot that the search plays; may be repeated.")
    ] = None,
    simulations: Annotated[int, typer.Option(min=1, help="Of the search.")] = 64,
    weaknesses: Annotated[str, typer.Option(help="Known weaknesses, for the model card.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of the openings and the bots of the matches.")] = 0,
) -> None:
    """Play a run's final matches and lay its checkpoint, without what training needs, where load_bot finds it by name."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from stoneworks.models.shipped import shipped_folder
    from stoneworks.training.alphazero.shipping import POLICY_OPPONENTS, SEARCH_OPPONENTS, FinalMatches
    from stoneworks.training.alphazero.shipping import ship as ship_run

    matches = FinalMatches(
        tuple(POLICY_OPPONENTS if policy_opponents is None else policy_opponents),
        tuple(SEARCH_OPPONENTS if search_opponents is None else search_opponents),
        simulations=simulations,
        num_pairs=pairs,
        seed=seed,
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=2 * pairs)
        target = ship_run(
            folder,
            name,
            into=into or shipped_folder(),
            matches=matches,
            weaknesses=weaknesses,
            progress=lambda what, over, games: progress.update(task, description=what, completed=over, total=games),
        )
    print(f"the checkpoint is {target}")


@app.command()
def play(
    game: Annotated[str, typer.Argument(help="A game's name, or a game string such as 'vadus(size=5)'.")],
    option: Annotated[
        list[str] | None, typer.Option(help="name=value, an option of the game; may be repeated.")
    ] = None,
    size: Annotated[int | None, typer.Option(help="Short for --option size=...")] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            help="A bot: random, greedy, vadus@64, a checkpoint folder ...; greedy by default, or mcts:100 where "
            "the game has no evaluation."
        ),
    ] = None,
    seat: Annotated[int, typer.Option(min=0, max=1, help="The player that you are; player 0 moves first.")] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the opponent's random numbers.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the record of the game to this file (JSON lines).")] = None,
) -> None:
    """Play against a bot in the terminal, with undo and hint."""
    from stoneworks.models import load_bot
    from stoneworks.models.bots.loading import default_bot
    from stoneworks.training.arena.records import GameRecord, write_records
    from stoneworks.training.cli.terminal_play import TerminalGame

    _check_folder_of(save)
    given = [*(option or []), *([f"size={size}"] if size is not None else [])]
    loaded = load_game(game, **_game_options(given))
    bot = load_bot(opponent or default_bot(loaded), loaded, seed)
    adviser = load_bot(default_bot(loaded), loaded, seed)
    state = TerminalGame(loaded, bot, adviser, seat=seat, source=sys.stdin, target=sys.stdout).play()
    if save is not None:
        players = ("human", bot.name) if seat == 0 else (bot.name, "human")
        write_records(save, [GameRecord.of_state(state, players, seed)])


@app.command()
def evaluate(
    a: Annotated[str, typer.Argument(metavar="A", help="A bot: random, greedy, vadus@64, a checkpoint folder ...")],
    b: Annotated[str, typer.Argument(metavar="B", help="Its opponent, named likewise.")],
    game: Annotated[str, typer.Option(help="A game string such as 'vadus(size=5)'.")],
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games: one opening, seats swapped.")] = 100,
    opening_actions: Annotated[int, typer.Option(min=0, help="Random actions that each pair starts with.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Of the openings and of both bots.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Write the records of all games to this file (JSON lines).")] = None,
) -> None:
    """Play a match of paired games between two bots and show the result with its 95 % interval.

    Both games of a pair start from the same few random actions, with seats swapped.
    """
    import numpy as np
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from stoneworks.models import load_bot
    from stoneworks.training.arena.match import play_match
    from stoneworks.training.arena.records import write_records

    _check_folder_of(save)
    loaded = load_game(game)
    seed_a, seed_b, seed_of_openings = map(int, np.random.SeedSequence(seed).generate_state(3))
    bots = load_bot(a, loaded, seed_a), load_bot(b, loaded, seed_b)
    columns = (TextColumn("games over"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=2 * pairs)
        result = play_match(
            loaded,
            *bots,
            num_pairs=pairs,
            opening_actions=opening_actions,
            seed=seed_of_openings,
            progress=lambda over, _: progress.update(task, completed=over),
        )
    if save is not None:
        write_records(save, result.records)
    table = Table(title=f"{a} (A) against {b} (B) in {loaded}", show_header=False)
    for row in result.summary():
        table.add_row(*row)
    Console(markup=False, highlight=False).print(table)


app.command()(bench_commands.bench)
app.command()(replay)
app.command()(web)
app.command()(arena_commands.arena)
app.command()(arena_commands.rate)
app.add_typer(arena_commands.ladder_app, name="ladder")


def _check_folder_of(file: Path | None) -> None:
    """Raise ``ValueError`` where the folder of a file to be written at the end does not exist."""
    if file is not None and not file.parent.is_dir():
        raise ValueError(f"save is {str(file)!r}; allowed is a file in a folder that exists")


def _game_options(given: list[str]) -> dict[str, object]:
    """Return the options of ``name=value`` texts. Raises ``ValueError`` for another text, or a name that stands twice."""
    options: dict[str, object] = {}
    for text in given:
        name, equals, value = text.partition("=")
        try:
            if not equals or not name.isidentifier():
                raise ValueError
            parsed = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            raise ValueError(f"option is {text!r}; allowed is name=value, such as size=5 or pie_rule=False") from None
        if name in options:
            raise ValueError(f"option {name} is given twice")
        options[name] = parsed
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 bad input, told in one line on standard error, 130 interrupted.

    ``arguments`` are those of the process where none are given.
    """
    try:
        status = app(args=arguments, standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except _UsageError as error:
        if message := error.format_message():  # none where there were no arguments: that shows the help
            print(f"stoneworks: {message}", file=sys.stderr)
        status = error.exit_code
    except (ValueError, OSError) as error:
        print(f"stoneworks: {error}", file=sys.stderr)
        status = 2
    if status == 130:
        print("stoneworks: interrupted", file=sys.stderr)
    sys.exit(status if isinstance(status, int) else 0)
