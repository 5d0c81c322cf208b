"""Stoneworks: five new two-player board games for reinforcement learning.

Public names are imported lazily, on first use, to keep ``import stoneworks`` fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stoneworks.lazy_names import lazy_names

if TYPE_CHECKING:
    from stoneworks.envs.rules import Batch, Game, State, game_names, load_game, register_game
    from stoneworks.models import Bot, bot_names, load_bot, register_bot

__all__ = [
    "Batch",
    "Bot",
    "Game",
    "State",
    "__version__",
    "bot_names",
    "game_names",
    "load_bot",
    "load_game",
    "register_bot",
    "register_game",
]

_lazy = lazy_names(
    __name__,
    {
        "Batch": "envs.rules",
        "Game": "envs.rules",
        "State": "envs.rules",
        "game_names": "envs.rules",
        "load_game": "envs.rules",
        "register_game": "envs.rules",
        "Bot": "models",
        "bot_names": "models",
        "load_bot": "models",
        "register_bot": "models",
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("stoneworks")
    return _lazy(name)


def __dir__() -> list[str]:
    return __all__
