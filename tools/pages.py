"""Replacement of blocks in Markdown pages."""

from __future__ import annotations


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
