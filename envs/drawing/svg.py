"""SVG elements as text, and the document around a scene.

Coordinates are in the document's units, y downwards; ``SPACING`` is the distance between adjacent cells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import quoteattr

from stoneworks.envs.drawing import theme

SPACING = 40.0
MARGIN = 0.4 * SPACING
#: Pixels per unit at full size.
PIXELS_PER_UNIT = 0.7

Point = tuple[float, float]

# Placeholder for the prefix of all ids, which is derived from the complete content.
_ID_PREFIX = "@@"


@dataclass(frozen=True)
class Scene:
    """The content of a drawing.

    Attributes:
        elements: SVG elements, lowest layer first.
        left: smallest x coordinate of the visible area; ``top``, ``right`` and ``bottom`` likewise.
        description: accessible description of the picture.
        stones: the colors of its stones.
    """

    elements: Sequence[str]
    left: float
    top: float
    right: float
    bottom: float
    description: str
    stones: Sequence[theme.StoneColors] = theme.STONES


def number(value: float) -> str:
    """Return a number as text, rounded to a tenth."""
    return f"{round(float(value), 1) + 0.0:.7g}"


def polygons(shape: Sequence[Point], centers: Iterable[Point]) -> str:
    """Return path data with a copy of ``shape``, which is given around (0, 0), at each of the centers."""
    corners = [(round(x, 1), round(y, 1)) for x, y in shape]
    sides = "".join(f"l{number(x - from_x)} {number(y - from_y)}" for (from_x, from_y), (x, y) in pairwise(corners))
    first_x, first_y = corners[0]
    return "".join(f"M{number(x + first_x)} {number(y + first_y)}{sides}z" for x, y in centers)


def lines(ends: Iterable[tuple[Point, Point]]) -> str:
    """Return path data of straight lines."""
    return "".join(f"M{number(x)} {number(y)}L{number(to_x)} {number(to_y)}" for (x, y), (to_x, to_y) in ends)


def path(data: str, **attributes: str | float) -> str:
    """Return a ``<path>``, or an empty string if it has no data. Underscores in attribute names become hyphens."""
    return f'<path{_attributes(attributes)} d="{data}"/>' if data else ""


def circles(centers: Iterable[Point], radius: float) -> list[str]:
    """Return a ``<circle>`` at each of the centers."""
    return [f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>' for x, y in centers]


def group(elements: Iterable[str], **attributes: str | float) -> str:
    """Return a ``<g>`` of the elements, or an empty string if there are none. Attributes are as in ``path``."""
    content = "".join(elements)
    return f"<g{_attributes(attributes)}>{content}</g>" if content else ""


def gradient_fill(color: int) -> str:
    """Return the value of a ``fill`` attribute for stones of ``color``."""
    return f"url(#{_ID_PREFIX}{color})"


def document(scene: Scene) -> str:
    """Return the SVG document of a scene on a panel with rounded corners."""
    left, top = scene.left - MARGIN, scene.top - MARGIN
    width, height = scene.right + MARGIN - left, scene.bottom + MARGIN - top
    gradients = "".join(
        f'<linearGradient id="{_ID_PREFIX}{color}" x2="0" y2="1">'
        f'<stop stop-color="{stone.top}"/><stop offset="1" stop-color="{stone.bottom}"/></linearGradient>'
        for color, stone in enumerate(scene.stones)
    )
    panel = (
        f'<rect x="{number(left)}" y="{number(top)}" width="{number(width)}" height="{number(height)}"'
        f' rx="{number(MARGIN)}" fill="{theme.PANEL}"/>'
    )
    content = f"<defs>{gradients}</defs>{panel}{''.join(scene.elements)}"
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(PIXELS_PER_UNIT * width)}"'
        f' height="{number(PIXELS_PER_UNIT * height)}" viewBox="{" ".join(map(number, (left, top, width, height)))}"'
        f' role="img" aria-label={quoteattr(scene.description)} style="max-width:100%;height:auto">'
    )
    prefix = f"s{hashlib.sha256(content.encode()).hexdigest()[:10]}-"
    return f"{opening}{content.replace(_ID_PREFIX, prefix)}</svg>"


def _attributes(attributes: dict[str, str | float]) -> str:
    return "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(value if isinstance(value, str) else number(value))}"
        for name, value in attributes.items()
    )
