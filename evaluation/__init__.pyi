from .arena import load_arena as load_arena, play_arena as play_arena
from .folder import ArenaFolderError as ArenaFolderError
from .ladder import (
    Ladder as Ladder,
    LadderError as LadderError,
    load_ladder as load_ladder,
    shipped_ladders as shipped_ladders,
)
from .match import MatchResult as MatchResult, play_match as play_match
from .player_rating import RateResult as RateResult, RateSettings as RateSettings, rate as rate
from .ratings import (
    DisconnectedPlayersError as DisconnectedPlayersError,
    PairScores as PairScores,
    RatingError as RatingError,
    Ratings as Ratings,
    rate_against as rate_against,
    rate_players as rate_players,
)
from .results import ArenaResult as ArenaResult
from .settings import (
    ArenaSettings as ArenaSettings,
    gauntlet as gauntlet,
    neighbors as neighbors,
    round_robin as round_robin,
)
from .sprt import Sprt as Sprt, SprtDecision as SprtDecision, pentanomial as pentanomial
from .workers import ArenaPlayError as ArenaPlayError
