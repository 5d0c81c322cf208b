"""Algorithms of the benchmark: what the runner requires of one, and where it finds it by name."""

from __future__ import annotations

import importlib
import inspect
import runpy
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.protocol import Track
from stoneworks.envs.rules import Game

#: The algorithms by name: module and class.
LEARNERS = {
    "alphazero": ("ours", "AlphaZeroScratch"),
    "alphazero-puct": ("ours", "AlphaZeroPUCT"),
    "alphazero-open": ("ours", "AlphaZeroOpen"),
    "ppo": ("ours", "PPOScratch"),
    "ppo-open": ("ours", "PPOOpen"),
    "maskable-ppo": ("sb3", "Usual"),
    "maskable-ppo-vector": ("sb3", "Vector"),
    "openspiel-dqn": ("openspiel", "OpenSpielDQN"),
    "rllib-ppo": ("rllib", "RLlibPPO"),
}


class Clock:
    """Processor time of training, of all threads of this process. The runner starts it for training only.

    Attributes:
        budget: the processor seconds of the whole run.
        due_at: processor seconds at which training pauses next.
        processor_seconds: processor time up to the latest pause.
        wall_seconds: time up to the latest pause.
    """

    def __init__(self, budget: float, processor_seconds: float = 0.0, wall_seconds: float = 0.0) -> None:
        self.budget = budget
        self.due_at = budget
        self.processor_seconds = processor_seconds
        self.wall_seconds = wall_seconds
        self._began: tuple[float, float] | None = None

    def start(self) -> None:
        """Start the clock."""
        self._began = time.process_time(), time.monotonic()

    def stop(self) -> None:
        """Stop the clock."""
        if self._began is not None:
            self.processor_seconds += time.process_time() - self._began[0]
            self.wall_seconds += time.monotonic() - self._began[1]
        self._began = None

    def seconds(self) -> float:
        """Return the processor seconds so far."""
        running = 0.0 if self._began is None else time.process_time() - self._began[0]
        return self.processor_seconds + running

    def due(self) -> bool:
        """Return whether ``train`` must return."""
        return self.seconds() >= self.due_at

    def progress(self) -> float:
        """Return the completed part of the run, in [0, 1], for schedules."""
        return min(1.0, self.seconds() / self.budget)


class Learner(ABC):
    """An algorithm in training, in one thread of this process.

    Attributes:
        game: the game.
        seed: seed of all random numbers.
        folder: folder of what :meth:`save` writes.
        clock: says when to pause, and the progress.
        steps: environment steps since the object was made.
        simulations: simulations of searches since the object was made.
        configuration: the settings, as JSON has them.
    """

    #: What the algorithm may know: the rules only (``scratch``), or also features, evaluations and teachers (``open``).
    track: ClassVar[Track] = "scratch"
    #: Whether the player is a checkpoint, which can also be rated with a search.
    searches: ClassVar[bool] = False

    def __init__(self, game: Game, seed: int, folder: Path, clock: Clock) -> None:
        """Begin, or continue from what :meth:`save` has left in ``folder``, which exists."""
        self.game, self.seed, self.folder, self.clock = game, seed, folder, clock
        self.steps = self.simulations = 0
        self.configuration: Mapping[str, Any] = {}

    @abstractmethod
    def iterate(self) -> None:
        """Train for a short time: one update, one batch of games."""

    @abstractmethod
    def save(self) -> str:
        """Write the player, and what is needed to continue, into ``folder``; return the player's name for ``load_bot``."""

    def train(self) -> None:
        """Train for at least one iteration, until ``clock.due()``."""
        self.iterate()
        while not self.clock.due():
            self.iterate()


def load_learner(name: str) -> tuple[str, type[Learner]]:
    """Return the name and the class of an algorithm: one of ``LEARNERS``, or the only one in a Python file.

    Raises:
        ValueError: it is neither.
    """
    if name in LEARNERS:
        module, cls = LEARNERS[name]
        return name, getattr(importlib.import_module(f"benchmarks.learners.{module}"), cls)
    path = Path(name)
    if path.suffix != ".py" or not path.is_file():
        raise ValueError(f"algorithm must be one of {', '.join(LEARNERS)}, or a Python file, got {name!r}")
    defined = [one for one in runpy.run_path(str(path), run_name=path.stem).values() if inspect.isclass(one)]
    found = [
        one
        for one in defined
        if issubclass(one, Learner) and one.__module__ == path.stem and not inspect.isabstract(one)
    ]
    if len(found) != 1:
        raise ValueError(f"{name} must define one subclass of Learner, got {len(found)}")
    if path.stem in LEARNERS:
        raise ValueError(f"the file of an algorithm must not be named as a built-in one, got {name!r}")
    return path.stem, found[0]
