"""``ArenaSummary``: the results of an arena as stored in ``results.json`` and in ladders, with its tables and its picture."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_serializer, model_validator
from rich.table import Table

from stoneworks.documents import Document, Tuple
from stoneworks.evaluation.arena import ArenaResult
from stoneworks.evaluation.match import MatchResult
from stoneworks.evaluation.ratings import Ratings
from stoneworks.evaluation.settings import ArenaSettings, GameString, Names
from stoneworks.evaluation.sprt import pentanomial
from stoneworks.extras import require_extra
from stoneworks.files import check_output_file, write_whole
from stoneworks.text import percent

#: Suffixes of picture files.
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")


class _WithoutNone(Document):
    """A document that is written without the keys whose values are None."""

    @model_serializer(mode="wrap")
    def _omit_none(self, serialize: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in serialize(self).items() if value is not None}


class SeatSummary(Document):
    """Advantage of seat 0 and its standard error, in Elo."""

    elo: float
    standard_error: float = Field(alias="error")


class DifferenceSummary(SeatSummary):
    """Rating difference to another player, its standard error, and the probability that the player is stronger."""

    likelihood_of_superiority: float


class PlayerSummary(_WithoutNone):
    """Rating and games of a player.

    Attributes:
        rank: position by rating, from 1.
        name: the player.
        elo: rating relative to the anchor.
        standard_error: of the rating.
        points: points in all games.
        games: number of games.
        distinct_games: number of distinct games.
        over_next: difference to the player of the next rank; None for the last player.
    """

    rank: int
    name: str
    elo: float
    standard_error: float = Field(alias="error")
    points: float
    games: int = Field(ge=1)
    distinct_games: int
    over_next: DifferenceSummary | None = None


class PairingSummary(Document):
    """Results of a pairing.

    Attributes:
        names: players A and B.
        pairs: number of pairs of games.
        distinct_games: number of distinct games.
        pentanomial: numbers of pairs in which A scored 0, 0.5, 1, 1.5 and 2 points.
        won_drawn_lost_as_player_0: A's results in seat 0.
        won_drawn_lost_as_player_1: A's results in seat 1.
        forfeits: numbers of games that A and B forfeited.
    """

    names: Names
    pairs: int = Field(ge=1)
    distinct_games: int
    pentanomial: Annotated[Tuple[int], Field(min_length=5, max_length=5)]
    won_drawn_lost_as_player_0: Annotated[Tuple[int], Field(min_length=3, max_length=3)]
    won_drawn_lost_as_player_1: Annotated[Tuple[int], Field(min_length=3, max_length=3)]
    forfeits: Annotated[Tuple[int], Field(min_length=2, max_length=2)]


class SprtSummary(Document):
    """State of a sequential test: the test as text, its log-likelihood ratio with the bounds, and the decision."""

    test: str
    log_likelihood_ratio: float
    bounds: Tuple[float]
    decision: str


class ArenaSummary(_WithoutNone):
    """Results of an arena.

    Attributes:
        game: the game string.
        games: number of games.
        distinct_games: number of different games, by pairing: equal games of two pairings count twice.
        players: the players by decreasing rating.
        anchor: the player with rating 0.
        seat: advantage of seat 0.
        covariance_of: the players in the order of ``covariance``.
        covariance: covariance in Elo² of the ratings and, last, of the advantage of seat 0.
        pairings: the results by pairing.
        settings: the settings of the arena.
        sprt: the state of the sequential test; None without one.
    """

    game: GameString
    games: int
    distinct_games: int
    players: Tuple[PlayerSummary]
    anchor: str
    seat: SeatSummary
    covariance_of: Tuple[str]
    covariance: Tuple[Tuple[float]]
    pairings: Tuple[PairingSummary]
    settings: ArenaSettings
    sprt: SprtSummary | None = None

    @model_validator(mode="after")
    def _check_together(self) -> ArenaSummary:
        names = sorted(self.covariance_of)
        if len(set(names)) != len(names):
            raise ValueError(f"covariance_of must name each player once, got {names}")
        if sorted(player.name for player in self.players) != names or self.anchor not in names:
            raise ValueError("players, anchor and covariance_of must name the same players")
        if {len(self.covariance), *map(len, self.covariance)} != {len(names) + 1}:
            raise ValueError(f"covariance must have {len(names) + 1} rows and columns")
        matrix = np.array(self.covariance)
        if not np.allclose(matrix, matrix.T):
            raise ValueError("covariance must be symmetric")
        variances = np.linalg.eigvalsh(matrix)
        if variances[0] < -1e-6 * abs(variances[-1]):
            raise ValueError(f"covariance must be positive semidefinite, got an eigenvalue of {variances[0]:g}")
        if self.settings.game != self.game:
            raise ValueError(f"settings.game must be {self.game}, got {self.settings.game}")
        return self

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings of the players."""
        elo = {player.name: player.elo for player in self.players}
        return Ratings(
            self.covariance_of,
            self.anchor,
            np.array([elo[name] for name in self.covariance_of]),
            self.seat.elo,
            np.array(self.covariance, np.float64),
        )

    def table(self) -> Table:
        """Return the table of the players.

        ``±`` is the standard error of the rating, as the difference to the anchor; ``LOS`` the likelihood of superiority
        over the player below.
        """
        table = Table(
            title=f"{self.game}: {self.games} games, {self.distinct_games} distinct",
            caption=f"Elo, {self.anchor} = 0; player 0's seat is worth {self.seat.elo:+.0f} ± {self.seat.standard_error:.0f}; "
            "LOS: likelihood of superiority over the next",
        )
        _add_columns(table, ("", "player", "rating", "±", "score", "games", "distinct", "LOS"), ("player",))
        for player in self.players:
            table.add_row(
                str(player.rank),
                player.name,
                f"{player.elo:.0f}",
                "" if player.name == self.anchor else f"{player.standard_error:.0f}",
                percent(player.points / player.games),
                str(player.games),
                str(player.distinct_games),
                "" if player.over_next is None else percent(player.over_next.likelihood_of_superiority),
            )
        return table

    def pairings_table(self) -> Table:
        """Return the table of the pairings: in how many pairs of games the first player had 0, ½, 1, 1½ and 2 points."""
        table = Table(title="pairs of games by the points of the first player")
        names = ("first", "second")
        _add_columns(table, (*names, "0", "½", "1", "1½", "2", "score", "distinct games"), names)
        forfeits: list[str] = []
        for pairing in self.pairings:
            points = sum(half_points * count for half_points, count in enumerate(pairing.pentanomial)) / 2
            table.add_row(
                *pairing.names,
                *map(str, pairing.pentanomial),
                percent(points / (2 * pairing.pairs)),
                str(pairing.distinct_games),
            )
            for name, number in zip(pairing.names, pairing.forfeits, strict=True):
                if number:
                    forfeits.append(f"{name} has forfeited {number} games of {' against '.join(pairing.names)}")
        table.caption = "; ".join(forfeits) or None
        return table


def results_of(result: ArenaResult) -> ArenaSummary:
    """Return the ratings, the pairings and the state of the sequential test.

    Raises:
        RatingError: the players cannot be rated (yet).
    """
    ratings, sprt, ratio = result.ratings, result.settings.sprt, result.log_likelihood_ratio
    test = None
    if sprt is not None and result.decision is not None and ratio is not None:
        bounds, decision = (sprt.lower_bound, sprt.upper_bound), result.decision.value
        test = SprtSummary(test=str(sprt), log_likelihood_ratio=ratio, bounds=bounds, decision=decision)
    return ArenaSummary(
        game=result.settings.game,
        games=result.num_games,
        distinct_games=sum(match.num_distinct_games for match in result.matches),
        players=tuple(_summarize_player(result, name, rank) for rank, name in enumerate(ratings.order, start=1)),
        anchor=ratings.anchor,
        seat=SeatSummary(elo=ratings.seat_elo, error=ratings.seat_error),
        covariance_of=ratings.names,
        covariance=ratings.covariance.tolist(),
        pairings=tuple(map(_summarize_pairing, result.matches)),
        settings=result.settings,
        sprt=test,
    )


def _summarize_player(result: ArenaResult, name: str, rank: int) -> PlayerSummary:
    ratings = result.ratings
    elo, error = ratings.rating(name)
    lead = None
    if rank < len(ratings.order):
        below = ratings.order[rank]
        difference, its_error = ratings.difference(name, below)
        superiority = ratings.likelihood_of_superiority(name, below)
        lead = DifferenceSummary(elo=difference, error=its_error, likelihood_of_superiority=superiority)
    points, games, distinct = games_of(result.matches, name)
    return PlayerSummary(
        rank=rank, name=name, elo=elo, error=error, points=points, games=games, distinct_games=distinct, over_next=lead
    )


def _summarize_pairing(match: MatchResult) -> PairingSummary:
    return PairingSummary(
        names=match.names,
        pairs=len(match.scores),
        distinct_games=match.num_distinct_games,
        pentanomial=pentanomial(match.scores).tolist(),
        won_drawn_lost_as_player_0=match.by_seat[0],
        won_drawn_lost_as_player_1=match.by_seat[1],
        forfeits=match.num_forfeits,
    )


def games_of(matches: Sequence[MatchResult], name: str) -> tuple[float, int, int]:
    """Return a player's points, games, and distinct games over all its pairings."""
    own = [match for match in matches if name in match.names]
    points = sum(
        float(match.scores.sum()) if match.names[0] == name else float((1 - match.scores).sum()) for match in own
    )
    return points, sum(match.num_games for match in own), sum(match.num_distinct_games for match in own)


def check_picture_path(path: str | os.PathLike[str]) -> None:
    """Check that a picture can be written to ``path``.

    Raises:
        ValueError: the path is invalid (see :func:`stoneworks.files.check_output_file`).
        MissingDependencyError: matplotlib is not installed.
    """
    check_output_file("picture", path, PICTURE_SUFFIXES)
    with require_extra("train", "pictures"):
        import matplotlib  # noqa: F401


def save_picture(path: str | os.PathLike[str], ratings: Ratings, matches: tuple[MatchResult, ...], title: str) -> None:
    """Plot the ratings with their standard errors, and the cross table of scores. The file is written atomically.

    Raises:
        ValueError, MissingDependencyError: see :func:`check_picture_path`.
    """
    check_picture_path(path)
    from matplotlib.figure import Figure

    order = ratings.order
    labels = [name.replace("$", r"\$") for name in order]  # matplotlib reads $...$ as mathematics
    positions = np.arange(len(order))
    figure = Figure(figsize=(6 + 0.7 * len(order), 2 + 0.45 * len(order)), layout="constrained")
    figure.suptitle(title.replace("$", r"\$"))
    left, right = figure.subplots(1, 2)

    elo, errors = zip(*(ratings.rating(name) for name in order), strict=True)
    left.errorbar(elo, positions, xerr=errors, fmt="o", capsize=3, color="tab:blue")
    left.axvline(0, color="gray", linewidth=0.8)
    left.set_yticks(positions, labels)
    left.set_ylim(len(order) - 0.5, -0.5)
    left.set_xlabel(f"Elo, {labels[order.index(ratings.anchor)]} = 0, one standard error to each side")
    left.grid(axis="x", alpha=0.3)

    scores = _cross_table(order, matches)
    right.imshow(scores, vmin=0, vmax=1, cmap="RdYlGn")
    right.set_xticks(positions, labels, rotation=45, ha="left")
    right.xaxis.tick_top()
    right.set_yticks(positions, labels)
    for row, column in zip(*np.nonzero(~np.isnan(scores)), strict=True):
        right.text(column, row, f"{100 * scores[row, column]:.0f}", ha="center", va="center")
    right.set_xlabel("score of row against column, %")

    target = Path(path)
    image = io.BytesIO()
    figure.savefig(image, dpi=150, format=target.suffix[1:] or None)
    write_whole(target, image.getvalue())


def _cross_table(order: tuple[str, ...], matches: tuple[MatchResult, ...]) -> npt.NDArray[np.float64]:
    """Return ``float64[num_players, num_players]``: the mean score of the row against the column, NaN without games."""
    points = np.zeros((len(order), len(order)))
    games = np.zeros_like(points)
    for match in matches:
        first, second = (order.index(name) for name in match.names)
        points[first, second] += match.scores.sum()
        points[second, first] += (1 - match.scores).sum()
        games[first, second] += match.num_games
        games[second, first] += match.num_games
    return np.where(games > 0, points / np.maximum(games, 1), np.nan)


def _add_columns(table: Table, headings: tuple[str, ...], names: tuple[str, ...]) -> None:
    for heading in headings:
        is_name = heading in names
        table.add_column(heading, justify="left" if is_name else "right", no_wrap=not is_name, overflow="fold")
