"""The replay buffers of a run: the newest positions in memory, with a copy on disk in files that are written atomically."""

from __future__ import annotations

import functools
import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import load_game
from stoneworks.files import write_whole
from stoneworks.models.checkpoint import CheckpointError
from stoneworks.reading import read_bytes
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.positions import BatchMaker, TrainingBatch, check_positions, position_dtype
from stoneworks.training.alphazero.self_play import PlayedGame
from stoneworks.training.runs.schedule import value_at

_CHECKSUM_BYTES = hashlib.sha256().digest_size


class ReplayBuffer:
    """A ring buffer of the newest positions. Positions are numbered in the order in which they are added.

    Attributes:
        num_added: total number of positions added so far.
        capacity: maximum number of positions in the buffer.
    """

    def __init__(
        self,
        folder: Path,
        dtype: np.dtype[Any],
        num_bytes: int,
        num_added: int = 0,
        check: Callable[[npt.NDArray[np.void]], None] | None = None,
    ) -> None:
        """Open the buffer.

        Args:
            folder: folder of the buffer's files; the first :meth:`add` creates it.
            dtype: dtype of a position.
            num_bytes: maximum size in memory, in bytes; the files take about the same space on disk.
            num_added: number of positions to resume from. Later positions in the folder are not read, and the next ``add``
                replaces them.
            check: called with the positions of each file; raises ``ValueError`` if they are invalid.

        Raises:
            CheckpointError: a file is damaged, missing, or of a different dtype; the files are unchanged.
        """
        self.capacity = max(1, num_bytes // dtype.itemsize)
        self.num_added = num_added
        self._folder = folder
        self._dtype = dtype
        self._ring: npt.NDArray[np.void] = np.empty(self.capacity, dtype)  # pages are allocated lazily, on first write
        self._check = check
        self._has_later_files = True
        # The oldest files may have been deleted already by a session that was killed after the checkpoint.
        files = position_files(self._folder)
        kept = [(first, file) for first, file in files if first < num_added]
        self._oldest = next_number = kept[0][0] if kept else num_added
        for first, file in kept:
            if first != next_number:
                raise CheckpointError(f"{folder} lacks the positions from {next_number} to {first - 1}")
            positions = self._read(file)
            self._put(first, positions)
            next_number += len(positions)
        if num_added and not files:
            raise CheckpointError(f"{folder} contains no positions, but the checkpoint {num_added}")
        if next_number < num_added:
            raise CheckpointError(f"{folder} lacks the positions from {next_number} to {num_added - 1}")
        if next_number > num_added:
            raise CheckpointError(
                f"{folder} contains positions up to {next_number - 1}, but the checkpoint only up to {num_added - 1}"
            )

    def __len__(self) -> int:
        return min(self.num_added - self._oldest, self.capacity)

    def add(self, positions: npt.NDArray[np.void]) -> None:
        """Add ``positions[n]`` and write them to disk."""
        if not len(positions):
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{self.num_added:012d}.npy"
        content = io.BytesIO()
        np.save(content, positions, allow_pickle=False)
        self._remove_later_files()
        # The NumPy format allows trailing bytes, so the checksum follows the array.
        write_whole(file, content.getvalue() + hashlib.sha256(content.getbuffer()).digest())
        self._put(self.num_added, positions)
        self.num_added += len(positions)
        files = position_files(self._folder)
        for (_, old), (first_of_next, _) in pairwise(files):
            if first_of_next <= self.num_added - self.capacity:
                old.unlink()

    def sample(self, number: int, window: int, generator: np.random.Generator) -> npt.NDArray[np.void]:
        """Return ``positions[number]``, sampled uniformly with replacement from the newest ``window`` positions."""
        width = min(window, len(self))
        drawn = self.num_added - 1 - generator.integers(width, size=number)
        return self._ring[drawn % self.capacity]

    def _remove_later_files(self) -> None:
        """Delete the files written after the checkpoint by a killed session; their positions are generated again."""
        if self._has_later_files:
            for first, file in position_files(self._folder):
                if first >= self.num_added:
                    file.unlink()
        self._has_later_files = False

    def _put(self, first: int, positions: npt.NDArray[np.void]) -> None:
        kept = positions[-self.capacity :]
        first += len(positions) - len(kept)
        self._ring[np.arange(first, first + len(kept)) % self.capacity] = kept

    def _read(self, file: Path) -> npt.NDArray[np.void]:
        positions = read_positions(file, self._dtype)
        if self._check is not None:
            try:
                self._check(positions)
            except ValueError as error:
                raise CheckpointError(f"{file}: {error}") from None
        return positions


def position_files(folder: Path) -> list[tuple[int, Path]]:
    """Return the files of positions in a folder, each with the number of its first position, in their order."""
    return sorted((int(file.stem), file) for file in folder.glob("*.npy") if file.stem.isdecimal())


def read_positions(file: Path, dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Return the positions in a file.

    Raises:
        CheckpointError: the file is damaged, or has another dtype, and thus is of another game.
    """
    content = memoryview(read_bytes(file, CheckpointError))
    array, checksum = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
    if hashlib.sha256(array).digest() != checksum:
        raise CheckpointError(f"{file} is damaged: its checksum does not match")
    try:
        positions: npt.NDArray[np.void] = np.load(io.BytesIO(array), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise CheckpointError(f"{file} is damaged: {error}") from None
    if positions.dtype != dtype or positions.ndim != 1:
        raise CheckpointError(f"{file} contains positions of another game: their dtype is different")
    # A file does not store whether records are aligned, which compiled kernels distinguish.
    return positions.astype(dtype)


class ReplayBuffers:
    """Stores the positions of self-play games and draws training batches, each from one game, in proportion to its window."""

    def __init__(self, folder: Path, config: AlphaZeroConfig, num_added: Mapping[str, int]) -> None:
        """Open the buffers.

        Args:
            folder: the folder of the buffer; with several games, that of their folders, which are named after them.
            config: the configuration of the run.
            num_added: number of positions to resume from, by game string.

        Raises:
            CheckpointError: see :class:`ReplayBuffer`.
        """
        self._settings = config.learner
        self._discount = config.search.discount
        self._shares = config.largest_shares()
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
                features=config.network.sees_features,
                ownership=config.learner.ownership_weight > 0,
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

    def make_batch(self, generator: np.random.Generator, progress: float) -> TrainingBatch:
        """Return a random batch of ``batch_size`` positions of one game, within the window of the configuration.

        ``progress`` is the completed fraction of the run, in [0, 1].
        """
        names = list(self._buffers)
        windows = [self._window(name) for name in names]
        number = 0
        if len(names) > 1:
            number = generator.choice(len(names), p=np.array(windows) / sum(windows))
        name = names[number]
        positions = self._buffers[name].sample(self._settings.batch_size, windows[number], generator)
        return self._makers[name].make(positions, generator, value_at(self._discount, progress))

    def _window(self, name: str) -> int:
        """Return the number of the newest positions of a game that are used for training."""
        settings, buffer = self._settings, self._buffers[name]
        smallest = int(settings.min_window * self._shares[name])
        return min(len(buffer), max(1, smallest, int(settings.window_share * buffer.num_added)))
