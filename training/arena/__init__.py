"""The arena: matches between many players, ratings with standard errors, and ladders of fixed players."""

from stoneworks.training.arena.errors import ArenaFolderError, ArenaPlayError, LadderError
from stoneworks.training.arena.ladder import Ladder, load_ladder, shipped_ladders
from stoneworks.training.arena.play import ArenaResult, load_arena, play_arena
from stoneworks.training.arena.precision import play_to_precision
from stoneworks.training.arena.rate import RateResult, rate
from stoneworks.training.arena.ratings import (
    DisconnectedPlayersError,
    Pairing,
    RatingError,
    Ratings,
    rate_against,
    rate_players,
)
from stoneworks.training.arena.results import results_of
from stoneworks.training.arena.schedule import gauntlet, neighbors, round_robin
from stoneworks.training.arena.settings import ArenaSettings
from stoneworks.training.arena.sprt import Sprt, SprtDecision, pentanomial

__all__ = [
    "ArenaFolderError",
    "ArenaPlayError",
    "ArenaResult",
    "ArenaSettings",
    "DisconnectedPlayersError",
    "Ladder",
    "LadderError",
    "Pairing",
    "RateResult",
    "RatingError",
    "Ratings",
    "Sprt",
    "SprtDecision",
    "gauntlet",
    "load_arena",
    "load_ladder",
    "neighbors",
    "pentanomial",
    "play_arena",
    "play_to_precision",
    "rate",
    "rate_against",
    "rate_players",
    "results_of",
    "round_robin",
    "shipped_ladders",
]
