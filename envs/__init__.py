"""Stoneworks environments: PettingZoo AEC and Gymnasium environments over the shared rules core.

Importing this package registers every game with Gymnasium (``stoneworks/Vadus-v0``) and PettingZoo (``stoneworks/vadus-v0``).
``from stoneworks.envs import vadus_v0`` returns a PettingZoo environment module with ``env`` and ``raw_env``; one exists for
every registered game, named after the game and its registered version. All names are imported lazily, on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stoneworks.envs.environment_modules import environment_module, environment_module_names
from stoneworks.envs.registration import register
from stoneworks.lazy_names import lazy_names

if TYPE_CHECKING:
    from stoneworks.envs.aec import BoardGameEnv
    from stoneworks.envs.drawing import Drawing, draw
    from stoneworks.envs.self_play import SelfPlayVectorEnv
    from stoneworks.envs.single_agent import SingleAgentEnv
    from stoneworks.envs.vector import VectorEnv

__all__ = ["BoardGameEnv", "Drawing", "SelfPlayVectorEnv", "SingleAgentEnv", "VectorEnv", "draw"]

_lazy = lazy_names(
    __name__,
    {
        "BoardGameEnv": "aec",
        "Drawing": "drawing",
        "SelfPlayVectorEnv": "self_play",
        "SingleAgentEnv": "single_agent",
        "VectorEnv": "vector",
        "draw": "drawing",
    },
)


def __getattr__(name: str) -> Any:
    module = environment_module(name)
    return _lazy(name) if module is None else module


def __dir__() -> list[str]:
    return [*__all__, *environment_module_names()]


register()
