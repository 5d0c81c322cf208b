"""``SelfPlayActor``: the Ray actor that plays self-play games on a node."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.registry import Entry, add_entries
from stoneworks.models.architecture import Architecture
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.mixed_self_play import Clocks
from stoneworks.training.alphazero.self_play import PlayedGame
from stoneworks.training.alphazero.sources import SelfPlayWorker

#: Weights of a network by name.
Arrays = Mapping[str, npt.NDArray[np.float32]]


@dataclass
class PlayedBatch:
    """Games that an actor finished in one call.

    Attributes:
        update: number of the update of the weights that the actor had.
        games: the games, possibly none.
        clocks: time and counts of the call.
        trace: the trace of an exception that ended the call; empty otherwise.
    """

    update: int
    games: list[PlayedGame] = field(default_factory=list)
    clocks: Clocks = field(default_factory=Clocks)
    trace: str = ""


class SelfPlayActor:
    """Plays with the code of a self-play process (:class:`SelfPlayWorker`), one batch per call."""

    def __init__(
        self,
        entries: tuple[Entry, ...],
        architecture: Architecture,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
    ) -> None:
        add_entries(entries)
        self._architecture = architecture
        self._config = config
        self._seed = seed
        self._worker: SelfPlayWorker | None = None
        self._update = -1

    def play(self, weights: Arrays, update: int, progress: float, num_positions: int, seconds: float) -> PlayedBatch:
        """Play until there are ``num_positions`` positions of finished games, or ``seconds`` have passed; at least one step.

        Args:
            weights: the latest weights; Ray shares them between the actors of a node.
            update: their number.
            progress: completed fraction of the run.
            num_positions: number of positions that ends the call.
            seconds: time that ends the call.
        """
        batch = PlayedBatch(update)
        until = time.monotonic() + seconds
        try:
            if self._worker is None:
                self._worker = SelfPlayWorker(self._architecture, self._config, self._seed)
            if update != self._update:
                # Ray's shared memory is read-only, which torch does not support.
                self._worker.load({name: np.array(array) for name, array in weights.items()}, progress)
                self._update = update
            missing = num_positions
            while True:
                games, clocks = self._worker.step()
                batch.games += games
                batch.clocks.add(clocks)
                missing -= sum(len(game.positions) for game in games)
                if missing <= 0 or time.monotonic() > until:
                    return batch
        except Exception:
            batch.trace = traceback.format_exc()
            return batch
