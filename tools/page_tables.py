"""Tables of the README and the documentation that are made from files in the repository.

``python -m tools.page_tables`` writes them into the pages, each between a line ``<!-- table: NAME -->`` and the line
``<!-- end of the table -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from stoneworks.evaluation.ladder import shipped_ladders
from stoneworks.files import write_whole
from tools.checkpoint_tables import shipped_tables, summary_table
from tools.game_tables import (
    actions_table,
    corners_table,
    facts_table,
    options_table,
    planes_table,
    reasons_table,
    seats_table,
)
from tools.ladder_tables import tables_of
from tools.solved_tables import solved_table

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
TABLES: dict[str, Callable[..., str]] = {
    "actions": actions_table,
    "agents": shipped_tables,
    "agents-official": summary_table,
    "corners": corners_table,
    "facts": facts_table,
    "ladders": lambda: tables_of(tuple(shipped_ladders().values())),
    "options": options_table,
    "planes": planes_table,
    "reasons": reasons_table,
    "seats": seats_table,
    "solved": solved_table,
}
BEGIN, END = "<!-- table: ", "<!-- end of the table -->"
_TABLE = re.compile(rf"^{BEGIN}([\w -]+) -->\n(?:.*?\n)??{END}$", re.MULTILINE | re.DOTALL)


def with_tables(text: str) -> str:
    """Return the text of a page with its tables.

    Raises:
        ValueError: a table has no line that ends it, or not the name of one of :data:`TABLES`.
    """

    def table(match: re.Match[str]) -> str:
        name, *arguments = match[1].split()
        if name not in TABLES:
            raise ValueError(f"the name of a table must be one of {', '.join(TABLES)}; got {name!r}")
        return f"{BEGIN}{match[1]} -->\n\n{TABLES[name](*arguments)}\n{END}"

    if len(_TABLE.findall(text)) != text.count(BEGIN):
        raise ValueError(f"each line {BEGIN + '... -->'!r} must have a line {END!r} after it")
    return _TABLE.sub(table, text)


if __name__ == "__main__":
    for page in PAGES:
        write_whole(page, with_tables(page.read_text(encoding="utf-8")))
