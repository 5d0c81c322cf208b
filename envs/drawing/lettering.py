"""Text as strokes, so that pictures need no fonts and look the same everywhere."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path

#: Height of capitals and digits in glyph units. Small letters without ascender start at 3.
CAP_HEIGHT = 10.0
#: Stroke width in glyph units.
STROKE = 1.6
_GAP = 2.6

# Width and strokes of each glyph, y downwards from the top of the capitals. Each stroke starts with M, the only absolute
# command, so that a glyph can be moved by changing the start of its strokes.
_GLYPHS: dict[str, tuple[float, str]] = json.loads(Path(__file__).with_name("glyphs.json").read_text(encoding="utf-8"))

CHARACTERS = "".join(_GLYPHS)
_STROKE_BEGINNING = re.compile(r"M(\S+) ")


@lru_cache(maxsize=1024)
def text_path(text: str) -> tuple[float, str]:
    """Return the width of a text and the path of its strokes, with the top left corner at (0, 0).

    Every character must be in ``CHARACTERS``.
    """
    pen = 0.0
    path = ""
    for character in text:
        width, strokes = _GLYPHS[character]
        path += _moved(strokes, pen)
        pen += width + _GAP
    return pen - _GAP, path


def _moved(strokes: str, distance: float) -> str:
    """Return the strokes moved to the right."""
    return _STROKE_BEGINNING.sub(lambda match: f"M{round(float(match[1]) + distance, 2):g} ", strokes)
