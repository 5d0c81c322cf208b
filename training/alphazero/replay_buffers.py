"""The replay buffers of a run, one per game, and the training batches drawn from them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from stoneworks.envs.rules import load_game
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.positions import BatchMaker, TrainingBatch, check_positions, position_dtype
from stoneworks.training.alphazero.replay_buffer import ReplayBuffer
from stoneworks.training.alphazero.self_play import PlayedGame


class ReplayBuffers:
    """Stores the positions of self-play games and draws training batches, each from one game, in proportion to its share."""

    def __init__(self, folder: Path, config: AlphaZeroConfig, num_added: Mapping[str, int]) -> None:
        """Open the buffers.

        Args:
            folder: the folder of the buffer; with several games, that of their folders, which are named after them.
            config: the configuration of the run.
            num_added: number of positions to resume from, by game string.

        Raises:
            CheckpointError: see :class:`stoneworks.training.alphazero.replay_buffer.ReplayBuffer`.
        """
        self._settings = config.learner
        self._shares = config.shares()
        self._buffers: dict[str, ReplayBuffer] = {}
        self._makers: dict[str, BatchMaker] = {}
        for name, share in self._shares.items():
            game = load_game(name)
            self._buffers[name] = ReplayBuffer(
                folder if len(self._shares) == 1 else folder / name,
                position_dtype(game),
                int(share * config.learner.buffer_bytes),
                num_added.get(name, 0),
                functools.partial(check_positions, game),
            )
            self._makers[name] = BatchMaker(
                game,
                config.learner.search_value_share,
                config.search.discount,
                features=config.network.sees_features,
                final_boards=config.learner.final_board_weight > 0,
            )

    @property
    def num_added(self) -> dict[str, int]:
        """Number of positions added so far, by game string."""
        return {game: buffer.num_added for game, buffer in self._buffers.items()}

    def add(self, played: Sequence[PlayedGame]) -> None:
        """Add the positions of finished games."""
        for name, buffer in self._buffers.items():
            positions = [game.positions for game in played if game.game == name]
            if positions:
                buffer.add(np.concatenate(positions))

    def add_from(self, other: ReplayBuffers) -> None:
        """Add the positions of ``other``, which must have all games of these buffers."""
        for name, buffer in self._buffers.items():
            buffer.add(other._buffers[name].all())

    def make_batch(self, generator: np.random.Generator) -> TrainingBatch:
        """Return a random batch of ``batch_size`` positions of one game, within the window of the configuration."""
        names = [name for name, buffer in self._buffers.items() if len(buffer)]
        shares = np.array([self._shares[name] for name in names])
        name = names[0] if len(names) == 1 else names[generator.choice(len(names), p=shares / shares.sum())]
        settings, buffer = self._settings, self._buffers[name]
        window = max(1, int(settings.min_window * self._shares[name]), int(settings.window_share * buffer.num_added))
        return self._makers[name].make(buffer.sample(settings.batch_size, window, generator), generator)
