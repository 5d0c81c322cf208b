"""How other libraries find the environments: modules such as ``stoneworks.envs.vadus_v0``, Gymnasium and PettingZoo.

``import stoneworks`` must be fast and import neither library. The games are therefore registered immediately with a library that
is already imported, and right after its import with a library that is imported later. Environment modules are made on import.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stoneworks.envs.rules.games import GameEntry


# -- Modules -----------------------------------------------------------------------------------------------------------


def environment_module_names() -> list[str]:
    """Return the names of all environment modules, such as ``"vadus_v0"``."""
    from stoneworks.envs.rules.games import GAMES

    return [_module_name(entry) for entry in GAMES.loadable()]


class EnvironmentModules:
    """Importer of ``stoneworks.envs.vadus_v0`` and the like: PettingZoo environment modules of all registered games."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the specification of an environment module, or None if the name is not that of one.

        Raises:
            ImportError: the game is registered with a different version.
            RegistrationError: the game of another package cannot be loaded.
        """
        match = re.fullmatch(rf"{re.escape(__package__)}\.((\w+)_v[0-9]+)", name, re.ASCII)
        if match is None:
            return None
        from stoneworks.envs.rules.games import GAMES

        if match[2] not in GAMES:
            return None
        entry = GAMES[match[2]]
        if match[1] != _module_name(entry):
            raise ImportError(
                f"{__package__} has no {match[1]}; the version of {entry.name} is {entry.version}: use {_module_name(entry)}"
            )
        return ModuleSpec(name, EnvironmentModules(), loader_state=entry)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        from stoneworks.envs.aec import BoardGameEnv

        assert module.__spec__ is not None
        entry = module.__spec__.loader_state
        module.__doc__ = (
            f"{entry.name.capitalize()}, version {entry.version}, as a PettingZoo AEC environment. ``env(...)`` makes it; the "
            "arguments are the options of the game and those of ``stoneworks.envs.BoardGameEnv`` after the first."
        )
        # The environment validates call order and actions itself, so PettingZoo's wrappers are not needed.
        env = partial(BoardGameEnv, entry.name)
        module.__dict__.update(env=env, raw_env=env, __all__=["env", "raw_env"])


def _module_name(entry: GameEntry) -> str:
    return f"{entry.name}_v{entry.version}"


# -- Registries --------------------------------------------------------------------------------------------------------


def register() -> None:
    """Make the environment modules importable, and register all games with each library once it is imported."""
    sys.meta_path.append(EnvironmentModules)
    for library, register_entry in _REGISTER_ENTRY.items():
        module = sys.modules.get(library)
        if module is not None:
            _register_all(module, register_entry)
        else:
            sys.meta_path.insert(0, _RegisterAfterImport(library))


def _register_all(module: ModuleType, register_entry: Callable[[Any, GameEntry], None]) -> None:
    from stoneworks.envs.rules.games import GAMES

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
