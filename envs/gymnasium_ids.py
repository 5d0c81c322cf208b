"""The games in the registries of Gymnasium (``stoneworks/Vadus-v0``) and PettingZoo (``stoneworks/vadus-v0``).

``import stoneworks`` must be fast and import neither library. The games are therefore registered immediately with a library that
is already imported, and right after its import with a library that is imported later.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stoneworks.envs.rules.game_registry import GameEntry


def register() -> None:
    """Register all games with each library once it is imported."""
    for library, register_entry in _REGISTER_ENTRY.items():
        module = sys.modules.get(library)
        if module is not None:
            _register_all(module, register_entry)
        else:
            sys.meta_path.insert(0, _RegisterAfterImport(library))


def _register_all(module: ModuleType, register_entry: Callable[[Any, GameEntry], None]) -> None:
    from stoneworks.envs.rules.game_registry import GAMES

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
    # PettingZoo has a registry since version 1.27.
    if hasattr(pettingzoo, "register") and name not in pettingzoo.aec_registry:
        pettingzoo.register("aec", name, entry_point="stoneworks.envs.aec:BoardGameEnv", kwargs={"game": entry.name})


_REGISTER_ENTRY: dict[str, Callable[[Any, GameEntry], None]] = {
    "gymnasium": _register_in_gymnasium,
    "pettingzoo": _register_in_pettingzoo,
}


class _RegisterAfterImport:
    """Import hook that registers the games right after one library is imported; other finders locate the library."""

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
