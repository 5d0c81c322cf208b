"""Stoneworks environments: PettingZoo AEC and Gymnasium environments over the shared rules core.

``import stoneworks`` imports this package, which registers every game with Gymnasium (``stoneworks/Vadus-v0``) and PettingZoo
(``stoneworks/vadus-v0``). ``stoneworks.envs.vadus_v0`` is a PettingZoo environment module with ``env`` and ``raw_env``; one
exists for every registered game, named after the game and its registered version. All names are imported lazily, on first use.
"""

from importlib import import_module
from typing import Any

import lazy_loader

from stoneworks.envs.registration import EnvironmentModules, environment_module_names, register

_lazy, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    module = f"{__name__}.{name}"
    try:
        found = EnvironmentModules.find_spec(module)
    except ImportError as error:  # hasattr expects AttributeError
        raise AttributeError(str(error)) from error
    return import_module(module) if found else _lazy(name)


def __dir__() -> list[str]:
    return [*__all__, *environment_module_names()]


register()
