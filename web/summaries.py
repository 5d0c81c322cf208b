"""Short rules of the built-in games, shown beside the board. The complete rules are in each game's page of the documentation."""

from __future__ import annotations

_PASSES = "The game ends when both players pass consecutively."

_SUMMARIES: dict[str, tuple[str, ...]] = {
    "vadus": (
        "Black first places one stone. Every later turn is two stones on empty points, or a pass.",
        "A group is worth one point for each stone of its shortest path from edge to edge, minus one for each other stone.",
        "Each player's groups are compared from the most valuable down; the first difference decides.",
        _PASSES,
    ),
    "laido": (
        "A turn is one stone on an empty cell, or a pass. White may instead answer Black's first stone with a swap: the players "
        "change colors.",
        "A group is worth one point for each stone of its shortest path from edge to edge, minus one for each other stone.",
        "Each player's groups are compared from the most valuable down; the first difference decides. If there is none, the "
        "rings are compared from the center outward, and fewer stones win.",
        _PASSES,
    ),
    "taugo": (
        "A turn is a pass, or a single stone with no adjacent stone of yours, or a straight line of stones that starts next to "
        "a stone of yours or with a cut. You may end a line after each stone.",
        "A cut goes through a run of enemy stones from a stone of yours to the point beyond; the run changes color. Each "
        "stone of the run must have two neighbors of its own color.",
        "No turn may fill a square of 2 × 2 points with your color. The edge points are filled by cuts only.",
        "A string with k stones on the outermost points scores 1 + 2 + … + k, and so do all your stones on edge points "
        "together. Fewer strings give half a point.",
        _PASSES,
    ),
    "taigo": (
        "Place a tile on two adjacent empty hexes, next to another tile: first click the hex of its dark half, then "
        "that of its light half.",
        "If your tile encloses a single empty hex, fill it with a cone of either color.",
        "Five hexes of your color in a row win, tiles and cones alike. If your turn completes rows of both colors, your "
        "opponent wins.",
        "The game is a draw when the tiles run out.",
    ),
    "trugo": (
        "While there are tiles, place one next to another, in any rotation. Each corner where three tiles meet receives a piece "
        "of its color.",
        "Or move a piece: it slides along its region to a corner between three tiles, and may step once along an edge to a corner "
        "of the other color. It may land on a single piece and pin it.",
        "Groups of pieces whose neighboring corners are all held by the other color are captured.",
        "When the tiles have run out, a turn moves a piece, or removes a tile with three consecutive empty neighbors "
        "and its pieces; the other tiles must stay connected. A player who then has no pieces left loses.",
    ),
}


def summary_of(game: str) -> tuple[str, ...]:
    """Return the short rules of a game by name, in paragraphs; empty for a game of another package."""
    return _SUMMARIES.get(game, ())
