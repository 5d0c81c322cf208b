"""Updates the tables of the shipped ladders on a page: ``python -m tools.ladder_tables docs/arena.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from stoneworks.evaluation.ladder import ladder_table_markdown, shipped_ladders
from stoneworks.files import write_whole
from stoneworks.text import replace_block

_BEGIN = "<!-- the ladders, by `make ladder-tables` -->"
_END = "<!-- end of the ladders -->"


def page_with_ladders(text: str) -> str:
    """Return the text of a page with the tables of the shipped ladders between its two markers.

    Raises:
        ValueError: the markers do not occur exactly once each, in order.
    """
    return replace_block(text, _BEGIN, _END, ladder_table_markdown(tuple(shipped_ladders().values())))


if __name__ == "__main__":
    page = Path(sys.argv[1])
    write_whole(page, page_with_ladders(page.read_text(encoding="utf-8")))
