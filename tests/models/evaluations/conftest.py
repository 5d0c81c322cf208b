"""Simple versions of evaluations, and positions on which the fast ones must agree with them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest

from stoneworks.envs.rules import Batch, Game


@pytest.fixture
def simple_version() -> Callable[[str], ModuleType]:
    """Load the module of a simple evaluation, such as ``simple_taugo``."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

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
