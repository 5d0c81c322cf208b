"""Sources of self-play games: this process, alternating with learning, or concurrent self-play processes.

:class:`stoneworks.training.alphazero.cluster.source.ClusterSelfPlay` is the source that uses the machines of a cluster.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stoneworks.extras import require_extra
from stoneworks.models.inference import network_inference
from stoneworks.models.inference.network_inference import DTYPES, Inference, fastest_dtype
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.processes import exit_with_parent, interrupts_blocked
from stoneworks.registry import Entry, add_entries, added_entries
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.mixed_self_play import Clocks, MixedSelfPlay
from stoneworks.training.alphazero.self_play import PlayedGame
from stoneworks.training.runs.hardware import find_device

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor


if TYPE_CHECKING:
    from stoneworks.training.alphazero.cluster.status import ClusterStatus


#: A batch system sends SIGTERM to all processes at once, so the others may end before this one has noticed.
_SECONDS_TO_STOP = 1.0


class SelfPlayError(RuntimeError):
    """Raised when a self-play process or actor ends unexpectedly. The message contains its error; a note, the traceback."""


class GameSource(ABC):
    """Source of the self-play games of a run."""

    def collect(self, num_positions: int, stop: threading.Event) -> tuple[list[PlayedGame], Clocks]:
        """Return finished games with their time and counts: at least ``num_positions``, or fewer if ``stop`` is set."""
        played: list[PlayedGame] = []
        clocks, missing = Clocks(), num_positions
        while missing > 0 and not stop.is_set():
            over, of_games = self._next_games(stop)
            clocks.add(of_games)
            played += over
            missing -= sum(len(game.positions) for game in over)
        return played, clocks

    @abstractmethod
    def _next_games(self, stop: threading.Event) -> tuple[Sequence[PlayedGame], Clocks]:
        """Return the next finished games, if there are any, with their time and counts; soon if ``stop`` is set."""

    @abstractmethod
    def update(self, weights: Mapping[str, Tensor], progress: float) -> None:
        """Set the weights of the acting network and ``progress``, the completed fraction of the run in [0, 1]."""

    def status(self) -> ClusterStatus | None:
        """Return the status since the previous call on a cluster; None on one machine."""
        return None

    def close(self) -> None:  # noqa: B027  self-play in this process has nothing to stop
        """Stop self-play."""


def device_and_dtype(config: AlphaZeroConfig) -> tuple[torch.device, torch.dtype]:
    """Return the device and the dtype of the networks of a run."""
    device = find_device(config.device)
    return device, fastest_dtype(device) if config.precision == "auto" else DTYPES[config.precision]


def make_inference(network: BoardNetwork, config: AlphaZeroConfig) -> Inference:
    """Return the inference with the acting network."""
    dtype = None if config.precision == "auto" else DTYPES[config.precision]
    return network_inference.make_inference(network, device=find_device(config.device), dtype=dtype)


class SelfPlayWorker:
    """Self-play in one process: this one, a self-play process, or an actor of a cluster, each with its own network.

    Attributes:
        step: plays one action in each game (see :meth:`MixedSelfPlay.step`).
    """

    def __init__(self, network: BoardNetwork, config: AlphaZeroConfig, seed: np.random.SeedSequence) -> None:
        torch.set_num_threads(config.threads)
        self._inference = make_inference(network, config)
        self._self_play = MixedSelfPlay(self._inference, config, seed)
        self.step = self._self_play.step

    def load(self, weights: Mapping[str, Tensor | npt.NDArray[np.float32]], progress: float) -> None:
        """Load weights and set ``progress`` (see :meth:`GameSource.update`)."""
        self._inference.load_weights({name: torch.as_tensor(values) for name, values in weights.items()})
        self._self_play.set_progress(progress)


class OwnSelfPlay(GameSource):
    """Plays in this process, during :meth:`collect` only. Unfinished games continue in the next call."""

    def __init__(
        self, network: BoardNetwork, config: AlphaZeroConfig, seed: np.random.SeedSequence, progress: float
    ) -> None:
        self._worker = SelfPlayWorker(network, config, seed)
        self.update(network.playing_state_dict(), progress)

    def _next_games(self, stop: threading.Event) -> tuple[Sequence[PlayedGame], Clocks]:
        return self._worker.step()

    def update(self, weights: Mapping[str, Tensor], progress: float) -> None:
        """See :meth:`GameSource.update`."""
        self._worker.load(weights, progress)


class SelfPlayProcesses(GameSource):
    """Plays continuously in separate processes.

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
        context = multiprocessing.get_context("spawn")
        self._games: Any = context.Queue(maxsize=64)
        self._weights = [context.Queue() for _ in range(num_processes)]
        self._processes = [
            context.Process(
                target=_play_for_ever,
                args=(added_entries(), network.architecture, config, own_seed, weights, self._games),
                daemon=True,
            )
            for own_seed, weights in zip(seed.spawn(num_processes), self._weights, strict=True)
        ]
        self.update(network.playing_state_dict(), progress)
        with interrupts_blocked():
            for process in self._processes:
                process.start()

    def _next_games(self, stop: threading.Event) -> tuple[Sequence[PlayedGame], Clocks]:
        """See :meth:`GameSource._next_games`. Raises :class:`SelfPlayError` if a process has ended."""
        ended = [process.exitcode for process in self._processes if process.exitcode is not None]
        if any(ended):
            if stop.wait(_SECONDS_TO_STOP):
                return (), Clocks()
            raise SelfPlayError(f"a self-play process ended with exit code {max(ended, key=abs)}")
        try:
            over, clocks = self._games.get(timeout=0.2)
        except queue.Empty:
            if ended:
                raise SelfPlayError("a self-play process ended by itself") from None
            return (), Clocks()
        if isinstance(over, str):
            error = SelfPlayError(f"a self-play process failed: {over.strip().splitlines()[-1]}")
            error.add_note(over)
            raise error
        return over, clocks

    def update(self, weights: Mapping[str, Tensor], progress: float) -> None:
        """See :meth:`GameSource.update`."""
        arrays = {name: tensor.detach().cpu().numpy().copy() for name, tensor in weights.items()}
        for waiting in self._weights:
            waiting.put((arrays, progress))

    def close(self) -> None:
        """Stop the processes."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()
        for waiting in (self._games, *self._weights):
            waiting.cancel_join_thread()
            waiting.close()


def _play_for_ever(
    entries: tuple[Entry, ...],
    architecture: Architecture,
    config: AlphaZeroConfig,
    seed: np.random.SeedSequence,
    weights: Any,
    games: Any,
) -> None:
    """Play, and put the finished games with the time and counts since the previous ones into the queue ``games``."""
    exit_with_parent()
    try:
        add_entries(entries)
        worker = SelfPlayWorker(make_network(architecture, seed=0), config, seed)
        worker.load(*weights.get())
        waiting: list[PlayedGame] = []
        clocks = Clocks()
        while True:
            newest = None
            with contextlib.suppress(queue.Empty):
                while True:  # a step may take longer than an iteration of the learner
                    newest = weights.get_nowait()
            if newest is not None:
                worker.load(*newest)
            over, of_step = worker.step()
            waiting += over
            clocks.add(of_step)
            if waiting:
                games.put((waiting, clocks))
                waiting, clocks = [], Clocks()
    except Exception:
        games.put((traceback.format_exc(), None))
