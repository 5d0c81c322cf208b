"""Arenas: ``play_arena`` plays the missing games, stores them, and rates the players."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from stoneworks.checks import check_integer
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.folder import RESULTS_FILE, ArenaFolder, player_hashes, read_settings
from stoneworks.evaluation.match import MatchResult
from stoneworks.evaluation.ratings import RatingError
from stoneworks.evaluation.records import GameRecord
from stoneworks.evaluation.results import ArenaResult
from stoneworks.evaluation.settings import ArenaChunk, ArenaSettings
from stoneworks.evaluation.sprt import SprtDecision
from stoneworks.evaluation.workers import Player, check_players_unchanged, make_bot, play_chunks
from stoneworks.files import remove_temporary_files
from stoneworks.locks import lock_folder
from stoneworks.models import Bot
from stoneworks.processes import check_main_guard

_PlayChunks: TypeAlias = Callable[
    [ArenaSettings, Mapping[str, Player], Sequence[ArenaChunk]],
    Generator[tuple[ArenaChunk, tuple[GameRecord, ...]], None, None],
]


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

    Finished chunks are stored immediately, and at the end the results, in ``results.json``, if the players can be rated.
    After an interruption or an error, the same call continues and produces the same games as an uninterrupted call, with any
    number of workers. (A ``Bot`` object continues with its own random numbers; pass a function of the game and a seed for
    reproducible games.)

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
        ArenaPlayError: a player failed, returned an invalid answer, or was changed. Finished chunks are kept.
        ClusterError: the cluster cannot be used. Finished chunks are kept.
        OSError: a file cannot be written, such as on a full disk; it is named. Finished chunks are kept.
        ValueError: an argument is invalid, or a bot name is unknown.
        MainGuardError: workers would start the program again, which lacks ``if __name__ == "__main__":``.
        KeyboardInterrupt: the call was interrupted. Finished chunks are kept.
    """
    check_main_guard()
    check_integer("workers", workers, 1)
    everyone = _all_players(settings, players or {}, workers, cluster)
    play: _PlayChunks = partial(play_chunks, workers=int(workers))
    if cluster:
        from stoneworks.evaluation.cluster import play_chunks_on_cluster

        play = partial(play_chunks_on_cluster, address=cluster)
    hashes = player_hashes(everyone)
    ArenaFolder.check(folder, settings, hashes)  # before the lock, which writes to the folder
    with lock_folder(Path(folder)):
        return _play(ArenaFolder(folder, settings, hashes), everyone, hashes, play, progress)


def _all_players(settings: ArenaSettings, given: Mapping[str, Player], workers: int, cluster: str) -> dict[str, Player]:
    """Return the players by name, of which those that are not ``given`` are bot names. Raises ``ValueError`` if one is invalid."""
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
    return everyone


def _play(
    stored: ArenaFolder,
    everyone: Mapping[str, Player],
    hashes: Mapping[str, str],
    play: _PlayChunks,
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
        with contextlib.closing(play(settings, everyone, played.missing())) as chunks:
            for chunk, records in chunks:
                check_players_unchanged(everyone, hashes)
                stored.write(chunk, records)
                played.add(chunk, records)
                result = played.result()
                show(result)
                if result.finished:
                    break
    for chunk in played.uncounted() if result.finished else ():
        stored.remove(chunk)  # workers were ahead of the decision of the test
    with contextlib.suppress(RatingError):
        if not _is_stored(result, stored.path / RESULTS_FILE):
            result.save(stored.path / RESULTS_FILE)
    return result


def _is_stored(result: ArenaResult, path: Path) -> bool:
    """Return whether a file has these results already, so that looking at a finished arena changes nothing."""
    try:
        return ArenaResult.from_file(path).to_fields() == result.to_fields()
    except (OSError, ValueError):
        return False


def load_arena(folder: str | os.PathLike[str]) -> ArenaResult:
    """Return the current result of the arena in a folder, from its games.

    Raises:
        ArenaFolderError: there is no arena, or a file does not contain the expected games.
    """
    settings = read_settings(folder)
    return _PlayedChunks(settings, ArenaFolder(folder, settings).read()).result()


class _PlayedChunks:
    """The finished chunks and their result."""

    def __init__(self, settings: ArenaSettings, played: Mapping[ArenaChunk, tuple[GameRecord, ...]]) -> None:
        self._settings = settings
        self._chunks = settings.chunks
        self._played = dict(played)
        # With a sequential test, only chunks up to its decision and without gaps count.
        self._counted: list[ArenaChunk] = []
        self._counts = np.zeros(5, np.int64)
        self._decision = SprtDecision.GOING_ON
        self._matches: dict[int, MatchResult] = {}
        self._count()

    def add(self, chunk: ArenaChunk, records: tuple[GameRecord, ...]) -> None:
        """Add the games of a chunk."""
        self._played[chunk] = records
        self._count()

    def missing(self) -> list[ArenaChunk]:
        """Return the missing chunks."""
        return [chunk for chunk in self._chunks if chunk not in self._played]

    def uncounted(self) -> set[ArenaChunk]:
        """Return the finished chunks that do not count."""
        return self._played.keys() - set(self._counting())

    def result(self) -> ArenaResult:
        """Return the current result of the arena."""
        games: dict[int, list[GameRecord]] = {}
        for chunk in self._counting():
            games.setdefault(chunk.pairing, []).extend(self._played[chunk])
        for pairing, records in games.items():
            if pairing not in self._matches or self._matches[pairing].num_games != len(records):
                self._matches[pairing] = MatchResult.of_records(self._settings.pairings[pairing], records)
        return ArenaResult(settings=self._settings, pairings=tuple(self._matches[pairing] for pairing in sorted(games)))

    def _counting(self) -> list[ArenaChunk]:
        if self._settings.sprt is not None:
            return self._counted
        return [chunk for chunk in self._chunks if chunk in self._played]

    def _count(self) -> None:
        test = self._settings.sprt
        if test is None:
            return
        for chunk in self._chunks[len(self._counted) :]:
            if chunk not in self._played or self._decision is not SprtDecision.GOING_ON:
                break
            self._counted.append(chunk)
            played = MatchResult.of_records(self._settings.pairings[0], self._played[chunk])
            self._counts += played.pentanomial
            self._decision = test.decide(self._counts)
