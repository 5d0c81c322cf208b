"""Results of an arena as JSON-serializable fields: ``results.json``, and the main part of a ladder file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stoneworks.evaluation.match import MatchResult
from stoneworks.evaluation.play import ArenaResult
from stoneworks.evaluation.ratings import Ratings, rate_against
from stoneworks.evaluation.sprt import pentanomial


def results_of(result: ArenaResult) -> dict[str, Any]:
    """Return the ratings, the pairings and the state of the sequential test.

    Raises:
        RatingError: the players cannot be rated (yet).
    """
    ratings = result.ratings
    fields = {
        "game": result.settings.game,
        "games": result.num_games,
        "distinct_games": result.num_distinct_games,
        "players": [_player_fields(result, name, rank) for rank, name in enumerate(ratings.order, start=1)],
        **rating_fields(ratings),
        "pairings": [_pairing_fields(match) for match in result.matches],
        "settings": result.settings.to_fields(),
    }
    if result.settings.sprt is not None and result.decision is not None:
        sprt = result.settings.sprt
        fields["sprt"] = {
            "test": str(sprt),
            "log_likelihood_ratio": result.log_likelihood_ratio,
            "bounds": [sprt.lower_bound, sprt.upper_bound],
            "decision": result.decision.value,
        }
    return fields


def rating_fields(ratings: Ratings) -> dict[str, Any]:
    """Return the fields that :func:`ratings_from` reads: covariance in Elo², of the players and, last, of the seat."""
    return {
        "anchor": ratings.anchor,
        "seat": {"elo": ratings.seat_elo, "error": ratings.seat_error},
        "covariance_of": list(ratings.names),
        "covariance": ratings.covariance.tolist(),
    }


def ratings_from(fields: dict[str, Any]) -> Ratings:
    """Return the ratings from fields of :func:`results_of`.

    Raises:
        ValueError: the fields are invalid.
    """
    try:
        names = tuple(fields["covariance_of"])
        elo_of = {player["name"]: float(player["elo"]) for player in fields["players"]}
        covariance = np.array(fields["covariance"], np.float64)
        ratings = Ratings(
            names,
            fields["anchor"],
            np.array([elo_of[name] for name in names]),
            float(fields["seat"]["elo"]),
            covariance,
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"invalid arena results: {error!r}") from None
    size = len(names) + 1
    if not (np.isfinite(ratings.elo).all() and np.isfinite(covariance).all() and np.isfinite(ratings.seat_elo)):
        raise ValueError("invalid arena results: a rating or a covariance is not finite")
    if len(set(names)) != len(names):
        raise ValueError("invalid arena results: a player occurs twice")
    if covariance.shape != (size, size) or set(elo_of) != set(names) or ratings.anchor not in names:
        raise ValueError("invalid arena results: the players, the anchor and the covariance do not fit together")
    return ratings


def games_of(matches: Sequence[MatchResult], name: str) -> tuple[float, int, int]:
    """Return a player's points, games, and distinct games over all its pairings."""
    own = [match for match in matches if name in match.names]
    points = sum(
        float(match.scores.sum()) if match.names[0] == name else float((1 - match.scores).sum()) for match in own
    )
    return points, sum(match.num_games for match in own), sum(match.num_distinct_games for match in own)


def _player_fields(result: ArenaResult, name: str, rank: int) -> dict[str, Any]:
    ratings = result.ratings
    elo, error = ratings.rating(name)
    points, games, distinct = games_of(result.matches, name)
    fields = {
        "rank": rank,
        "name": name,
        "elo": elo,
        "error": error,
        "points": points,
        "games": games,
        "distinct_games": distinct,
    }
    if rank < len(ratings.order):
        below = ratings.order[rank]
        difference, its_error = ratings.difference(name, below)
        fields["over_next"] = {
            "elo": difference,
            "error": its_error,
            "likelihood_of_superiority": ratings.likelihood_of_superiority(name, below),
        }
    return fields


def _pairing_fields(match: MatchResult) -> dict[str, Any]:
    return {
        "names": list(match.names),
        "pairs": len(match.scores),
        "distinct_games": match.num_distinct_games,
        "pentanomial": pentanomial(match.scores).tolist(),
        "won_drawn_lost_as_player_0": list(match.by_seat[0]),
        "won_drawn_lost_as_player_1": list(match.by_seat[1]),
        "forfeits": list(match.num_forfeits),
    }


def rate_summaries(
    ratings: Ratings, game: str, summaries: Sequence[Mapping[str, Any]]
) -> dict[str, tuple[float, float]]:
    """Rate players against players with known ratings, from stored match summaries.

    Args:
        ratings: the known ratings.
        game: the game string.
        summaries: summaries of :func:`stoneworks.evaluation.match.summarize` with ``player`` and either ``by_pair``
            (see :attr:`stoneworks.evaluation.match.MatchResult.by_pair`) or ``by_seat``: wins, draws and losses of
            the player in each seat. Matches against unrated opponents are ignored.

    Returns:
        Rating and standard error by player, in the order of the summaries, without players that met no rated opponent.
        Without ``by_pair``, the standard error is an upper bound.
    """
    rated = [summary for summary in summaries if summary["opponent"] in ratings.names]
    return {
        player: rate_against(
            ratings, player, [_match_from(game, summary) for summary in rated if summary["player"] == player]
        )
        for player in dict.fromkeys(summary["player"] for summary in rated)
    }


def _match_from(game: str, summary: Mapping[str, Any]) -> MatchResult:
    """Return a match without records."""
    results = np.array([1.0, 0.5, 0.0])
    if "by_pair" in summary:
        counts = np.array(summary["by_pair"], np.int64).ravel()
        pairs = np.stack(np.meshgrid(results, results, indexing="ij"), axis=-1).reshape(-1, 2)
        scores = np.repeat(pairs, counts, axis=0)
    else:  # sorted by seat, the results within pairs are as dependent as possible
        scores = np.column_stack([np.repeat(results, tally) for tally in summary["by_seat"]])
    return MatchResult(game, (summary["player"], summary["opponent"]), scores, ())
