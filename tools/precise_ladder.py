"""Ladders of which adjacent players have rating differences of a given standard error.

``python -m tools.precise_ladder "vadus(size=5)" random greedy mcts:10 --max-error 40 --output models/ladders`` makes one; the
same command resumes after Ctrl-C. With ``--keep``, only new players and changed checkpoints play; the ladder in the output folder
provides the matches between the others. Searches and heuristics are not compared: after a change, make the ladder anew.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from stoneworks.checks import check_integer, check_positive
from stoneworks.cli.console import console, progress_bar
from stoneworks.cli.main import run
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.arena import play_arena
from stoneworks.evaluation.folder import file_stem, folder_name
from stoneworks.evaluation.ladder import ANCHORS, Ladder, load_ladder
from stoneworks.evaluation.match import MatchResult, join_matches
from stoneworks.evaluation.results import ArenaResult
from stoneworks.evaluation.settings import ArenaSettings, neighbors
from stoneworks.evaluation.workers import Player
from stoneworks.files import check_folder
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.machine import num_processors

app = typer.Typer(add_completion=False)


def play_to_precision(
    settings: ArenaSettings,
    folder: str | os.PathLike[str],
    players: Mapping[str, Player] | None = None,
    *,
    kept: Sequence[MatchResult] = (),
    max_error: float,
    max_rounds: int = 10,
    workers: int = 1,
    cluster: str = "",
    progress: Callable[[ArenaResult], None] | None = None,
) -> ArenaResult:
    """Play an arena, then further rounds until no rating difference of adjacent players has an error above ``max_error``.

    In each round, all players that are adjacent by rating and whose difference has a larger standard error play another
    ``settings.num_pairs`` pairs of games. Which games are played depends only on the results before, so a call after an
    interruption continues, and produces the same games as an uninterrupted one.

    Args:
        settings: settings of the arena, without a sequential test.
        folder: folder of the arena; the further rounds are arenas in its subfolders ``round-01``, ``round-02``, ...
        players: see :func:`~stoneworks.evaluation.arena.play_arena`.
        kept: matches of an earlier arena of the same game, which are part of the result. Their players play no further rounds
            against each other.
        max_error: maximum standard error of the difference of two adjacent players, in Elo.
        max_rounds: maximum number of further rounds. Errors of large differences decrease slowly.
        workers: see :func:`~stoneworks.evaluation.arena.play_arena`.
        cluster: see :func:`~stoneworks.evaluation.arena.play_arena`.
        progress: called with the current result of the arena or the round, at its start and after each chunk.

    Returns:
        The result with the games of all rounds.

    Raises:
        RatingError: the players cannot be rated.
        ValueError: an argument is invalid; see also :func:`play_arena`.
    """
    check_positive("max_error", max_error)
    check_integer("max_rounds", max_rounds, 0)
    if settings.sprt is not None:
        raise ValueError(f"sprt must be None, got {settings.sprt}")

    play = partial(play_arena, workers=workers, cluster=cluster, progress=progress)
    result = _joined(play(settings, folder, players), kept)
    for number in range(1, max_rounds + 1):
        pairings = pairings_to_play(uncertain_pairings(result, max_error), kept)
        if not pairings:
            break
        seed = int(np.random.SeedSequence((settings.seed, number)).generate_state(1)[0])
        further = settings.replace(pairings=pairings, seed=seed)
        given = {name: player for name, player in (players or {}).items() if name in further.players}
        result = _joined(result, play(further, Path(folder) / f"round-{number:02d}", given).matches)
    return result


def _joined(result: ArenaResult, further: Sequence[MatchResult]) -> ArenaResult:
    matches: dict[tuple[str, str], list[MatchResult]] = {}
    for match in (*result.matches, *further):
        matches.setdefault(match.names, []).append(match)
    joined = tuple(found[0] if len(found) == 1 else join_matches(found) for found in matches.values())
    return result.replace(settings=result.settings.replace(pairings=tuple(matches)), pairings=joined)


def pairings_to_play(pairings: Sequence[tuple[str, str]], kept: Sequence[MatchResult]) -> tuple[tuple[str, str], ...]:
    """Return the pairings with a player that has none of the matches ``kept``."""
    known = {name for match in kept for name in match.names}
    return tuple(pairing for pairing in pairings if not known.issuperset(pairing))


def uncertain_pairings(result: ArenaResult, max_error: float) -> tuple[tuple[str, str], ...]:
    """Return the pairings of adjacent players whose difference has a standard error above ``max_error`` Elo.

    The names are in the order of the pairings of the arena, if it has the pairing. Raises :class:`RatingError` if the
    players cannot be rated.
    """
    ratings = result.ratings
    played = {match.names for match in result.matches}
    return tuple(
        (below, above) if (below, above) in played else (above, below)
        for above, below in pairwise(ratings.order)
        if ratings.difference(above, below)[1] > max_error
    )


def unchanged_matches(ladder: Ladder, players: Sequence[str]) -> tuple[MatchResult, ...]:
    """Return the matches of a ladder between ``players``, except those of checkpoints that have changed since it was made."""
    unchanged = {*players} - {*ladder.changed_players()}
    return tuple(match for match in ladder.matches if unchanged.issuperset(match.names))


@app.command()
def main(
    game: Annotated[str, typer.Argument(help="A game string.")],
    players: Annotated[list[str] | None, typer.Argument(help="The anchors, roughly from weak to strong.")] = None,
    max_error: Annotated[
        float, typer.Option(help="Maximum standard error of adjacent players' differences, in Elo.")
    ] = 40,
    max_rounds: Annotated[int, typer.Option(min=0, help="Maximum number of further rounds.")] = 10,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per pairing and round.")] = 25,
    opening_actions: Annotated[int, typer.Option(min=0)] = 3,
    chunk_pairs: Annotated[int, typer.Option(min=1)] = 25,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    num_neighbors: Annotated[int, typer.Option("--neighbors", min=1)] = 3,
    output: Annotated[Path, typer.Option(help="Folder of the ladder file.")] = Path("models/ladders"),
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    keep: Annotated[
        bool,
        typer.Option(help="Keep the matches of the ladder in the output folder, but for those of changed checkpoints."),
    ] = False,
) -> None:
    """Play the anchors of a game until their ratings are precise enough, and write the ladder."""
    loaded = load_game(game)
    anchors = players or playable_bots(ANCHORS, loaded)
    check_folder("output", output)
    file = output / f"{file_stem(loaded)}.json"
    kept = unchanged_matches(load_ladder(loaded, file), anchors) if keep and file.exists() else ()
    pairings = pairings_to_play(neighbors(anchors, num_neighbors), kept)
    if not pairings:
        raise ValueError(f"no player is new in {file}, and no checkpoint has changed; without --keep, all play again")
    settings = ArenaSettings(
        game=game,
        pairings=pairings,
        num_pairs=pairs,
        chunk_pairs=chunk_pairs,
        opening_actions=opening_actions,
        seed=seed,
    )
    folder = Path("runs", "arena", folder_name(settings.game, settings.to_fields() | {"max_error": max_error}))
    with progress_bar() as show:
        result = play_to_precision(
            settings,
            folder,
            kept=kept,
            max_error=max_error,
            max_rounds=max_rounds,
            workers=workers or num_processors(),
            progress=lambda result: show("games", result.num_games, None),
        )
    ladder = Ladder.of_result(result, shlex.join(["python", "-m", "tools.precise_ladder", *sys.argv[1:]]))
    console().print(ladder.table())
    ladder.save(file)


if __name__ == "__main__":
    run(app)
