"""Sources of self-play games, and the one that plays in this process, alternating with learning.

:class:`stoneworks.training.alphazero.processes.SelfPlayProcesses` and
:class:`stoneworks.training.alphazero.cluster.source.ClusterSelfPlay` play at the same time as the learner: each process
has an ``InProcessSelfPlay``, or with a ``self_play.device`` other than ``cpu`` a ``DeviceSelfPlay``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game, load_game
from stoneworks.extras import require_extra
from stoneworks.models.inference import network_inference
from stoneworks.models.inference.network_inference import DTYPES, Inference, fastest_dtype
from stoneworks.models.network import BoardNetwork
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlay, SelfPlayTimings
from stoneworks.training.runs.hardware import find_device

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor


if TYPE_CHECKING:
    from stoneworks.training.alphazero.cluster.status import ClusterStatus

#: Smallest number of concurrent games of a game with a small share; the network is slower with smaller batches.
MIN_GAMES = 16


class SelfPlayError(RuntimeError):
    """Raised when a self-play process or actor ends unexpectedly. The message contains its error; a note, the traceback."""


class GameSource(ABC):
    """Source of the self-play games of a run."""

    def collect(self, num_positions: int, stop: threading.Event) -> tuple[list[PlayedGame], SelfPlayTimings]:
        """Return finished games with their time and counts: at least ``num_positions``, or fewer if ``stop`` is set."""
        played: list[PlayedGame] = []
        timings: list[SelfPlayTimings] = []
        missing = num_positions
        while missing > 0 and not stop.is_set():
            over, of_games = self._next_games(stop)
            timings.append(of_games)
            played += over
            missing -= sum(len(game.positions) for game in over)
        return played, SelfPlayTimings.sum(timings)

    @abstractmethod
    def _next_games(self, stop: threading.Event) -> tuple[Sequence[PlayedGame], SelfPlayTimings]:
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


class InProcessSelfPlay(GameSource):
    """Plays in this process, during :meth:`collect` or :meth:`step` only. Unfinished games continue in the next call.

    With several games, e.g. several board sizes, each step is taken in the game that is furthest below its share.

    Attributes:
        parts: self-play by game string.
    """

    def __init__(
        self,
        network: BoardNetwork,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
        progress: float = 0.0,
        inference: Inference | None = None,
    ) -> None:
        """Begin the concurrent games: ``config.self_play.num_games`` of the game with the largest share.

        The others have fewer in proportion to their shares, but at least ``MIN_GAMES`` if the first has: with as many, the
        games of a small share would take most of a run until the first of them end.

        Without ``inference``, positions are evaluated by that of the configuration (:func:`make_inference`).
        """
        torch.set_num_threads(config.threads)
        self._inference = make_inference(network, config) if inference is None else inference
        shares = config.largest_shares()
        largest = max(shares.values())
        most = config.self_play.num_games
        seeds = [seed] if len(shares) == 1 else seed.spawn(len(shares))
        self._config = config
        self._due = dict.fromkeys(shares, 0.0)
        self.parts = {
            game: self._begin(load_game(game), own_seed, min(most, max(MIN_GAMES, round(most * share / largest))))
            for (game, share), own_seed in zip(shares.items(), seeds, strict=True)
        }
        self.update(network.playing_state_dict(), progress)

    def _begin(self, game: Game, seed: np.random.SeedSequence, num_games: int) -> SelfPlay:
        return SelfPlay(game, self._inference, self._config, seed, num_games=num_games)

    def step(self) -> tuple[list[PlayedGame], SelfPlayTimings]:
        """Play one action in each game of one part; return the finished games, and the time and counts of this step."""
        # Sums of positions due are rounded, so a game without a share must not be among the candidates.
        played = (game for game in self.parts if self._shares[game] > 0)
        game = max(played, key=lambda game: (self._due[game], self._shares[game]))
        self_play = self.parts[game]
        timings, num_positions = self_play.timings, self_play.num_positions
        finished = self_play.step()
        num_positions = self_play.num_positions - num_positions
        for name, share in self._shares.items():
            self._due[name] += num_positions * (share - (name == game))
        return finished, self_play.timings.minus(timings)

    def _next_games(self, stop: threading.Event) -> tuple[Sequence[PlayedGame], SelfPlayTimings]:
        return self.step()

    def update(self, weights: Mapping[str, Tensor | npt.NDArray[np.float32]], progress: float) -> None:
        """See :meth:`GameSource.update`."""
        self._inference.load_weights({name: torch.as_tensor(values) for name, values in weights.items()})
        self.set_progress(progress)

    def set_progress(self, progress: float) -> None:
        """Set ``progress``, the completed fraction of the run in [0, 1]."""
        self._shares = self._config.shares(progress)
        for self_play in self.parts.values():
            self_play.set_progress(progress)
