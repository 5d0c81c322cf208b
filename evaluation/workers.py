"""Worker processes that play chunks of an arena. Games depend on the chunk alone, not on the number of workers."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait

from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.registry import Entry, add_entries, added_entries
from stoneworks.evaluation.errors import ArenaPlayError
from stoneworks.evaluation.folder import records_of_chunk
from stoneworks.evaluation.match import play_match
from stoneworks.evaluation.records import GameRecord
from stoneworks.evaluation.schedule import Chunk
from stoneworks.evaluation.settings import ArenaSettings
from stoneworks.models import Bot, load_bot
from stoneworks.models.bots.external_bot import kill_programs
from stoneworks.processes import exit_with_parent, interrupts_blocked

#: A player: a bot name, a bot, or a function of a game and a seed that returns one.
Player = str | Bot | Callable[[Game, int], Bot]
_Played = tuple[Chunk, tuple[GameRecord, ...]]


def play_chunk(settings: ArenaSettings, players: Mapping[str, Player], chunk: Chunk) -> tuple[GameRecord, ...]:
    """Play a chunk and return its games.

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
            result = play_match(
                game,
                *bots,
                num_pairs=chunk.num_pairs,
                opening_actions=settings.opening_actions,
                seed=seed_of_openings,
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
        raise ValueError(
            f"player must be a bot name, a Bot, or a function of a game and a seed that returns one, got {player!r}"
        )
    return made


def use_one_thread() -> None:
    """Make numba and torch, if it is imported, use one thread each: the workers share the cores."""
    import numba

    numba.set_num_threads(1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def play_chunks(
    settings: ArenaSettings, players: Mapping[str, Player], chunks: Sequence[Chunk], workers: int
) -> Generator[_Played, None, None]:
    """Yield each chunk with its games when it is finished: with one worker in this process and in order, else in any order.

    Leaving the iterator early terminates the workers.

    Raises:
        ArenaPlayError: a player failed (see :func:`play_chunk`), or a worker died.
    """
    if workers == 1:
        for chunk in chunks:
            yield chunk, play_chunk(settings, players, chunk)
        return
    team = _Team(settings, players, min(workers, len(chunks)))
    try:
        yield from team.play(chunks)
    finally:
        team.end()


class _Team:
    """The worker processes and their pipes."""

    def __init__(self, settings: ArenaSettings, players: Mapping[str, Player], size: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._settings = settings
        self._processes = {}
        with interrupts_blocked():
            for _ in range(size):
                here, there = context.Pipe()
                process = context.Process(
                    target=_work, args=(added_entries(), settings, dict(players), there), daemon=True
                )
                process.start()
                there.close()
                self._processes[here] = process

    def play(self, chunks: Sequence[Chunk]) -> Iterator[_Played]:
        """Yield chunks as they are finished (see :func:`play_chunks`)."""
        waiting = list(reversed(chunks))
        playing: dict[Connection, Chunk] = {}
        for pipe in self._processes:
            if waiting:
                self._give(pipe, playing, waiting)
        while playing:
            ready = wait(list(playing))
            for pipe in [pipe for pipe in playing if pipe in ready]:
                chunk = playing.pop(pipe)
                try:
                    answer = pipe.recv()
                except (EOFError, OSError):
                    raise self._death(pipe, chunk) from None
                if isinstance(answer, str):
                    raise ArenaPlayError(answer)
                if waiting:
                    self._give(pipe, playing, waiting)
                yield chunk, answer

    def end(self) -> None:
        """Terminate all processes."""
        for pipe, process in self._processes.items():
            process.terminate()
            pipe.close()
        for process in self._processes.values():
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()

    def _give(self, pipe: Connection, playing: dict[Connection, Chunk], waiting: list[Chunk]) -> None:
        chunk = waiting.pop()
        try:
            pipe.send(chunk)
        except OSError:
            raise self._death(pipe, chunk) from None
        playing[pipe] = chunk

    def _death(self, pipe: Connection, chunk: Chunk) -> ArenaPlayError:
        process = self._processes[pipe]
        process.join(5)
        first, second = self._settings.pairings[chunk.pairing]
        return ArenaPlayError(f"{first!r} against {second!r}: the worker process died, exit code {process.exitcode}")


def _work(entries: tuple[Entry, ...], settings: ArenaSettings, players: dict[str, Player], pipe: Connection) -> None:
    """Play the chunks received through the pipe, and send back their games or the text of an error."""
    exit_with_parent(clean_up=kill_programs)
    add_entries(entries)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            chunk = pipe.recv()
            use_one_thread()
            try:
                answer: tuple[GameRecord, ...] | str = play_chunk(settings, players, chunk)
            except ArenaPlayError as error:
                answer = str(error)
            pipe.send(answer)
