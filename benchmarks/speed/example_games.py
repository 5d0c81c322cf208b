"""Hex, for comparisons with other libraries. It is one of the examples in the source tree, not part of the package."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from stoneworks.envs.rules import Game, game_names, load_game

#: The example as a requirement of a workload.
HEX = "examples/hex.py"
_SOURCE = Path(__file__).resolve().parents[2]


def is_available(requirement: str) -> bool:
    """Return whether a requirement of a workload, a module or ``HEX``, is available."""
    if requirement == HEX:
        return "hex" in game_names() or (_SOURCE / HEX).is_file()
    return importlib.util.find_spec(requirement) is not None


def load_measured_game(game_string: str) -> Game:
    """Return a game; Hex is registered first if necessary."""
    if game_string.startswith("hex") and "hex" not in game_names():
        sys.path.append(str((_SOURCE / HEX).parent))  # worker processes get it too
        sys.modules.pop("hex", None)  # it registers the game when it is executed
        importlib.import_module("hex")
    return load_game(game_string)
