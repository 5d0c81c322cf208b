"""Reports of an arena: a table for the terminal, and a picture of the ratings and the cross table."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stoneworks.evaluation.match import MatchResult
from stoneworks.evaluation.ratings import Ratings
from stoneworks.extras import require_extra
from stoneworks.files import check_output_file, write_whole
from stoneworks.text import percent

#: Suffixes of picture files.
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")


def table_of(results: dict[str, Any], title: str | None = None) -> Table:
    """Return the table of results that :func:`stoneworks.evaluation.results.results_of` made.

    ``±`` is the standard error of the rating, as the difference to the anchor; ``LOS`` the likelihood of superiority over
    the player below.
    """
    seat = results["seat"]
    table = Table(
        title=title or f"{results['game']}: {results['games']} games, {results['distinct_games']} distinct",
        caption=f"Elo, {results['anchor']} = 0; player 0's seat is worth {seat['elo']:+.0f} ± {seat['error']:.0f}; "
        "LOS: likelihood of superiority over the next",
    )
    for heading in ("", "player", "rating", "±", "score", "games", "distinct", "LOS"):
        name = heading == "player"
        table.add_column(heading, justify="left" if name else "right", no_wrap=not name, overflow="fold")
    for player in results["players"]:
        over = player.get("over_next")
        table.add_row(
            str(player["rank"]),
            player["name"],
            f"{player['elo']:.0f}",
            "" if player["name"] == results["anchor"] else f"{player['error']:.0f}",
            percent(player["points"] / player["games"]),
            str(player["games"]),
            str(player["distinct_games"]),
            "" if over is None else percent(over["likelihood_of_superiority"]),
        )
    return table


def pairings_table_of(results: dict[str, Any]) -> Table:
    """Return the table of the pairings: in how many pairs of games the first player had 0, ½, 1, 1½ and 2 points."""
    table = Table(title="pairs of games by the points of the first player")
    for heading in ("first", "second", "0", "½", "1", "1½", "2", "score", "distinct games"):
        names = heading in ("first", "second")
        table.add_column(heading, justify="left" if names else "right", no_wrap=not names, overflow="fold")
    forfeits: list[str] = []
    for pairing in results["pairings"]:
        counts = pairing["pentanomial"]
        points = sum(half_points * count for half_points, count in enumerate(counts)) / 2
        table.add_row(
            *pairing["names"],
            *map(str, counts),
            percent(points / (2 * pairing["pairs"])),
            str(pairing["distinct_games"]),
        )
        for name, number in zip(pairing["names"], pairing["forfeits"], strict=True):
            if number:
                forfeits.append(f"{name} has forfeited {number} games of {' against '.join(pairing['names'])}")
    table.caption = "; ".join(forfeits) or None
    return table


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
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    order = ratings.order
    positions = np.arange(len(order))
    figure = Figure(figsize=(6 + 0.7 * len(order), 2 + 0.45 * len(order)), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    left, right = figure.subplots(1, 2)

    elo, errors = zip(*(ratings.rating(name) for name in order), strict=True)
    left.errorbar(elo, positions, xerr=errors, fmt="o", capsize=3, color="tab:blue")
    left.axvline(0, color="gray", linewidth=0.8)
    left.set_yticks(positions, order)
    left.set_ylim(len(order) - 0.5, -0.5)
    left.set_xlabel(f"Elo, {ratings.anchor} = 0, one standard error to each side")
    left.grid(axis="x", alpha=0.3)

    scores = _cross_table(order, matches)
    right.imshow(scores, vmin=0, vmax=1, cmap="RdYlGn")
    right.set_xticks(positions, order, rotation=45, ha="left")
    right.xaxis.tick_top()
    right.set_yticks(positions, order)
    for row, column in zip(*np.nonzero(~np.isnan(scores)), strict=True):
        right.text(column, row, f"{100 * scores[row, column]:.0f}", ha="center", va="center")
    right.set_xlabel("score of row against column, %")

    target = Path(path)
    image = io.BytesIO()
    figure.savefig(image, dpi=150, format=target.suffix[1:] or None)
    write_whole(target, image.getvalue())


def _cross_table(order: tuple[str, ...], matches: tuple[MatchResult, ...]) -> np.ndarray[Any, np.dtype[np.float64]]:
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
