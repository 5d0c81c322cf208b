"""Formatting of numbers as text, and replacement of blocks in Markdown pages."""

from __future__ import annotations


def percent(*shares: float, digits: int = 1) -> str:
    """Return shares as percentages: ``12.5 %``, or ``10.1 to 15.2 %``."""
    return " to ".join(f"{100 * share:.{digits}f}" for share in shares) + " %"


def duration(seconds: float) -> str:
    """Return a duration as text: ``3 h 20 min``, ``12 min`` or ``45 s``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


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
