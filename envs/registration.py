"""Names for the environments in Gymnasium's and PettingZoo's registries.

Importing ``stoneworks.envs`` must register the games, and importing the rules core, which imports its parent package
``stoneworks.envs`` as well, must not import Gymnasium. So a library that is imported already gets its names at once, and
one that is imported later gets them right after its import.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from stoneworks.envs.rules.games import GAMES, GameEntry

logger = logging.getLogger("stoneworks.registry")


def register() -> None:
    """Register every game, now and later ones, as soon as Gymnasium and PettingZoo are imported."""
    for library, register_entry in _REGISTER_ENTRY.items():
        module = sys.modules.get(library)
        if module is None:
            sys.meta_path.insert(0, _RegisterAfterImport(library))
        else:
            _register_all(module, register_entry)


def _register_all(module: ModuleType, register_entry: Callable[[Any, GameEntry], None]) -> None:
    for entry in GAMES.loadable():
        register_entry(module, entry)
    GAMES.call_on_add(lambda entry: register_entry(module, entry))


def _register_in_gymnasium(gymnasium: Any, entry: GameEntry) -> None:
    name = f"stoneworks/{entry.name.capitalize()}-v{entry.version}"
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point="stoneworks.envs.single_agent:SingleAgentEnv",
            vector_entry_point="stoneworks.envs.vector:VectorEnv",
            kwargs={"game": entry.name},
        )


def _register_in_pettingzoo(pettingzoo: Any, entry: GameEntry) -> None:
    name = f"stoneworks/{entry.name}-v{entry.version}"
    # PettingZoo has had a registry since 1.27.
    if hasattr(pettingzoo, "register") and name not in pettingzoo.aec_registry:
        pettingzoo.register("aec", name, entry_point="stoneworks.envs.aec:BoardGameEnv", kwargs={"game": entry.name})


_REGISTER_ENTRY: dict[str, Callable[[Any, GameEntry], None]] = {
    "gymnasium": _register_in_gymnasium,
    "pettingzoo": _register_in_pettingzoo,
}


class _RegisterAfterImport(MetaPathFinder):
    """Lets the other finders find one library, and registers the games once that library is imported."""

    def __init__(self, library: str) -> None:
        self._library = library

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._library:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next((found for finder in others if (found := finder.find_spec(name, path, target))), None)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = self._then_register(spec.loader.exec_module)  # type: ignore[assignment,method-assign]
        return spec

    def _then_register(self, execute: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                _register_all(module, _REGISTER_ENTRY[self._library])

        return execute_and_register
