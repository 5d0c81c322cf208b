"""Simple versions of evaluations, and positions on which the fast ones must agree with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest

from stoneworks.envs.rules import Batch, Game


@pytest.fixture
def simple_version(load_module: Callable[[str, Path], ModuleType]) -> Callable[[str], ModuleType]:
    """Load the module of a simple evaluation, such as ``simple_taugo``."""

    def load(name: str) -> ModuleType:
        return load_module(name, Path(__file__).with_name(f"{name}.py"))

    return load


@pytest.fixture
def positions_of_random_games() -> Callable[..., npt.NDArray[np.void]]:
    """Collect ``num_times`` positions of each of some random games, ``num_actions`` actions apart."""

    def collect(game: Game, num_games: int, num_times: int, num_actions: int, seed: int = 0) -> npt.NDArray[np.void]:
        batch = Batch(game, num_games, auto_reset=True, seed=seed)
        positions = []
        for _ in range(num_times):
            for _ in range(num_actions):
                batch.step(batch.random_actions())
            positions.append(batch.states.copy())
        return np.concatenate(positions)

    return collect
