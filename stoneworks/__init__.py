"""Stoneworks: five new two-player board games for reinforcement learning.

The names below are imported on first use, so ``import stoneworks`` itself is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stoneworks.envs.rules import Batch, Game, State, game_names, load_game
    from stoneworks.models import Bot, load_bot

__all__ = ["Batch", "Bot", "Game", "State", "__version__", "game_names", "load_bot", "load_game"]

_MODULES = {
    "Batch": "stoneworks.envs.rules",
    "Game": "stoneworks.envs.rules",
    "State": "stoneworks.envs.rules",
    "game_names": "stoneworks.envs.rules",
    "load_game": "stoneworks.envs.rules",
    "Bot": "stoneworks.models",
    "load_bot": "stoneworks.models",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("stoneworks")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
