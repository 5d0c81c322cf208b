"""Tables of solved games for the documentation, as Markdown generated from their files."""

from __future__ import annotations

from collections.abc import Sequence

from stoneworks.models.solved_game import SolvedGame, shipped_solutions
from tools.pages import markdown_table

RESULTS = {1: "player 0 wins", 0: "a draw", -1: "player 1 wins"}


def solved_table(name: str | None = None) -> str:
    """Return a Markdown table of the solved boards of a game, or of all games."""
    solved = shipped_solutions().values()
    return table_of([one for one in solved if name in (None, one.game.partition("(")[0])])


def table_of(solved: Sequence[SolvedGame]) -> str:
    """Return a Markdown table of solved games."""
    rows = []
    for one in solved:
        only = f", `{one.actions[0]}`" if len(one.actions) == 1 < one.num_actions else ""
        kept = f"{len(one.actions)} of {one.num_actions}{only}"
        rows.append((f"`{one.game}`", RESULTS[one.result], kept, f"{one.num_positions:,}", f"{one.seconds:.1f}"))
    machines = sorted({f"{one.processor} on {one.date}" for one in solved})
    table = markdown_table(("game", "result", "first actions that keep it", "positions", "seconds"), rows)
    return f"{table}\nSolved by `stoneworks solve` on one shared core: {'; '.join(machines)}.\n"
