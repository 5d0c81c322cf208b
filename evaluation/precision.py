"""``play_to_precision``: an arena with further rounds between players that are adjacent by rating."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from stoneworks.envs.rules.checks import check_integer, check_positive
from stoneworks.evaluation.match import MatchResult, join_matches
from stoneworks.evaluation.play import ArenaResult, play_arena
from stoneworks.evaluation.settings import ArenaSettings
from stoneworks.evaluation.workers import Player


def play_to_precision(
    settings: ArenaSettings,
    folder: str | os.PathLike[str],
    players: Mapping[str, Player] | None = None,
    *,
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
        players: see :func:`~stoneworks.evaluation.play.play_arena`.
        max_error: maximum standard error of the difference of two adjacent players, in Elo.
        max_rounds: maximum number of further rounds. Errors of large differences decrease slowly.
        workers: see :func:`~stoneworks.evaluation.play.play_arena`.
        cluster: see :func:`~stoneworks.evaluation.play.play_arena`.
        progress: called with the current result of the arena or the round, at its start and after each chunk.

    Returns:
        The result with the games of all rounds.

    Raises:
        RatingError: the players cannot be rated.
        ValueError: an argument is invalid; see also :func:`~stoneworks.evaluation.play.play_arena`.
    """
    check_positive("max_error", max_error)
    check_integer("max_rounds", max_rounds, 0)
    if settings.sprt is not None:
        raise ValueError(f"sprt must be None, got {settings.sprt}")

    result = play_arena(settings, folder, players, workers=workers, cluster=cluster, progress=progress)
    for number in range(1, max_rounds + 1):
        pairings = uncertain_pairings(result, max_error)
        if not pairings:
            break
        seed = int(np.random.SeedSequence((settings.seed, number)).generate_state(1)[0])
        further = replace(settings, pairings=pairings, seed=seed)
        more = play_arena(
            further,
            Path(folder) / f"round-{number:02d}",
            {name: player for name, player in (players or {}).items() if name in further.players},
            workers=workers,
            cluster=cluster,
            progress=progress,
        )
        result = _with_games_of(result, more)
    return result


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


def _with_games_of(result: ArenaResult, more: ArenaResult) -> ArenaResult:
    """Return ``result`` with the games of ``more``; equal pairings are joined."""
    matches: dict[tuple[str, str], list[MatchResult]] = {}
    for match in (*result.matches, *more.matches):
        matches.setdefault(match.names, []).append(match)
    return replace(result, matches=tuple(map(join_matches, matches.values())))
