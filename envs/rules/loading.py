"""Loading games by name."""

from __future__ import annotations

from stoneworks.envs.rules.errors import RegistrationError
from stoneworks.envs.rules.game import Game, make_game
from stoneworks.envs.rules.game_strings import parse_game_string
from stoneworks.envs.rules.games import GameEntry, game_entry
from stoneworks.envs.rules.options import check_options


def game_class(entry: GameEntry) -> type[Game]:
    """Return the class of a game's rules.

    Raises:
        RegistrationError: it cannot be imported, is not a subclass of ``Game``, or has a different name.
    """
    found = entry.load("rules")
    if not (isinstance(found, type) and issubclass(found, Game)):
        raise RegistrationError(f"{entry.name}: rules must be a subclass of stoneworks.Game, got {found!r}")
    name = getattr(found, "name", None)
    if name != entry.name:
        raise RegistrationError(
            f"{entry.name}: the class {entry.rules} must have the name {entry.name!r}, got {name!r}"
        )
    return found


def load_game(game: str, /, **options: object) -> Game:
    """Load a game by name and options, or by game string.

    Args:
        game: a name (``"vadus"``) or a game string (``"vadus(size=9)"``), such as ``str(game)``.
        **options: game options, only allowed if ``game`` is a name. Missing options have their default values.

    Raises:
        UnknownGameError: the name is unknown.
        RegistrationError: a game of another package cannot be loaded.
        ValueError: an option is unknown or has an invalid value.
    """
    name, in_string = parse_game_string(game)
    if in_string and options:
        raise ValueError(f"{game!r} contains options; give options either in the game string or as keywords, not both")
    rules = game_class(game_entry(name))
    checked = check_options(name, rules.option_types, in_string or options)
    return make_game(rules, tuple(checked.items()))
