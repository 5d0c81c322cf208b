"""The game registry.

Each built-in game has one :class:`GameEntry` in this module. Other packages add games with :func:`register_game` or with an
entry point in the group ``stoneworks.games`` that refers to a ``GameEntry``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from stoneworks.checks import check_integer
from stoneworks.registry import (
    Entry,
    ModuleReference,
    Reference,
    RegistrationError as RegistrationError,
    Registry,
    path_of,
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


@dataclass(frozen=True)
class GameEntry(Entry):
    """A registered game. Objects are given as ``"module:attribute"`` and imported on first use.

    Attributes:
        name: name of the game for ``load_game``.
        rules: the subclass of :class:`stoneworks.envs.rules.Game`.
        version: incremented whenever equal actions may lead to different results, observations or action indices.
        drawing: an object, usually a module, with ``last_turn`` and ``compose`` (see :mod:`stoneworks.envs.drawing`), as
            ``"module"`` or ``"module:attribute"``; None for the generic drawing.
        evaluation: an object, usually a module, with the kernels ``evaluate`` and ``rate_actions`` and the number ``SCALE`` (see
            :mod:`stoneworks.models.evaluations`), in the same form; None if the game has none.
        features: an object, usually a module, with ``FEATURES`` and the kernel ``fill_features`` (see
            :mod:`stoneworks.models.features`), in the same form; None if the game has none.
        samples: game strings for tests, the smallest first; together they cover all kinds of values of every option.

    Raises:
        RegistrationError: an attribute is invalid.
    """

    rules: Reference
    version: int = 0
    drawing: ModuleReference | None = None
    evaluation: ModuleReference | None = None
    features: ModuleReference | None = None
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

    def attribute(self, field: str, name: str) -> Any:
        """Import and return an attribute of the module of ``field``.

        Raises:
            RegistrationError: there is none.
        """
        try:
            return getattr(self.load(field), name)
        except AttributeError:
            raise RegistrationError(f"{self.name}: {field} {getattr(self, field)!r} must define {name}") from None


def _built_in(name: str, rules: str, drawing: str, *samples: str) -> GameEntry:
    return GameEntry(
        name,
        f"stoneworks.envs.rules.{rules}",
        drawing=f"stoneworks.envs.drawing.{drawing}",
        evaluation=f"stoneworks.models.evaluations.{name}",
        features=f"stoneworks.models.features.{name}",
        samples=samples,
    )


_BUILT_IN = (
    _built_in("vadus", "hexhex.vadus:Vadus", "hexhex_stones", "vadus(size=3)", "vadus(size=2)", "vadus(size=5)"),
    _built_in(
        "laido",
        "hexhex.laido:Laido",
        "hexhex_stones",
        "laido(size=3)",
        "laido(size=2)",
        "laido(pie_rule=False,size=2)",
        "laido(pie_rule=False,size=4)",
        "laido(size=3,tie_break='first_pass')",
    ),
    _built_in("taugo", "taugo.game:Taugo", "taugo", "taugo(size=4)", "taugo(size=3)", "taugo(cut_point='run',size=5)"),
    _built_in(
        "taigo",
        "taigo:Taigo",
        "taigo",
        "taigo(cones=2,radius=3,tiles=12)",
        "taigo(cones=1,radius=2)",
        "taigo(cones=1,radius=3)",
        "taigo(cones=0,handicap=(1,0),radius=4,tiles=12)",
    ),
    _built_in(
        "trugo",
        "trugo.game:Trugo",
        "trugo",
        "trugo(max_turns=12,pieces=3,radius=2,tiles=6)",
        "trugo(radius=1,tiles=6)",
        "trugo(max_turns=40,pieces=4,radius=3,stacking=False,tiles=9)",
        "trugo(radius=3,tiles=12)",
    ),
)

#: The registry of games.
GAMES = Registry("game", GameEntry, _BUILT_IN, ENTRY_POINT_GROUP)


def register_game(
    name: str,
    rules: str | type,
    *,
    version: int = 0,
    drawing: str | None = None,
    evaluation: str | None = None,
    features: str | None = None,
    samples: tuple[str, ...] = (),
) -> None:
    """Register a game in this process and in the worker processes that it starts.

    The game can then be loaded by name in ``load_game``, bots, environments, the arena and training. Registering the same
    entry again has no effect. To make a game available without importing its package, declare an entry point in the
    group ``stoneworks.games`` instead.

    Args:
        name: name of the game for ``load_game``; must equal the class attribute ``name``.
        rules: a subclass of :class:`stoneworks.envs.rules.Game`, or its location as ``"module:Class"``.
        version: see :class:`GameEntry`.
        drawing: the drawing; None for the generic one.
        evaluation: the evaluation, or None. The bots ``greedy`` and ``alphabeta`` require one.
        features: the feature planes for networks, or None.
        samples: game strings for tests.

    Raises:
        RegistrationError: an argument is invalid, or the name is taken.
    """
    rules_path: Any = path_of(rules)
    GAMES.add(GameEntry(name, rules_path, version, drawing, evaluation, features, samples))


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
        raise UnknownGameError(f"unknown game {name!r}; known games: {', '.join(game_names())}") from None
