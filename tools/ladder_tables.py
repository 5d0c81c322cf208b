"""Updates the tables of the shipped ladders on a page: ``python -m tools.ladder_tables docs/arena.md``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from stoneworks.evaluation.ladder import Ladder, shipped_ladders
from stoneworks.files import write_whole
from stoneworks.text import percent
from tools.pages import replace_block

_BEGIN = "<!-- the ladders, by `make ladder-tables` -->"
_END = "<!-- end of the ladders -->"


def page_with_ladders(text: str) -> str:
    """Return the text of a page with the tables of the shipped ladders between its two markers.

    Raises:
        ValueError: the markers do not occur exactly once each, in order.
    """
    return replace_block(text, _BEGIN, _END, tables_of(tuple(shipped_ladders().values())))


def tables_of(ladders: Sequence[Ladder]) -> str:
    """Return the tables of ladders in Markdown."""
    parts = []
    for ladder in ladders:
        lines = [
            f"### `{ladder.game}`",
            "",
            "| player | rating | ± | over the next | ± | stronger than the next | games |",
            "|---|---|---|---|---|---|---|",
        ]
        for player in ladder.players:
            over = player.over_next
            cells = [
                f"`{player.name}`",
                f"{player.elo:.0f}",
                f"{player.standard_error:.0f}" if player.name != ladder.anchor else "",
                "" if over is None else f"{over.elo:.0f}",
                "" if over is None else f"{over.standard_error:.0f}",
                "" if over is None else percent(over.likelihood_of_superiority),
                str(player.games),
            ]
            lines.append("| " + " | ".join(cells) + " |")
        lines += [
            "",
            f"{ladder.games} games, {ladder.distinct_games} distinct; player 0's seat is worth {ladder.seat.elo:+.0f} ± "
            f"{ladder.seat.standard_error:.0f}. Made on {ladder.made.date} by `{ladder.made.command}`.",
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n" if parts else "There are no ladders yet.\n"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    write_whole(page, page_with_ladders(page.read_text(encoding="utf-8")))
