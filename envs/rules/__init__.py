"""The rules core: games, positions, and batches of games. Depends on numpy and numba only."""

from typing import TYPE_CHECKING

from stoneworks.lazy_names import lazy_names

if TYPE_CHECKING:
    from stoneworks.envs.rules.batch import Batch
    from stoneworks.envs.rules.errors import IllegalActionError, RecordError, RegistrationError, UnknownGameError
    from stoneworks.envs.rules.game import Game, Symmetry
    from stoneworks.envs.rules.games import GameEntry, game_names, register_game
    from stoneworks.envs.rules.loading import load_game
    from stoneworks.envs.rules.state import Outcome, State
    from stoneworks.envs.rules.templates import NO_ACTION, TERMINAL_PLAYER

__all__ = [
    "NO_ACTION",
    "TERMINAL_PLAYER",
    "Batch",
    "Game",
    "GameEntry",
    "IllegalActionError",
    "Outcome",
    "RecordError",
    "RegistrationError",
    "State",
    "Symmetry",
    "UnknownGameError",
    "game_names",
    "load_game",
    "register_game",
]

_MODULES = {
    "NO_ACTION": "templates",
    "TERMINAL_PLAYER": "templates",
    "Batch": "batch",
    "Game": "game",
    "GameEntry": "games",
    "IllegalActionError": "errors",
    "Outcome": "state",
    "RecordError": "errors",
    "RegistrationError": "errors",
    "State": "state",
    "Symmetry": "game",
    "UnknownGameError": "errors",
    "game_names": "games",
    "load_game": "loading",
    "register_game": "games",
}

__getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
