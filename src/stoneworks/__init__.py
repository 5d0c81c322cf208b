"""Stoneworks: five new two-player board games for reinforcement learning.

Public names are imported lazily, on first use, to keep ``import stoneworks`` fast.
"""

from typing import Any

import lazy_loader

import stoneworks.envs  # noqa: F401  registers the environments with Gymnasium and PettingZoo

_lazy, _, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = [*_names, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("stoneworks")
    return _lazy(name)


def __dir__() -> list[str]:
    return __all__
