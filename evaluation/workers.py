"""Worker processes that play chunks of an arena. Games depend on the chunk alone, not on the number of workers."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool

from stoneworks.envs.rules import Game, load_game
from stoneworks.evaluation.folder import player_hashes, records_of_chunk
from stoneworks.evaluation.match import play_match
from stoneworks.evaluation.records import GameRecord
from stoneworks.evaluation.settings import ArenaChunk, ArenaSettings
from stoneworks.models import Bot, load_bot
from stoneworks.models.bots.external_bot import kill_programs
from stoneworks.processes import exit_with_parent, process_pool
from stoneworks.registry import Entry, add_entries, added_entries

#: A player: a bot name, a bot, or a function of a game and a seed that returns one.
Player = str | Bot | Callable[[Game, int], Bot]

#: Settings and players of the arena that this worker process plays.
_arena: tuple[ArenaSettings, dict[str, Player]]


class ArenaPlayError(ValueError):
    """Raised when a player fails or returns an invalid answer. The message names the players of the game and the cause."""


def check_players_unchanged(players: Mapping[str, Player], hashes: Mapping[str, str]) -> None:
    """Check that players have the hashes of before (see :func:`player_hashes`). Raises :class:`ArenaPlayError`."""
    now = player_hashes(players)
    if changed := [name for name in players if now.get(name) != hashes.get(name)]:
        raise ArenaPlayError(
            f"{changed[0]!r} has changed while it played; if it is still in training, play with a copy"
        )


def play_chunk(
    settings: ArenaSettings, players: Mapping[str, Player], chunk: ArenaChunk, *, in_worker: bool = False
) -> tuple[GameRecord, ...]:
    """Play a chunk and return its games. ``in_worker`` tells that other processes use the other cores.

    Raises:
        ArenaPlayError: a player could not be created, failed, or returned an invalid answer.
    """
    game = load_game(settings.game)
    names = settings.pairings[chunk.pairing]
    seed_of_openings, *seeds = chunk.seeds(settings.seed)
    try:
        with contextlib.ExitStack() as stack:
            bots = []
            for name, seed in zip(names, seeds, strict=True):
                bots.append(make_bot(players[name], game, seed))
                if bots[-1] is not players[name]:
                    stack.callback(bots[-1].close)  # a bot may have started a program
            if in_worker:
                _use_one_thread()  # the bots have imported torch
            result = play_match(
                game, *bots, num_pairs=chunk.num_pairs, opening_actions=settings.opening_actions, seed=seed_of_openings
            )
    except Exception as error:  # third-party bots can raise anything
        raise ArenaPlayError(f"{names[0]!r} against {names[1]!r}: {type(error).__name__}: {error}") from error
    return records_of_chunk(settings, chunk, result)


def make_bot(player: Player, game: Game, seed: int) -> Bot:
    """Return the bot of a player. A ``Bot`` continues with its own random numbers; names and functions get the seed.

    Raises:
        ValueError: the player is invalid.
    """
    if isinstance(player, str):
        return load_bot(player, game, seed)
    if isinstance(player, Bot):
        return player
    made = player(game, seed) if callable(player) else None
    if not isinstance(made, Bot):
        given = player if made is None else made
        raise ValueError(
            f"player must be a bot name, a Bot, or a function of a game and a seed that returns one, got {given!r}"
        )
    return made


def _use_one_thread() -> None:
    """Make numba and torch, if it is imported, use one thread each."""
    import numba

    numba.set_num_threads(1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def play_chunks(
    settings: ArenaSettings, players: Mapping[str, Player], chunks: Sequence[ArenaChunk], workers: int
) -> Generator[tuple[ArenaChunk, tuple[GameRecord, ...]], None, None]:
    """Yield each chunk with its games when it is finished: with one worker in this process and in order, else in any order.

    Leaving the iterator early terminates the workers.

    Raises:
        ArenaPlayError: a player failed (see :func:`play_chunk`), or a worker died.
    """
    if workers == 1:
        for chunk in chunks:
            yield chunk, play_chunk(settings, players, chunk)
        return
    with process_pool(min(workers, len(chunks)), _start_worker, added_entries(), settings, dict(players)) as pool:
        try:
            futures = {pool.submit(_play_in_worker, chunk): chunk for chunk in chunks}
            for future in as_completed(futures):
                yield futures.pop(future), future.result()
        except BrokenProcessPool:
            raise ArenaPlayError("a worker process of the arena died, perhaps for lack of memory") from None


def _start_worker(entries: tuple[Entry, ...], settings: ArenaSettings, players: dict[str, Player]) -> None:
    """Prepare a worker process for :func:`_play_in_worker`."""
    global _arena
    exit_with_parent(clean_up=kill_programs)
    add_entries(entries)
    _arena = settings, players


def _play_in_worker(chunk: ArenaChunk) -> tuple[GameRecord, ...]:
    return play_chunk(*_arena, chunk, in_worker=True)
