"""The game registry.

Each game of the package has one :class:`GameEntry` in :mod:`stoneworks.envs.games`. Other packages add games with
:func:`register_game` or with an entry point in the group ``stoneworks.games`` that refers to a ``GameEntry``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from stoneworks.checks import check_integer
from stoneworks.registry import (
    HINT,
    Entry,
    ModuleReference,
    RegistrationError as RegistrationError,
    Registry,
    load_attribute,
    path_of,
    shared_name,
)

ENTRY_POINT_GROUP = "stoneworks.games"
#: Maximum length of a game string, many times that of any game's.
MAX_CHARACTERS = 1000


class UnknownGameError(ValueError):
    """Raised when the name of a game is unknown. The message lists the known names."""


def parse_game_string(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"name(option=value,...)"``, where values are literals, into the name and the options.

    Raises:
        ValueError: the text is not a valid game string.
    """
    shown = repr(text[:100] + "..." if isinstance(text, str) and len(text) > MAX_CHARACTERS else text)
    problem = ValueError(f"{shown} is not a valid game string; expected e.g. 'vadus' or 'vadus(size=9)'")
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        raise problem
    try:
        expression = ast.parse(text.strip(), mode="eval").body
        if isinstance(expression, ast.Name):
            return expression.id, {}
        if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and not expression.args:
            options = {keyword.arg: ast.literal_eval(keyword.value) for keyword in expression.keywords}
            if None not in options and len(options) == len(expression.keywords):
                return expression.func.id, {str(name): value for name, value in options.items()}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):  # the last two: nested too deeply
        pass
    raise problem


#: Optional parts of a game, and the name that a game in a single module has for each. All texts are optional.
PARTS = {"heuristic": "heuristic", "features": "FEATURES", "drawing": "compose"}


@dataclass(frozen=True)
class GameEntry(Entry):
    """A registered game, which is imported on first use.

    Attributes:
        name: name of the game for ``load_game``.
        path: path of the game's module, or of a package with the modules that are listed in
            :mod:`stoneworks.envs.rules.contract`; ``"module:Class"`` if a module has several games.
        version: incremented whenever equal actions may lead to different results, observations or action indices.
        samples: game strings for tests, the smallest first; together they cover all kinds of values of every option.

    Raises:
        RegistrationError: an attribute is invalid.
    """

    path: ModuleReference
    version: int = 0
    samples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.samples, tuple):
            raise RegistrationError(f"{self.name}: samples must be a tuple of game strings, got {self.samples!r}")
        try:
            check_integer("version", self.version, 0)
            for sample in self.samples:
                if parse_game_string(sample)[0] != self.name:
                    raise ValueError(f"samples must be game strings of {self.name}, got {sample!r}")
        except ValueError as error:
            raise RegistrationError(f"{self.name}: {error}") from None

    def find_part(self, part: str) -> ModuleType | None:
        """Import and return the module with a part of the game, such as ``"rules"``, or None if the game does not have it.

        Raises:
            RegistrationError: the module cannot be imported.
        """
        module = self._module()
        if not hasattr(module, "__path__"):
            return module if part in ("rules", "texts") or hasattr(module, PARTS[part]) else None
        path = f"{module.__name__}.{part}"
        return load_attribute(path, f"{self.name}: {part}") if find_spec(path) else None

    def folder(self) -> Path | None:
        """Return the folder of the game, or None if it is a single module.

        Raises:
            RegistrationError: the game cannot be imported.
        """
        paths = getattr(self._module(), "__path__", None)
        return Path(paths[0]) if paths else None

    def _module(self) -> ModuleType:
        module: ModuleType = load_attribute(self.path.partition(":")[0], f"{self.name}: path")
        return module


#: The registry of games.
GAMES = Registry("game", GameEntry, "stoneworks.envs.games:BUILT_IN", ENTRY_POINT_GROUP)


def register_game(name: str, game: str | ModuleType | type, *, version: int = 0, samples: tuple[str, ...] = ()) -> None:
    """Register a game in this process and in the worker processes that it starts.

    The game can then be loaded by name in ``load_game``, bots, environments, the arena and training. Registering the same
    entry again has no effect. To make a game available without importing its package, declare an entry point in the
    group ``stoneworks.games`` instead.

    Args:
        name: name of the game for ``load_game``; must equal the class attribute ``name``.
        game: the module or package of the game (see :mod:`stoneworks.envs.rules.contract`), or its class; or the path of
            one of these.
        version: see :class:`GameEntry`.
        samples: game strings for tests.

    Raises:
        RegistrationError: an argument is invalid, or the name is taken.
    """
    path: Any = shared_name(game.__name__) if isinstance(game, ModuleType) else path_of(game)
    GAMES.add(GameEntry(name, path, version, samples))


def game_names() -> tuple[str, ...]:
    """Return the names of all games: built-in games, games of other packages, and games registered in this process."""
    return GAMES.names()


def small_games() -> tuple[str, ...]:
    """Return the first sample of every game: game strings of small boards, for tests."""
    return tuple(entry.samples[0] for entry in GAMES.loadable() if entry.samples)


def game_entry(name: str) -> GameEntry:
    """Return the entry of a game.

    Raises:
        UnknownGameError: the name is unknown.
        RegistrationError: a game of another package cannot be loaded.
    """
    try:
        return GAMES[name]
    except KeyError:
        raise UnknownGameError(f"unknown game {name!r}; known games: {', '.join(game_names())}; {HINT}") from None
