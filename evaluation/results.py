"""``ArenaResult``: the results of an arena, as computed and as stored in ``results.json`` and in ladders; tables and a picture."""

from __future__ import annotations

import io
import operator
import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, computed_field, model_validator
from rich.table import Table

from stoneworks.documents import Document, Tuple
from stoneworks.evaluation.match import MatchResult
from stoneworks.evaluation.ratings import Ratings, rate_players
from stoneworks.evaluation.records import GameRecord
from stoneworks.evaluation.settings import ArenaSettings
from stoneworks.evaluation.sprt import SprtDecision
from stoneworks.extras import require_extra
from stoneworks.files import check_output_file, write_whole
from stoneworks.text import percent

#: Suffixes of picture files.
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")


class ArenaResult(Document):
    """Results of an arena, in memory and as stored in ``results.json``.

    The ratings, the table of players and the totals are computed from the results of the pairings; a file has them for its
    readers.

    Attributes:
        settings: the settings of the arena.
        matches: the results of the pairings with games, in their order; ``pairings`` in files.
    """

    settings: ArenaSettings
    matches: Tuple[MatchResult] = Field(alias="pairings")

    @model_validator(mode="after")
    def _check_players(self) -> ArenaResult:
        for match in self.matches:
            if not {*match.names} <= {*self.settings.players}:
                raise ValueError(
                    f"pairings must be of the players {', '.join(self.settings.players)}, got {match.names}"
                )
        return self

    @computed_field  # type: ignore[prop-decorator]
    @property
    def game(self) -> str:
        """The game string."""
        return self.settings.game

    @computed_field(alias="games")  # type: ignore[prop-decorator]
    @property
    def num_games(self) -> int:
        """Number of games."""
        return 2 * self.num_pairs

    @property
    def num_pairs(self) -> int:
        """Number of finished pairs of games."""
        return sum(match.num_pairs for match in self.matches)

    @computed_field(alias="distinct_games")  # type: ignore[prop-decorator]
    @property
    def num_distinct_games(self) -> int:
        """Number of different games, by pairing: equal games of two pairings count twice."""
        return sum(match.num_distinct_games for match in self.matches)

    @property
    def decision(self) -> SprtDecision | None:
        """Decision of the sequential test; None if there is no test."""
        return None if self.settings.sprt is None else self.settings.sprt.decide(self._pentanomial)

    @property
    def finished(self) -> bool:
        """Whether all games have been played."""
        if self.decision in (SprtDecision.ACCEPT_0, SprtDecision.ACCEPT_1):
            return True
        return self.num_pairs >= self.settings.total_pairs

    @property
    def log_likelihood_ratio(self) -> float | None:
        """The log-likelihood ratio of the sequential test; None if there is no test."""
        return None if self.settings.sprt is None else self.settings.sprt.log_likelihood_ratio(self._pentanomial)

    @property
    def _pentanomial(self) -> tuple[int, ...]:
        return self.matches[0].pentanomial if self.matches else (0, 0, 0, 0, 0)

    @property
    def records(self) -> tuple[GameRecord, ...]:
        """All games; none if the result was read from a file."""
        return tuple(record for match in self.matches for record in match.records)

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings, relative to random or else to the first player. Raises :class:`RatingError` if there are none (yet)."""
        return rate_players(self.matches)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def players(self) -> list[dict[str, Any]]:
        """The players by decreasing rating.

        For each: its ``rank``, ``name``, ``elo`` and the standard ``error``, ``points``, ``games``, ``distinct_games`` and,
        except for the last one, the difference to the next, ``over_next``: ``elo``, ``error``, ``likelihood_of_superiority``.
        """
        return [self._player(rank) for rank in range(1, len(self.ratings.names) + 1)]

    def _player(self, rank: int) -> dict[str, Any]:
        ratings, name = self.ratings, self.ratings.order[rank - 1]
        own = [match for match in self.matches if name in match.names]
        points = [match.score if match.names[0] == name else 1 - match.score for match in own]
        row = {
            "rank": rank,
            "name": name,
            **_with_error(*ratings.rating(name)),
            "points": round(2 * sum(map(operator.mul, points, (match.num_games for match in own)))) / 2,
            "games": sum(match.num_games for match in own),
            "distinct_games": sum(match.num_distinct_games for match in own),
        }
        if rank < len(ratings.order):
            below = ratings.order[rank]
            superiority = ratings.likelihood_of_superiority(name, below)
            row["over_next"] = {
                **_with_error(*ratings.difference(name, below)),
                "likelihood_of_superiority": superiority,
            }
        return row

    @computed_field  # type: ignore[prop-decorator]
    @property
    def anchor(self) -> str:
        """The player with rating 0."""
        return self.ratings.anchor

    @computed_field  # type: ignore[prop-decorator]
    @property
    def seat(self) -> dict[str, float]:
        """Advantage of seat 0 in Elo, and its standard error: ``elo`` and ``error``."""
        return _with_error(self.ratings.seat_elo, self.ratings.seat_error)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def covariance_of(self) -> tuple[str, ...]:
        """The players in the order of ``covariance``."""
        return self.ratings.names

    @computed_field  # type: ignore[prop-decorator]
    @property
    def covariance(self) -> list[list[float]]:
        """Covariance in Elo² of the ratings and, last, of the advantage of seat 0."""
        return self.ratings.covariance.tolist()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def sprt(self) -> dict[str, Any] | None:
        """State of the sequential test: ``test``, ``log_likelihood_ratio``, ``bounds`` and ``decision``; None without one."""
        sprt, decision = self.settings.sprt, self.decision
        if sprt is None or decision is None:
            return None
        return {
            "test": str(sprt),
            "log_likelihood_ratio": self.log_likelihood_ratio,
            "bounds": [sprt.lower_bound, sprt.upper_bound],
            "decision": decision.value,
        }

    def table(self) -> Table:
        """Return the table of the players.

        ``±`` is the standard error of the rating, as the difference to the anchor; ``LOS`` the likelihood of superiority
        over the player below.
        """
        table = Table(
            title=f"{self.game}: {self.num_games} games, {self.num_distinct_games} distinct",
            caption=f"Elo, {self.anchor} = 0; player 0's seat is worth {self.seat['elo']:+.0f} ± {self.seat['error']:.0f}; "
            "LOS: likelihood of superiority over the next",
        )
        _add_columns(table, ("", "player", "rating", "±", "score", "games", "distinct", "LOS"), ("player",))
        for player in self.players:
            table.add_row(
                str(player["rank"]),
                player["name"],
                f"{player['elo']:.0f}",
                "" if player["name"] == self.anchor else f"{player['error']:.0f}",
                percent(player["points"] / player["games"]),
                str(player["games"]),
                str(player["distinct_games"]),
                percent(player["over_next"]["likelihood_of_superiority"]) if "over_next" in player else "",
            )
        return table

    def pairings_table(self) -> Table:
        """Return the table of the pairings: in how many pairs of games the first player had 0, ½, 1, 1½ and 2 points."""
        table = Table(title="pairs of games by the points of the first player")
        names = ("first", "second")
        _add_columns(table, (*names, "0", "½", "1", "1½", "2", "score", "distinct games"), names)
        forfeits: list[str] = []
        for match in self.matches:
            table.add_row(
                *match.names, *map(str, match.pentanomial), percent(match.score), str(match.num_distinct_games)
            )
            for name, number in zip(match.names, match.num_forfeits, strict=True):
                if number:
                    forfeits.append(f"{name} has forfeited {number} games of {' against '.join(match.names)}")
        table.caption = "; ".join(forfeits) or None
        return table


def _with_error(elo: float, error: float) -> dict[str, float]:
    return {"elo": elo, "error": error}


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
        points[first, second] += match.score * match.num_games
        points[second, first] += (1 - match.score) * match.num_games
        games[first, second] += match.num_games
        games[second, first] += match.num_games
    return np.where(games > 0, points / np.maximum(games, 1), np.nan)


def _add_columns(table: Table, headings: tuple[str, ...], names: tuple[str, ...]) -> None:
    for heading in headings:
        is_name = heading in names
        table.add_column(heading, justify="left" if is_name else "right", no_wrap=not is_name, overflow="fold")
