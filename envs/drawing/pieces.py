"""Common parts of the pictures of all games: lines, stones, last-move marks, texts, and labels of rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stoneworks.envs.drawing import lettering, svg, theme
from stoneworks.envs.drawing.svg import SPACING, Point

STONE_RADIUS = 0.43 * SPACING
MARK_WIDTH = 0.56 * SPACING
MARK_HEIGHT = 0.34 * SPACING
LABEL_HEIGHT = 0.32 * SPACING
NUMBER_RADIUS = 0.29 * SPACING
LINE_WIDTH = 0.04 * SPACING


#: A text, the position of its center, its ink, and its height.
Text = tuple[str, Point, str, float]


def stones(
    color: int,
    centers: Iterable[Point],
    colors: Sequence[theme.StoneColors] = theme.STONES,
    radius: float = STONE_RADIUS,
) -> str:
    """Return stones of ``color`` 0 or 1 in the scene's ``colors``."""
    return svg.group(
        svg.circles(centers, radius),
        class_=f"stones color-{color}",
        fill=svg.gradient_fill(color),
        stroke=colors[color].outline,
        stroke_width=1.2,
    )


def rings(name: str, centers: Iterable[Point], radius: float, color: str, width: float, **attributes: str) -> str:
    """Return rings as a group of class ``name``, with further attributes of SVG."""
    circles = svg.circles(centers, radius)
    return svg.group(circles, class_=name, fill="none", stroke=color, stroke_width=width, **attributes)


def last_move(centers: Iterable[Point]) -> str:
    """Return the last-move marks: rings around stones, which leave room for a text."""
    return rings("last-move", centers, STONE_RADIUS + 0.015 * SPACING, theme.LAST_MOVE, 0.09 * SPACING)


def marks(items: Iterable[tuple[str, Point, str]]) -> str:
    """Return SVG texts for items of text, center and ink. Wide texts are scaled down."""
    fitting = []
    for text, center, ink in items:
        width, _ = lettering.text_path(text)
        height = min(MARK_HEIGHT, MARK_WIDTH / max(width, 1) * lettering.CAP_HEIGHT)
        fitting.append((text, center, ink, height))
    return _texts(fitting, "marks")


def numbers(items: Iterable[tuple[str, Point]]) -> str:
    """Return numbers on discs from texts and centers, readable on stones of both colors."""
    placed = list(items)
    discs = svg.group(
        svg.circles((center for _, center in placed), NUMBER_RADIUS),
        fill=theme.NUMBER,
        stroke=theme.LIGHT_INK,
        stroke_width=LINE_WIDTH,
    )
    texts = marks((text, center, theme.LIGHT_INK) for text, center in placed)
    return svg.group([discs, texts] if placed else [], class_="numbers")


def labels(items: Iterable[tuple[str, Point]]) -> str:
    """Return labels of rows or columns from texts and centers."""
    return _texts(((text, center, theme.LABEL, LABEL_HEIGHT) for text, center in items), "labels")


def _texts(items: Iterable[Text], name: str) -> str:
    """Return a group of class ``name``. The ``aria-label`` of each path is its text."""
    by_ink: dict[str, list[str]] = {}
    for text, (x, y), ink, height in items:
        width, strokes = lettering.text_path(text)
        scale = height / lettering.CAP_HEIGHT
        place = f"translate({svg.number(x - scale * width / 2)} {svg.number(y - height / 2)}) scale({scale:.3g})"
        by_ink.setdefault(ink, []).append(svg.path(strokes, aria_label=text, transform=place))
    return svg.group(
        (svg.group(paths, stroke=ink) for ink, paths in by_ink.items()),
        class_=name,
        fill="none",
        stroke_width=lettering.STROKE,
        stroke_linecap="round",
        stroke_linejoin="round",
    )
