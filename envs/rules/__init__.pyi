from .batch import Batch as Batch
from .errors import (
    IllegalActionError as IllegalActionError,
    RecordError as RecordError,
    RegistrationError as RegistrationError,
    UnknownGameError as UnknownGameError,
)
from .game import Game as Game, Symmetry as Symmetry
from .games import GameEntry as GameEntry, game_names as game_names, register_game as register_game
from .loading import load_game as load_game
from .state import Outcome as Outcome, State as State
from .templates import NO_ACTION as NO_ACTION, TERMINAL_PLAYER as TERMINAL_PLAYER
