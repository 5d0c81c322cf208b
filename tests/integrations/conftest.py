"""What the tests of libraries share: the games, and the examples as modules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from stoneworks.envs.rules.games import small_games


@pytest.fixture(params=small_games())
def game(request: pytest.FixtureRequest) -> str:
    """Each game on a small board, as a game string."""
    return request.param


@pytest.fixture
def example(load_module: Callable[[str, Path], ModuleType], repository: Path) -> Callable[[str], ModuleType]:
    """Return a function that imports an example by its name."""

    def load(name: str) -> ModuleType:
        return load_module(f"example_{name}", repository / "examples" / f"{name}.py")

    return load
