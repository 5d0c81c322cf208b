"""``DeviceSelfPlay``: a source of games whose leaves a device evaluates, in two halves so that it need not wait."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.extras import require_extra
from stoneworks.models.inference.device_inference import DeviceEvaluator, DeviceInference
from stoneworks.models.inference.network_inference import DTYPES, fastest_dtype
from stoneworks.models.machine import num_processors
from stoneworks.models.network import BoardNetwork
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.models.search.device_search import DeviceSearch
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlay, SelfPlayTimings
from stoneworks.training.alphazero.sources import GameSource, InProcessSelfPlay

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor


class Place(NamedTuple):
    """The number of a self-play process among those of this machine."""

    number: int
    num_processes: int


class DeviceSelfPlay(GameSource):
    """Plays two halves of the concurrent games, each in a thread of its own, with one network on ``config.self_play.device``.

    While the device evaluates the leaves of one half, the other walks its trees.

    Attributes:
        halves: the self-play of each half.
        inference: the network on the device.
    """

    def __init__(
        self,
        network: BoardNetwork,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
        progress: float = 0.0,
        *,
        place: Place | None = None,
        threads: int | None = None,
    ) -> None:
        """Begin the games.

        Args:
            network: the network, of which a copy is on the device.
            config: the configuration.
            seed: seed of the games, which do not depend on the number of threads.
            progress: completed fraction of the run, in [0, 1].
            place: the process, for a step that ends when one of the halves has played an action, while the other goes on. None
                if both have to, so that equal seeds give equal games.
            threads: number of threads that walk the trees of a half; None for the processors of this process.

        Raises:
            MissingDependencyError, DeviceError, TargetError: see ``Batch``.
        """
        number, num_processes = place or Place(0, 1)
        is_emulated = config.self_play.device == "emulated"
        name = "emulated" if is_emulated else f"cuda:{number % num_devices(config)}"
        dtype = torch.float32 if is_emulated else fastest_dtype(torch.device(name))
        dtype = dtype if config.precision == "auto" else DTYPES[config.precision]
        threads = threads or max(1, num_processors() // num_processes)
        self.inference = DeviceInference(network, name, dtype)
        self._until = ALL_COMPLETED if place is None else FIRST_COMPLETED
        self._progress = progress
        self._threads = ThreadPoolExecutor(2)
        self._running: dict[_Half, Future[tuple[list[PlayedGame], SelfPlayTimings]]] = {}
        self.halves = [
            _Half(
                network, _with_games(config, (config.self_play.num_games + one) // 2), of_half, self.inference, threads
            )
            for one, of_half in enumerate(seed.spawn(2))
        ]

    def step(self) -> tuple[list[PlayedGame], SelfPlayTimings]:
        """Play one action in each game of a part of a half or of both; return the finished games, and the time and counts."""
        for half in self.halves:
            if half not in self._running:
                half.set_progress(self._progress)
                self._running[half] = self._threads.submit(half.step)
        wait(self._running.values(), return_when=self._until)
        done = [self._running.pop(half).result() for half in self.halves if self._running[half].done()]
        return [game for played, _ in done for game in played], SelfPlayTimings.sum(timings for _, timings in done)

    def _next_games(self, stop: threading.Event) -> tuple[Sequence[PlayedGame], SelfPlayTimings]:
        return self.step()

    def update(self, weights: Mapping[str, Tensor | npt.NDArray[np.float32]], progress: float) -> None:
        """See :meth:`GameSource.update`. The weights change between two evaluations; searches go on."""
        self.inference.load_weights({name: torch.as_tensor(values) for name, values in weights.items()})
        self._progress = progress

    def close(self) -> None:
        """Wait for the searches of this step."""
        self._threads.shutdown()


class _Half(InProcessSelfPlay):
    def __init__(
        self,
        network: BoardNetwork,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
        inference: DeviceInference,
        threads: int,
    ) -> None:
        self._make_search = partial(DeviceSearch, threads=threads)
        self._on_device = inference
        super().__init__(network, config, seed, inference=inference)

    def _begin(self, game: Game, seed: np.random.SeedSequence, num_games: int) -> SelfPlay:
        inputs = NetworkInputs(game, self._config.network.sees_features)
        evaluate = DeviceEvaluator(self._on_device, inputs, num_games)
        return SelfPlay(game, evaluate, self._config, seed, num_games=num_games, make_search=self._make_search)


def _with_games(config: AlphaZeroConfig, number: int) -> AlphaZeroConfig:
    return config.model_copy(update={"self_play": config.self_play.model_copy(update={"num_games": number})})


def num_devices(config: AlphaZeroConfig) -> int:
    """Return the number of devices for ``config.self_play.device``, at least 1."""
    return max(1, torch.cuda.device_count()) if config.self_play.device == "cuda" else 1


def make_self_play(
    network: BoardNetwork,
    config: AlphaZeroConfig,
    seed: np.random.SeedSequence,
    progress: float = 0.0,
    *,
    place: Place | None = None,
) -> InProcessSelfPlay | DeviceSelfPlay:
    """Return the self-play of a process, or of this one if ``place`` is None."""
    if config.self_play.device == "cpu":
        return InProcessSelfPlay(network, config, seed, progress)
    return DeviceSelfPlay(network, config, seed, progress, place=place)
