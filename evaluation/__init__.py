"""Evaluation: matches between many players, ratings with standard errors, and ladders of fixed players."""

from stoneworks.evaluation.errors import ArenaFolderError, ArenaPlayError, LadderError
from stoneworks.evaluation.ladder import Ladder, load_ladder, shipped_ladders
from stoneworks.evaluation.match import play_match
from stoneworks.evaluation.play import ArenaResult, load_arena, play_arena
from stoneworks.evaluation.precision import play_to_precision
from stoneworks.evaluation.rate import RateResult, rate
from stoneworks.evaluation.ratings import (
    DisconnectedPlayersError,
    Pairing,
    RatingError,
    Ratings,
    rate_against,
    rate_players,
)
from stoneworks.evaluation.results import results_of
from stoneworks.evaluation.schedule import gauntlet, neighbors, round_robin
from stoneworks.evaluation.settings import ArenaSettings
from stoneworks.evaluation.sprt import Sprt, SprtDecision, pentanomial

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
    "play_match",
    "play_to_precision",
    "rate",
    "rate_against",
    "rate_players",
    "results_of",
    "round_robin",
    "shipped_ladders",
]
