"""The commands ``stoneworks arena``, ``stoneworks rate`` and ``stoneworks ladder``."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stoneworks.cli.console import Show, console, progress_bar
from stoneworks.cli.options import GameOption, OpeningActions, with_option_groups
from stoneworks.files import check_folder

if TYPE_CHECKING:
    from stoneworks.evaluation import ArenaResult, ArenaSettings

ladder_app = typer.Typer(no_args_is_help=True, help="Show or make ladders of fixed players.")


@dataclass(frozen=True)
class _PlayOptions:
    """Workers, folder and seed of the games."""

    workers: Annotated[int | None, typer.Option(min=1, help="Number of worker processes (default: one per core).")] = (
        None
    )
    cluster: Annotated[
        str,
        typer.Option(help="Play on a Ray cluster instead of worker processes: auto, or HOST:PORT of its head node."),
    ] = ""
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder for the games (default: a folder under runs/ derived from the settings)."),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of openings and players.")] = 0

    def folder_of(self, kind: str, game: str, inputs: object) -> Path:
        """Return the folder for these arguments; equal arguments give equal folders."""
        from stoneworks.evaluation.folder import folder_name

        return self.folder or Path("runs") / kind / folder_name(game, inputs)

    def machines(self) -> dict[str, Any]:
        """Return the arguments of functions that play."""
        from stoneworks.models.machine import num_processors

        return {"workers": self.workers or num_processors(), "cluster": self.cluster}


@dataclass(frozen=True)
class _ArenaOptions(_PlayOptions):
    """Settings of an arena besides its players."""

    opening_actions: OpeningActions = 3
    chunk_pairs: Annotated[
        int, typer.Option(min=1, help="Pairs of games that are played concurrently and stored as one file.")
    ] = 8


@with_option_groups
def arena(
    players: Annotated[
        list[str], typer.Argument(help="Bots, e.g. random, greedy, mcts:100, or paths of checkpoint folders.")
    ],
    game: GameOption,
    options: _ArenaOptions,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per pairing; the maximum with --sprt.")] = 100,
    only: Annotated[str | None, typer.Option("--gauntlet", help="Play this player against all others.")] = None,
    num_neighbors: Annotated[
        int | None, typer.Option("--neighbors", min=1, help="Pair each player with the next N of the list.")
    ] = None,
    sprt: Annotated[
        str | None,
        typer.Option(help="Stop a match of two players by this test, e.g. elo0=0,elo1=30,alpha=0.05,beta=0.05."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Plot ratings and cross table to a .png, .svg or .pdf file.")
    ] = None,
) -> None:
    """Play a round robin, a gauntlet or a match in paired games, and rate the players.

    Ctrl-C keeps the finished games; the same command resumes.
    """
    from stoneworks.evaluation import gauntlet, neighbors, round_robin
    from stoneworks.evaluation.results import check_picture_path, save_picture

    if picture is not None:
        check_picture_path(picture)
    if only is not None and num_neighbors is not None:
        raise ValueError("gauntlet and neighbors cannot be combined")
    if only is not None:
        pairings = gauntlet(only, players)
    else:
        pairings = round_robin(players) if num_neighbors is None else neighbors(players, num_neighbors)
    settings = _settings(game, pairings, pairs, options, sprt)
    result = _play(settings, options)
    if picture is not None:
        save_picture(picture, result.ratings, result.matches, f"{settings.game}: {result.num_games} games")


@with_option_groups
def rate(
    player: Annotated[str, typer.Argument(help="A bot name or the path of a checkpoint folder.")],
    game: GameOption,
    options: _PlayOptions,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games against each of the nearest anchors.")] = 50,
    anchors: Annotated[int, typer.Option(min=1, help="Number of nearest anchors, or all if there are fewer.")] = 4,
    ladder: Annotated[Path | None, typer.Option(help="Ladder file (default: the shipped ladder).")] = None,
    trust_names: Annotated[
        bool, typer.Option("--trust-names", help="Allow player names of the ladder to start programs and to be paths.")
    ] = False,
) -> None:
    """Rate a policy against the game's ladder of fixed players. Ctrl-C keeps the finished games; the same command resumes."""
    from stoneworks.evaluation import RateSettings, load_ladder, rate as rate_player
    from stoneworks.evaluation.folder import RESULTS_FILE

    loaded = load_ladder(game, ladder)
    made, elo = loaded.made.to_fields(), loaded.ratings.elo.tolist()
    folder = options.folder_of("rate", loaded.game, [player, loaded.game, pairs, anchors, options.seed, made, elo])
    settings = RateSettings(num_pairs=pairs, num_anchors=anchors, seed=options.seed, trust_names=trust_names)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "scouting").exists():
        raise ValueError(f"folder must be a new one or that of a rating, got {str(folder)!r}, which has other files")
    with progress_bar() as show:
        progress = partial(_show_pairs, show)
        result = rate_player(player, loaded, folder, settings, progress=progress, **options.machines())
    output = console()
    output.print(result.table())
    output.print(f"the games are in {folder}", soft_wrap=True)
    result.save(folder / RESULTS_FILE)


@ladder_app.command("show")
def show_ladder(
    game: Annotated[
        str | None, typer.Argument(help="A game string; without it and a file, list all games with a ladder.")
    ] = None,
    file: Annotated[Path | None, typer.Option(help="Ladder file (default: the shipped ladder).")] = None,
) -> None:
    """Show the ladder of a game."""
    from stoneworks.evaluation import Ladder, load_ladder, shipped_ladders

    output = console()
    if game is not None:
        ladder = load_ladder(game, file)
    elif file is not None:
        ladder = Ladder.from_file(file)
    else:
        for name in shipped_ladders():
            output.print(name)
        return
    output.print(ladder.table())
    output.print(f"made on {ladder.made.date} by: {ladder.made.command}", soft_wrap=True)


@ladder_app.command("make")
@with_option_groups
def make_ladder(
    game: Annotated[str, typer.Argument(help="A game string such as 'vadus(size=5)'.")],
    options: _ArenaOptions,
    players: Annotated[
        list[str] | None, typer.Argument(help="The anchors, roughly from weak to strong (default: the standard ones).")
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per pairing.")] = 50,
    num_neighbors: Annotated[
        int, typer.Option("--neighbors", min=1, help="Pair each player with the next N of the list.")
    ] = 3,
    output: Annotated[
        Path, typer.Option(help="Folder for the ladder file, such as models/ladders in the repository.")
    ] = Path("models/ladders"),
) -> None:
    """Play the anchors of a game and write its ladder. Ctrl-C keeps the finished games; the same command resumes."""
    from stoneworks.envs.rules import load_game
    from stoneworks.evaluation import Ladder, neighbors
    from stoneworks.evaluation.folder import file_stem
    from stoneworks.evaluation.ladder import ANCHORS
    from stoneworks.locks import lock_file
    from stoneworks.models.bots.loading import playable_bots

    check_folder("output", output)
    anchors = players or playable_bots(ANCHORS, load_game(game))
    settings = _settings(game, neighbors(anchors, num_neighbors), pairs, options)
    words = {
        "pairs": pairs,
        "opening-actions": options.opening_actions,
        "chunk-pairs": options.chunk_pairs,
        "seed": options.seed,
        "neighbors": num_neighbors,
    }
    given = [word for name, value in words.items() for word in (f"--{name}", str(value))]
    command = shlex.join(["stoneworks", "ladder", "make", settings.game, *(players or ()), *given])
    file = output / f"{file_stem(settings.game)}.json"
    with lock_file(file):
        Ladder.of_result(_play(settings, options), command).save(file)
    print(f"the ladder is {file}")


def _settings(
    game: str, pairings: tuple[tuple[str, str], ...], pairs: int, options: _ArenaOptions, sprt: str | None = None
) -> ArenaSettings:
    from stoneworks.evaluation import ArenaSettings, Sprt

    return ArenaSettings(
        game=game,
        pairings=pairings,
        num_pairs=pairs,
        chunk_pairs=options.chunk_pairs,
        opening_actions=options.opening_actions,
        seed=options.seed,
        sprt=None if sprt is None else Sprt.from_text(sprt),
    )


def _play(settings: ArenaSettings, options: _PlayOptions) -> ArenaResult:
    """Play an arena with a progress bar and print its tables; those of the games so far after Ctrl-C or on a full disk."""
    from stoneworks.evaluation import load_arena, play_arena
    from stoneworks.evaluation.folder import SETTINGS_FILE

    folder = options.folder_of("arena", settings.game, settings.to_fields())
    try:
        with progress_bar() as show:
            result = play_arena(settings, folder, progress=partial(_show_pairs, show), **options.machines())
    except (KeyboardInterrupt, OSError):
        if (folder / SETTINGS_FILE).exists():
            _show_results(load_arena(folder), folder)
        raise
    _show_results(result, folder)
    return result


def _show_results(result: ArenaResult, folder: Path) -> None:
    from stoneworks.evaluation import RatingError

    output = console()
    try:
        table = result.table()
    except RatingError:
        output.print(f"the games so far are in {folder}", soft_wrap=True)
        return
    output.print(result.pairings_table())
    output.print(table)
    if test := result.sprt:
        first, second = result.settings.pairings[0]
        low, high = test["bounds"]
        output.print(
            f"SPRT of {first} against {second}, {test['test']}: {test['decision']}, log-likelihood ratio "
            f"{test['log_likelihood_ratio']:.2f} ({low:.2f}, {high:.2f}), {result.num_pairs} pairs",
            soft_wrap=True,
        )
    output.print(f"the games are in {folder}", soft_wrap=True)


def _show_pairs(show: Show, result: ArenaResult) -> None:
    """Show the progress of an arena."""
    ratio = result.log_likelihood_ratio
    note = "" if ratio is None else f"log-likelihood ratio {ratio:.2f}"
    show("pairs", result.num_pairs, result.settings.total_pairs, note)
