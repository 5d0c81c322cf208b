from .batch import Batch as Batch
from .game import (
    Explanation as Explanation,
    Game as Game,
    IllegalActionError as IllegalActionError,
    RecordError as RecordError,
    Symmetry as Symmetry,
    load_game as load_game,
)
from .games import (
    GameEntry as GameEntry,
    RegistrationError as RegistrationError,
    UnknownGameError as UnknownGameError,
    game_names as game_names,
    register_game as register_game,
)
from .guides import Guide as Guide, Lesson as Lesson
from .state import Outcome as Outcome, State as State
from .templates import NO_ACTION as NO_ACTION, TERMINAL_PLAYER as TERMINAL_PLAYER
