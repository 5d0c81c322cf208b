"""Arenas: ``play_arena`` plays the missing games, stores them, and rates the players.

``play_to_precision`` adds rounds of games between players that are adjacent by rating.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from stoneworks.checks import check_integer, check_positive
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.folder import ArenaFolder, match_of, player_hashes, read_settings
from stoneworks.evaluation.match import MatchResult, join_matches
from stoneworks.evaluation.ratings import Ratings, rate_players
from stoneworks.evaluation.records import GameRecord
from stoneworks.evaluation.settings import ArenaSettings, Chunk
from stoneworks.evaluation.sprt import SprtDecision, pentanomial
from stoneworks.evaluation.workers import Player, make_bot, play_chunks
from stoneworks.files import remove_temporary_files
from stoneworks.locks import lock_folder
from stoneworks.models import Bot
from stoneworks.processes import check_main_guard


@dataclass(frozen=True)
class ArenaResult:
    """Current result of an arena.

    Attributes:
        settings: the settings.
        matches: the results of the pairings with games, in the order of the pairings.
        decision: decision of the sequential test; None if there is no test.
    """

    settings: ArenaSettings
    matches: tuple[MatchResult, ...]
    decision: SprtDecision | None

    @property
    def num_games(self) -> int:
        """Number of games."""
        return sum(match.num_games for match in self.matches)

    @property
    def num_pairs(self) -> int:
        """Number of finished pairs of games."""
        return self.num_games // 2

    @property
    def finished(self) -> bool:
        """Whether all games have been played."""
        if self.decision in (SprtDecision.ACCEPT_0, SprtDecision.ACCEPT_1):
            return True
        return self.num_pairs >= len(self.settings.pairings) * self.settings.num_pairs

    @property
    def log_likelihood_ratio(self) -> float | None:
        """The log-likelihood ratio of the sequential test; None if there is no test."""
        if self.settings.sprt is None:
            return None
        counts = pentanomial(self.matches[0].scores) if self.matches else np.zeros(5, np.int64)
        return self.settings.sprt.log_likelihood_ratio(counts)

    @property
    def records(self) -> tuple[GameRecord, ...]:
        """All games."""
        return tuple(record for match in self.matches for record in match.records)

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings, relative to random or else to the first player. Raises :class:`RatingError` without games."""
        return rate_players(self.matches)


def play_arena(
    settings: ArenaSettings,
    folder: str | os.PathLike[str],
    players: Mapping[str, Player] | None = None,
    *,
    workers: int = 1,
    cluster: str = "",
    progress: Callable[[ArenaResult], None] | None = None,
) -> ArenaResult:
    """Play the missing games of an arena.

    Finished chunks are stored immediately. After an interruption or an error, the same call continues and produces the
    same games as an uninterrupted call, with any number of workers. (A ``Bot`` object continues with its own random
    numbers; pass a function of the game and a seed for reproducible games.)

    Args:
        settings: the settings.
        folder: folder for the games: a new one, or that of an arena with equal settings.
        players: players by name; a name that is missing here is a bot name.
        workers: number of processes; more than one requires that all players are bot names.
        cluster: Ray cluster to play on instead: ``auto``, or ``HOST:PORT`` of its head node. It also requires bot names.
        progress: called with the current result at the start and after each chunk.

    Raises:
        ArenaFolderError: the folder contains something else; the difference is named.
        InUseError: another process uses the folder.
        ArenaPlayError: a player failed or returned an invalid answer. Finished chunks are kept.
        ClusterError: the cluster cannot be used. Finished chunks are kept.
        ValueError: an argument is invalid, or a bot name is unknown.
        MainGuardError: workers would start the program again, which lacks ``if __name__ == "__main__":``.
        KeyboardInterrupt: the call was interrupted. Finished chunks are kept.
    """
    check_main_guard()
    check_integer("workers", workers, 1)
    given = dict(players or {})
    for name in given:
        if name not in settings.players:
            raise ValueError(f"player {name!r} is in no pairing; players are {', '.join(map(repr, settings.players))}")
    everyone: dict[str, Player] = {name: given.get(name, name) for name in settings.players}
    game = load_game(settings.game)
    for name, player in everyone.items():
        if not isinstance(player, (str, Bot)) and not callable(player):
            raise ValueError(
                f"player {name!r} must be a bot name, a Bot, or a function of a game and a seed, got {player!r}"
            )
        if isinstance(player, str):
            make_bot(player, game, 0)  # report invalid names before anything is played
        elif cluster:
            raise ValueError(f"all players must be bot names on a cluster, got {player!r} for {name!r}")
        elif workers > 1:
            raise ValueError(f"workers must be 1 if a player (here {name!r}) is not given by a bot name, got {workers}")
    checkpoints = player_hashes(everyone)
    ArenaFolder.check(folder, settings, checkpoints)  # before the lock, which writes to the folder
    with lock_folder(Path(folder)):
        return _play(ArenaFolder(folder, settings, checkpoints), everyone, int(workers), cluster, progress)


def _play(
    stored: ArenaFolder,
    everyone: Mapping[str, Player],
    workers: int,
    cluster: str,
    progress: Callable[[ArenaResult], None] | None,
) -> ArenaResult:
    """Play the missing games of the arena in a folder."""
    settings = stored.settings
    show = progress or (lambda result: None)
    remove_temporary_files(stored.path)
    played = _PlayedChunks(settings, stored.read())
    result = played.result()
    show(result)
    if not result.finished:
        if cluster:
            from stoneworks.evaluation.cluster import play_chunks_on_cluster

            playing = play_chunks_on_cluster(settings, everyone, played.missing(), cluster)
        else:
            playing = play_chunks(settings, everyone, played.missing(), workers)
        with closing(playing) as chunks:
            for chunk, records in chunks:
                stored.write(chunk, records)
                played.add(chunk, records)
                result = played.result()
                show(result)
                if result.finished:
                    break
    for chunk in played.uncounted() if result.finished else ():
        stored.remove(chunk)  # workers were ahead of the decision of the test
    return result


def load_arena(folder: str | os.PathLike[str]) -> ArenaResult:
    """Return the current result of the arena in a folder, without the games of further rounds.

    Raises:
        ArenaFolderError: there is no arena, or a file does not contain the expected games.
    """
    settings = read_settings(folder)
    return _PlayedChunks(settings, ArenaFolder(folder, settings).read()).result()


def load_rounds(folder: str | os.PathLike[str]) -> ArenaResult:
    """Return the current result of :func:`play_to_precision` in a folder. Raises as :func:`load_arena` does."""
    result = load_arena(folder)
    for file in sorted(Path(folder).glob("round-*/arena.json")):
        result = _with_round(result, load_arena(file.parent))
    return result


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
        players: see :func:`play_arena`.
        max_error: maximum standard error of the difference of two adjacent players, in Elo.
        max_rounds: maximum number of further rounds. Errors of large differences decrease slowly.
        workers: see :func:`play_arena`.
        cluster: see :func:`play_arena`.
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
    result = play(settings, folder, players)
    for number in range(1, max_rounds + 1):
        pairings = uncertain_pairings(result, max_error)
        if not pairings:
            break
        seed = int(np.random.SeedSequence((settings.seed, number)).generate_state(1)[0])
        further = settings.replace(pairings=pairings, seed=seed)
        given = {name: player for name, player in (players or {}).items() if name in further.players}
        result = _with_round(result, play(further, Path(folder) / f"round-{number:02d}", given))
    return result


def _with_round(result: ArenaResult, further: ArenaResult) -> ArenaResult:
    matches: dict[tuple[str, str], list[MatchResult]] = {}
    for match in (*result.matches, *further.matches):
        matches.setdefault(match.names, []).append(match)
    return replace(result, matches=tuple(map(join_matches, matches.values())))


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


class _PlayedChunks:
    """The finished chunks and their result."""

    def __init__(self, settings: ArenaSettings, played: Mapping[Chunk, tuple[GameRecord, ...]]) -> None:
        self._settings = settings
        self._played = dict(played)
        # With a sequential test, only chunks up to its decision and without gaps count.
        self._counted: list[Chunk] = []
        self._counts = np.zeros(5, np.int64)
        self._decision = SprtDecision.GOING_ON if settings.sprt is not None else None
        self._count()

    def add(self, chunk: Chunk, records: tuple[GameRecord, ...]) -> None:
        """Add the games of a chunk."""
        self._played[chunk] = records
        self._count()

    def missing(self) -> list[Chunk]:
        """Return the missing chunks."""
        return [chunk for chunk in self._settings.chunks if chunk not in self._played]

    def uncounted(self) -> set[Chunk]:
        """Return the finished chunks that do not count."""
        return self._played.keys() - set(self._counting())

    def result(self) -> ArenaResult:
        """Return the current result of the arena."""
        games: dict[int, list[GameRecord]] = {}
        for chunk in self._counting():
            games.setdefault(chunk.pairing, []).extend(self._played[chunk])
        matches = tuple(match_of(self._settings, pairing, records) for pairing, records in sorted(games.items()))
        return ArenaResult(self._settings, matches, self._decision)

    def _counting(self) -> list[Chunk]:
        if self._settings.sprt is not None:
            return self._counted
        return [chunk for chunk in self._settings.chunks if chunk in self._played]

    def _count(self) -> None:
        test = self._settings.sprt
        if test is None:
            return
        for chunk in self._settings.chunks[len(self._counted) :]:
            if chunk not in self._played or self._decision is not SprtDecision.GOING_ON:
                break
            self._counted.append(chunk)
            self._counts += pentanomial(match_of(self._settings, 0, self._played[chunk]).scores)
            self._decision = test.decide(self._counts)
