"""Formatting of numbers as text."""

from __future__ import annotations

import numpy as np


def percent(*shares: float, digits: int = 1) -> str:
    """Return shares as percentages: ``12.5 %``, or ``10.1 to 15.2 %``."""
    return " to ".join(f"{100 * share:.{digits}f}" for share in shares) + " %"


def duration(seconds: float) -> str:
    """Return a duration as text: ``3 h 20 min``, ``12 min`` or ``45 s``."""
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def exact(value: float | str) -> str:
    """Return a text that is read as ``value``: a number with all its digits, without an exponent or trailing zeros."""
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)
