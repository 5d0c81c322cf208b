"""Hex of examples/hex.py, registered while the tests of a module run, as another package would register it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from stoneworks.envs.rules.games import GAMES


@pytest.fixture(scope="module")
def hex_module(repository: Path) -> Iterator[ModuleType]:
    folder = str(repository / "examples")
    sys.path.insert(0, folder)
    sys.modules.pop("hex", None)
    import hex as module

    entry = GAMES.added("hex")
    assert entry is not None
    yield module
    GAMES.remove("hex")
    del sys.modules["hex"]
    sys.path.remove(folder)
