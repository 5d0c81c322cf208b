"""Writes the tables of the shipped ladders into a page: ``python -m stoneworks.training.arena.page docs/arena.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from stoneworks.training.arena.ladder import ladder_table_markdown, shipped_ladders

_BEGIN = "<!-- the ladders, by `make ladder-tables` -->\n"
_END = "<!-- end of the ladders -->\n"


def page_with_ladders(text: str) -> str:
    """Return the text of a page with the tables of the shipped ladders between its two marks.

    Raises:
        ValueError: the marks do not stand there once each, in their order.
    """
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end or _BEGIN in rest or _END in after:
        raise ValueError(f"the page has not, once each, the lines {_BEGIN.strip()!r} and {_END.strip()!r}")
    return f"{before}{_BEGIN}\n{ladder_table_markdown(tuple(shipped_ladders().values()))}\n{_END}{after}"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(page_with_ladders(page.read_text(encoding="utf-8")), encoding="utf-8")
