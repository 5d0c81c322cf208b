"""PettingZoo environment modules, such as ``vadus_v0`` with ``env`` and ``raw_env``, for all registered games."""

from __future__ import annotations

import re
from functools import cache, partial
from types import ModuleType

from stoneworks.envs.rules.games import GAMES, GameEntry


def environment_module_names() -> list[str]:
    """Return the names of all environment modules, such as ``"vadus_v0"``."""
    return [f"{entry.name}_v{entry.version}" for entry in GAMES.loadable()]


def environment_module(name: str) -> ModuleType | None:
    """Return the environment module with a name such as ``"vadus_v0"``, or None if the name does not refer to a game.

    Raises:
        ImportError: the game is registered with a different version.
        RegistrationError: the game of another package cannot be loaded.
    """
    match = re.fullmatch(r"(\w+)_v([0-9]+)", name, re.ASCII)
    if match is None or match[1] not in GAMES:
        return None
    entry = GAMES[match[1]]
    present = f"{entry.name}_v{entry.version}"
    if name != present:
        raise ImportError(
            f"stoneworks.envs has no {name}; the version of {entry.name} is {entry.version}: use {present}"
        )
    return _module(entry)


@cache
def _module(entry: GameEntry) -> ModuleType:
    from stoneworks.envs.aec import BoardGameEnv

    title = f"{entry.name.capitalize()}, version {entry.version}"
    arguments = (
        "the arguments are the options of the game and those of ``stoneworks.envs.BoardGameEnv`` after the first"
    )
    module = ModuleType(
        f"stoneworks.envs.{entry.name}_v{entry.version}",
        f"{title}, as a PettingZoo AEC environment. ``env(...)`` makes it; {arguments}.",
    )
    # The environment validates call order and actions itself, so PettingZoo's wrappers are not needed.
    env = partial(BoardGameEnv, entry.name)
    module.__dict__.update(env=env, raw_env=env, __all__=["env", "raw_env"])
    return module
