"""Markdown pages: tables, and blocks between two lines that are replaced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from stoneworks.files import write_whole


def markdown_table(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table, which ends with a line break."""
    first, *others = (f"| {' | '.join(map(str, line))} |\n" for line in (heads, *rows))
    return "".join([first, f"|{'---|' * len(heads)}\n", *others])


def check_block(page: Path | None, begin: str, end: str) -> None:
    """Check that :func:`write_block` can write into a page, before the block is made; None for no page.

    Raises:
        ValueError: the lines ``begin`` and ``end`` do not both occur exactly once, in this order.
    """
    if page is not None:
        replace_block(page.read_text(encoding="utf-8"), begin, end, "")


def write_block(page: Path | None, begin: str, end: str, block: str) -> None:
    """Replace the part of a page between the lines ``begin`` and ``end``. Raises as :func:`check_block`."""
    if page is not None:
        write_whole(page, replace_block(page.read_text(encoding="utf-8"), begin, end, block))


def replace_block(text: str, begin: str, end: str, block: str) -> str:
    """Return ``text`` with the part between the lines ``begin`` and ``end`` replaced by ``block``.

    Raises:
        ValueError: the two lines do not both occur exactly once, in this order.
    """
    before, found_begin, rest = text.partition(f"{begin}\n")
    _, found_end, after = rest.partition(f"{end}\n")
    if not found_begin or not found_end or begin in rest or end in after:
        raise ValueError(f"the page must have the lines {begin!r} and {end!r} once each, in this order")
    return f"{before}{begin}\n\n{block}\n{end}\n{after}"
