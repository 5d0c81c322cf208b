"""Tables of the shipped ladders for the documentation, as Markdown generated from their files."""

from __future__ import annotations

from collections.abc import Sequence

from stoneworks.evaluation.ladder import Ladder
from stoneworks.text import percent
from tools.pages import markdown_table


def tables_of(ladders: Sequence[Ladder]) -> str:
    """Return the tables of ladders in Markdown."""
    parts = []
    for ladder in ladders:
        rows = []
        for player in ladder.players:
            over = player.get("over_next")
            cells = [
                f"`{player['name']}`",
                f"{player['elo']:,.0f}",
                f"{player['error']:.0f}" if player["name"] != ladder.anchor else "",
                "" if over is None else f"{over['elo']:.0f}",
                "" if over is None else f"{over['error']:.0f}",
                "" if over is None else percent(over["likelihood_of_superiority"]),
                f"{player['games']:,}",
            ]
            rows.append(cells)
        heads = ("player", "rating", "±", "over the next", "±", "stronger than the next", "games")
        parts.append(
            f"### `{ladder.game}`\n\n{markdown_table(heads, rows)}\n"
            f"{ladder.num_games:,} games, {ladder.num_distinct_games:,} distinct; player 0's seat is worth "
            f"{ladder.seat['elo']:+.0f} ± {ladder.seat['error']:.0f}. Made on {ladder.made.date} by `{ladder.made.command}`."
        )
    return "\n\n".join(parts) + "\n" if parts else "There are no ladders yet.\n"
