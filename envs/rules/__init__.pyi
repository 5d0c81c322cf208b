from .batch import Batch as Batch
from .compiler.gpu import DeviceError as DeviceError
from .contract import NO_ACTION as NO_ACTION, Feature as Feature
from .fields import NO_WINNER as NO_WINNER, TERMINAL_PLAYER as TERMINAL_PLAYER
from .game import (
    Game as Game,
    IllegalActionError as IllegalActionError,
    PositionError as PositionError,
    Symmetry as Symmetry,
    as_game as as_game,
    load_game as load_game,
)
from .game_check import check_game as check_game
from .game_registry import (
    GameEntry as GameEntry,
    RegistrationError as RegistrationError,
    UnknownGameError as UnknownGameError,
    game_names as game_names,
    register_game as register_game,
)
from .guide import Guide as Guide, Lesson as Lesson
from .parts import MissingHeuristicError as MissingHeuristicError
from .state import Outcome as Outcome, State as State
from .texts import Explanation as Explanation
