"""``SelfPlayProcesses``: a source of games that separate processes of this machine play while the learner learns."""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stoneworks.extras import require_extra
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.processes import check_main_guard, exit_with_parent, interrupts_blocked, raise_for_main_guard
from stoneworks.registry import Entry, add_entries, added_entries
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.device_self_play import Place, make_self_play
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlayTimings
from stoneworks.training.alphazero.sources import GameSource, SelfPlayError

with require_extra("train", "training runs"):
    from torch import Tensor

#: A batch system sends SIGTERM to all processes at once, so the others may end before this one has noticed.
_SECONDS_TO_STOP = 1.0


class SelfPlayProcesses(GameSource):
    """Plays continuously in separate processes, the attribute ``processes``.

    Each process starts with the weights of ``network`` and loads new weights between two actions. The processes end with
    the parent process, even if it is killed.
    """

    def __init__(
        self,
        network: BoardNetwork,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
        num_processes: int,
        progress: float,
    ) -> None:
        """Start the processes.

        Raises:
            MainGuardError: the program does not guard its main part.
            SelfPlayError: a process cannot be started.
        """
        check_main_guard()
        context = multiprocessing.get_context("spawn")
        self._games: Any = context.Queue(maxsize=64)
        self._weights = [context.Queue() for _ in range(num_processes)]
        for waiting in self._weights:  # this process does not wait at its exit until the weights are read
            waiting.cancel_join_thread()
        self.processes: list[Any] = []
        try:
            with interrupts_blocked():
                given = zip(seed.spawn(num_processes), self._weights, strict=True)
                for number, (own_seed, weights) in enumerate(given):
                    place = Place(number, num_processes)
                    process = context.Process(
                        target=_play_for_ever,
                        args=(added_entries(), network.architecture, config, own_seed, place, weights, self._games),
                        daemon=True,
                    )
                    process.start()
                    self.processes.append(process)
            self.update(network.playing_state_dict(), progress)
        except (OSError, RuntimeError) as error:  # RuntimeError: no thread can be started
            self.close()
            number = len(self.processes) + 1
            raise SelfPlayError(f"self-play process {number} of {num_processes} cannot be started: {error}") from error
        except BaseException:
            self.close()
            raise

    def _next_games(self, stop: threading.Event) -> tuple[Sequence[PlayedGame], SelfPlayTimings]:
        """See :meth:`GameSource._next_games`. Raises :class:`SelfPlayError` if a process has ended."""
        ended = [process.exitcode for process in self.processes if process.exitcode is not None]
        raise_for_main_guard(ended)
        if any(ended):
            if stop.wait(_SECONDS_TO_STOP):
                return (), SelfPlayTimings()
            raise SelfPlayError(f"a self-play process ended with exit code {max(ended, key=abs)}")
        try:
            over, timings = self._games.get(timeout=0.2)
        except queue.Empty:
            if ended:
                raise SelfPlayError("a self-play process ended by itself") from None
            return (), SelfPlayTimings()
        if isinstance(over, str):
            error = SelfPlayError(f"a self-play process failed: {over.strip().splitlines()[-1]}")
            error.add_note(over)
            raise error
        return over, timings

    def update(self, weights: Mapping[str, Tensor], progress: float) -> None:
        """See :meth:`GameSource.update`."""
        arrays = {name: tensor.detach().cpu().numpy().copy() for name, tensor in weights.items()}
        for waiting in self._weights:
            waiting.put((arrays, progress))

    def close(self) -> None:
        """Stop the processes."""
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join()
        for waiting in (self._games, *self._weights):
            waiting.cancel_join_thread()
            waiting.close()


def _play_for_ever(
    entries: tuple[Entry, ...],
    architecture: Architecture,
    config: AlphaZeroConfig,
    seed: np.random.SeedSequence,
    place: Place,
    weights: Any,
    games: Any,
) -> None:
    """Play, and put the finished games with the time and counts since the previous ones into the queue ``games``."""
    exit_with_parent()
    try:
        add_entries(entries)
        network = make_network(architecture, seed=0)
        newest = weights.get()
        self_play = make_self_play(network, config, seed, place=place)
        waiting: list[PlayedGame] = []
        timings: list[SelfPlayTimings] = []
        while True:
            with contextlib.suppress(queue.Empty):
                while True:  # a step may take longer than an iteration of the learner
                    newest = weights.get_nowait()
            if newest is not None:
                self_play.update(*newest)
            newest = None
            over, of_step = self_play.step()
            waiting += over
            timings.append(of_step)
            if waiting:
                games.put((waiting, SelfPlayTimings.sum(timings)))
                waiting, timings = [], []
    except Exception:
        games.put((traceback.format_exc(), None))
