"""The rules core: the five games, their positions, and kernels over many games. It needs numpy and numba alone."""

from stoneworks.envs.rules.batch import Batch
from stoneworks.envs.rules.errors import IllegalActionError
from stoneworks.envs.rules.game import Game, Symmetry, game_names, load_game
from stoneworks.envs.rules.state import Outcome, State
from stoneworks.envs.rules.templates import NO_ACTION, TERMINAL_PLAYER

__all__ = [
    "NO_ACTION",
    "TERMINAL_PLAYER",
    "Batch",
    "Game",
    "IllegalActionError",
    "Outcome",
    "State",
    "Symmetry",
    "game_names",
    "load_game",
]
