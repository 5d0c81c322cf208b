"""Stoneworks environments: PettingZoo AEC and Gymnasium environments over the shared rules core.

Importing this package registers every game with Gymnasium (``stoneworks/Vadus-v0``) and PettingZoo (``stoneworks/vadus-v0``).
``from stoneworks.envs import vadus_v0`` returns a PettingZoo environment module with ``env`` and ``raw_env``; one exists for
every registered game, named after the game and its registered version. All names are imported lazily, on first use.
"""

from typing import Any

import lazy_loader

from stoneworks.envs.environment_modules import environment_module, environment_module_names
from stoneworks.envs.registration import register

_lazy, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    module = environment_module(name)
    return _lazy(name) if module is None else module


def __dir__() -> list[str]:
    return [*__all__, *environment_module_names()]


register()
