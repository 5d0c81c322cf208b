"""The commands ``stoneworks arena``, ``stoneworks rate`` and ``stoneworks ladder``."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stoneworks.cli.console import console, progress_bar
from stoneworks.envs.rules import load_game
from stoneworks.models.processors import num_processors

if TYPE_CHECKING:
    from stoneworks.evaluation.play import ArenaResult
    from stoneworks.evaluation.settings import ArenaSettings

ladder_app = typer.Typer(no_args_is_help=True, help="Show or make ladders of fixed players.")

_Game = Annotated[str, typer.Option(help="A game string such as 'vadus(size=5)'.")]
_Workers = Annotated[int | None, typer.Option(min=1, help="Number of worker processes (default: one per core).")]
_Cluster = Annotated[
    str, typer.Option(help="Play on a Ray cluster instead of worker processes: auto, or HOST:PORT of its head node.")
]
_Folder = Annotated[
    Path | None, typer.Option(help="Folder for the games (default: a folder under runs/ derived from the settings).")
]
_OpeningActions = Annotated[int, typer.Option(min=0, help="Random actions at the start of each pair.")]
_ChunkPairs = Annotated[
    int, typer.Option(min=1, help="Pairs of games that are played concurrently and stored as one file.")
]
_Seed = Annotated[int, typer.Option(min=0, help="Seed of openings and players.")]


def arena(
    players: Annotated[
        list[str], typer.Argument(help="Bots, e.g. random, greedy, mcts:100, or paths of checkpoint folders.")
    ],
    game: _Game,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per pairing; the maximum with --sprt.")] = 100,
    only: Annotated[str | None, typer.Option("--gauntlet", help="Play this player against all others.")] = None,
    next_ones: Annotated[
        int | None, typer.Option("--neighbors", min=1, help="Pair each player with the next N of the list.")
    ] = None,
    sprt: Annotated[
        str | None,
        typer.Option(help="Stop a match of two players by this test, e.g. elo0=0,elo1=30,alpha=0.05,beta=0.05."),
    ] = None,
    workers: _Workers = None,
    cluster: _Cluster = "",
    folder: _Folder = None,
    opening_actions: _OpeningActions = 3,
    chunk_pairs: _ChunkPairs = 8,
    seed: _Seed = 0,
    picture: Annotated[
        Path | None, typer.Option(help="Plot ratings and cross table to a .png, .svg or .pdf file.")
    ] = None,
) -> None:
    """Play a round robin, a gauntlet or a match in paired games, and rate the players.

    Ctrl-C keeps the finished games; the same command resumes.
    """
    from stoneworks.evaluation.play import play_arena
    from stoneworks.evaluation.report import check_picture_path, save_picture
    from stoneworks.evaluation.schedule import gauntlet, neighbors, round_robin
    from stoneworks.evaluation.settings import ArenaSettings
    from stoneworks.evaluation.sprt import Sprt

    if picture is not None:
        check_picture_path(picture)
    if only is not None and next_ones is not None:
        raise ValueError("gauntlet and neighbors cannot be combined")
    if only is not None:
        pairings = gauntlet(only, players)
    else:
        pairings = round_robin(players) if next_ones is None else neighbors(players, next_ones)
    settings = ArenaSettings(
        game,
        pairings,
        num_pairs=pairs,
        chunk_pairs=chunk_pairs,
        opening_actions=opening_actions,
        seed=seed,
        sprt=None if sprt is None else Sprt.parse(sprt),
    )
    result = _play(settings, folder, workers, cluster, play_arena)
    if picture is not None:
        save_picture(picture, result.ratings, result.matches, f"{settings.game}: {result.num_games} games")


def rate(
    player: Annotated[str, typer.Argument(help="A bot name or the path of a checkpoint folder.")],
    game: _Game,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games against each of the nearest anchors.")] = 50,
    anchors: Annotated[int, typer.Option(min=1, help="Number of nearest anchors.")] = 4,
    ladder: Annotated[Path | None, typer.Option(help="Ladder file (default: the shipped ladder).")] = None,
    workers: _Workers = None,
    cluster: _Cluster = "",
    folder: _Folder = None,
    seed: _Seed = 0,
    trust_names: Annotated[
        bool, typer.Option("--trust-names", help="Allow player names of the ladder to start programs and to be paths.")
    ] = False,
) -> None:
    """Rate a policy against the game's ladder of fixed players. Ctrl-C keeps the finished games; the same command resumes."""
    from stoneworks.evaluation.folder import write_json
    from stoneworks.evaluation.ladder import load_ladder
    from stoneworks.evaluation.rate import rate as rate_player

    loaded = load_game(game)
    steps = load_ladder(loaded, ladder)
    given = [player, str(loaded), pairs, anchors, seed, steps.fields["made"], steps.ratings.elo.tolist()]
    where = folder or _folder_of("rate", str(loaded), given)
    with _progress() as show:
        result = rate_player(
            player,
            loaded,
            where,
            ladder=steps,
            num_pairs=pairs,
            num_anchors=anchors,
            workers=workers or num_processors(),
            cluster=cluster,
            seed=seed,
            trust_names=trust_names,
            progress=show,
        )
    write_json(where / "results.json", result.to_fields())
    output = console()
    output.print(result.table())
    output.print(f"the games are in {where}", soft_wrap=True)


@ladder_app.command("show")
def show_ladder(
    game: Annotated[str | None, typer.Argument(help="A game string; without it, list all games with a ladder.")] = None,
    file: Annotated[Path | None, typer.Option(help="Ladder file (default: the shipped ladder).")] = None,
) -> None:
    """Show the ladder of a game."""
    from stoneworks.evaluation.ladder import load_ladder, shipped_ladders
    from stoneworks.evaluation.report import table_of

    if game is None:
        for name in shipped_ladders():
            print(name)
        return
    ladder = load_ladder(game, file)
    made = ladder.fields["made"]
    output = console()
    output.print(table_of(dict(ladder.fields)))
    output.print(f"made on {made['date']} by: {made['command']}", soft_wrap=True)


@ladder_app.command("make")
def make_ladder(
    game: Annotated[str, typer.Argument(help="A game string such as 'vadus(size=5)'.")],
    players: Annotated[
        list[str] | None, typer.Argument(help="The anchors, roughly from weak to strong (default: the standard ones).")
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per pairing.")] = 50,
    next_ones: Annotated[
        int, typer.Option("--neighbors", min=1, help="Pair each player with the next N of the list.")
    ] = 3,
    output: Annotated[
        Path, typer.Option(help="Folder for the ladder file, such as models/ladders in the repository.")
    ] = Path("models/ladders"),
    workers: _Workers = None,
    cluster: _Cluster = "",
    folder: _Folder = None,
    opening_actions: _OpeningActions = 3,
    chunk_pairs: _ChunkPairs = 8,
    max_error: Annotated[
        float | None,
        typer.Option(
            help="Play further rounds until the rating differences of adjacent players have at most this standard error, in Elo."
        ),
    ] = None,
    max_rounds: Annotated[int, typer.Option(min=0, help="Maximum number of further rounds.")] = 10,
    seed: _Seed = 0,
) -> None:
    """Play the anchors of a game and write its ladder. Ctrl-C keeps the finished games; the same command resumes."""
    from stoneworks.evaluation.ladder import ANCHORS, Ladder, file_name_of
    from stoneworks.evaluation.play import play_arena
    from stoneworks.evaluation.precision import play_to_precision
    from stoneworks.evaluation.schedule import neighbors
    from stoneworks.evaluation.settings import ArenaSettings
    from stoneworks.locks import lock_file
    from stoneworks.models.bots.loading import playable_bots

    if not output.is_dir():
        raise ValueError(f"output must be an existing folder, got {str(output)!r}")
    anchors = players or playable_bots(ANCHORS, load_game(game))
    settings = ArenaSettings(
        game,
        neighbors(anchors, next_ones),
        num_pairs=pairs,
        chunk_pairs=chunk_pairs,
        opening_actions=opening_actions,
        seed=seed,
    )
    options: dict[str, float] = {
        "pairs": pairs,
        "opening-actions": opening_actions,
        "chunk-pairs": chunk_pairs,
        "seed": seed,
        "neighbors": next_ones,
    }
    play: Callable[..., ArenaResult] = play_arena
    if max_error is not None:
        options |= {"max-error": max_error, "max-rounds": max_rounds}
        play = partial(play_to_precision, max_error=max_error, max_rounds=max_rounds)
    words = ["stoneworks", "ladder", "make", settings.game, *(players or ())]
    command = shlex.join([*words, *(word for name, value in options.items() for word in (f"--{name}", str(value)))])
    file = output / file_name_of(settings.game)
    with lock_file(file):
        Ladder.of_result(_play(settings, folder, workers, cluster, play), command).save(file)
    print(f"the ladder is {file}")


def _play(
    settings: ArenaSettings,
    folder: Path | None,
    workers: int | None,
    cluster: str,
    play: Callable[..., ArenaResult],
) -> ArenaResult:
    """Play an arena with a progress bar, print its table and write ``results.json``. After Ctrl-C, print the current table.

    ``play`` is :func:`~stoneworks.evaluation.play.play_arena`, or a function with its arguments.
    """
    from stoneworks.evaluation.folder import write_json
    from stoneworks.evaluation.play import load_arena
    from stoneworks.evaluation.ratings import RatingError
    from stoneworks.evaluation.report import pairings_table_of, table_of
    from stoneworks.evaluation.results import results_of

    where = folder or _folder_of("arena", settings.game, settings.to_fields())
    output = console()

    def tell(result: ArenaResult) -> None:
        fields = results_of(result)
        write_json(where / "results.json", fields)
        output.print(pairings_table_of(fields))
        output.print(table_of(fields))
        if test := fields.get("sprt"):
            players = settings.pairings[0]
            low, high = test["bounds"]
            output.print(
                f"SPRT of {players[0]} against {players[1]}, {test['test']}: {test['decision']}, "
                f"log-likelihood ratio {test['log_likelihood_ratio']:.2f} "
                f"({low:.2f}, {high:.2f}), {result.num_pairs} pairs",
                soft_wrap=True,
            )
        output.print(f"the games are in {where}", soft_wrap=True)

    try:
        with _progress() as show:
            result = play(settings, where, workers=workers or num_processors(), cluster=cluster, progress=show)
    except KeyboardInterrupt:
        if (where / "arena.json").exists():
            try:
                tell(load_arena(where))
            except RatingError:
                output.print(f"the games so far are in {where}", soft_wrap=True)
        raise
    tell(result)
    return result


@contextmanager
def _progress() -> Iterator[Callable[[ArenaResult], None]]:
    """Show a progress bar while an arena is played."""
    with progress_bar(with_estimate=True) as show:

        def tell(result: ArenaResult) -> None:
            total = len(result.settings.pairings) * result.settings.num_pairs
            ratio = result.log_likelihood_ratio
            note = "" if ratio is None else f"log-likelihood ratio {ratio:.2f}"
            show("pairs", result.num_pairs, total, note)

        yield tell


def _folder_of(kind: str, game: str, inputs: object) -> Path:
    """Return the folder under runs/ for these arguments; equal arguments give equal folders."""
    from stoneworks.evaluation.folder import folder_name

    return Path("runs") / kind / folder_name(game, inputs)
