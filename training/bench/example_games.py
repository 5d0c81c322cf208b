"""Hex, which others have too: the bench compares on it. It is no part of the package, but of the source's examples."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from stoneworks.envs.rules import Game, game_names, load_game

#: The example, as a requirement of a contestant.
HEX = "examples/hex.py"
_SOURCE = Path(__file__).resolve().parents[2]


def is_available(requirement: str) -> bool:
    """Return whether what a contestant requires is there: a module, or ``HEX``."""
    if requirement == HEX:
        return "hex" in game_names() or (_SOURCE / HEX).is_file()
    return importlib.util.find_spec(requirement) is not None


def load_measured_game(game_string: str) -> Game:
    """Return a game; Hex is registered first if it is not yet."""
    if game_string.startswith("hex") and "hex" not in game_names():
        spec = importlib.util.spec_from_file_location("hex", _SOURCE / HEX)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["hex"] = module  # the registry refers to the module by its name
        spec.loader.exec_module(module)
    return load_game(game_string)
