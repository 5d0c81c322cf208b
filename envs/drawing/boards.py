"""Boards of fixed size: hexes, labels and extents, and the end of every drawing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing import pieces, svg, theme
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.svg import SPACING, Point, Scene
from stoneworks.envs.rules import State
from stoneworks.envs.rules.grid import Grid, column_name
from stoneworks.envs.rules.stones import BLACK, WHITE

#: Unit vectors to the six neighbors of a cell, from E clockwise (y points downwards).
DIRECTIONS = tuple((float(np.cos(np.pi * turn / 3)), float(np.sin(np.pi * turn / 3))) for turn in range(6))
WEST, NORTH_EAST = DIRECTIONS[3], DIRECTIONS[5]

#: Distance from the center of the last cell of a row or column to its label.
ROW_LABEL_DISTANCE = 1.0 * SPACING
COLUMN_LABEL_DISTANCE = 1.12 * SPACING
#: A line from the last cell of a column towards its label, which shows the direction of the column.
TICK = (0.69 * SPACING, 0.83 * SPACING)

#: left, top, right, bottom
Extent = tuple[float, float, float, float]


def cell_centers(grid: Grid) -> list[Point]:
    """Return the center of each cell."""
    return [(SPACING * x, -SPACING * y) for x, y in grid.positions.tolist()]


def hex_shape(width: float) -> list[Point]:
    """Return the corners of a pointy-top hex around (0, 0)."""
    radius = width / np.sqrt(3)
    return [(radius * y, -radius * x) for x, y in DIRECTIONS]


#: A cell without the lines around it.
CELL_SHAPE = hex_shape(SPACING - pieces.LINE_WIDTH)


def ground_of_cells(centers: Iterable[Point]) -> str:
    """Return empty cells with lines between them.

    The lines are gaps between smaller hexes on top of larger ones, which rasterize much faster than strokes.
    """
    centers = list(centers)
    ground = svg.path(svg.polygons(hex_shape(SPACING + pieces.LINE_WIDTH), centers), fill=theme.LINE)
    return ground + svg.path(svg.polygons(CELL_SHAPE, centers), fill=theme.BOARD)


def row_and_column_labels(grid: Grid, shown: npt.NDArray[np.bool_], extent: Extent) -> tuple[str, Extent]:
    """Return the labels of rows at their left ends and of columns at their upper ends, and the extent including them.

    At the lower ends of the columns, their labels would collide with those of the rows.

    Args:
        grid: the grid.
        shown: ``bool[num_cells]``, the cells in the picture, a convex set.
        extent: extent of the picture without labels.
    """
    centers = cell_centers(grid)
    shown = shown.reshape(grid.height, grid.width)
    labels, ticks = [], []
    for row in np.flatnonzero(shown.any(axis=1)).tolist():
        left_end = centers[row * grid.width + int(np.argmax(shown[row]))]
        labels.append((str(row + 1), _from(left_end, WEST, ROW_LABEL_DISTANCE)))
    for column in np.flatnonzero(shown.any(axis=0)).tolist():
        top_row = grid.height - 1 - int(np.argmax(shown[::-1, column]))
        top_end = centers[top_row * grid.width + column]
        labels.append((column_name(column), _from(top_end, NORTH_EAST, COLUMN_LABEL_DISTANCE)))
        ticks.append((_from(top_end, NORTH_EAST, TICK[0]), _from(top_end, NORTH_EAST, TICK[1])))
    half = pieces.LABEL_HEIGHT / 2
    xs, ys = zip(*(center for _, center in labels), strict=True)
    extent_with_labels = (
        min(extent[0], min(xs) - 1.5 * half),
        min(extent[1], min(ys) - half),
        max(extent[2], max(xs) + half),
        max(extent[3], max(ys) + half),
    )
    tick_path = svg.path(svg.lines(ticks), stroke=theme.LINE, stroke_width=pieces.LINE_WIDTH, stroke_linecap="round")
    return tick_path + pieces.labels(labels), extent_with_labels


def _from(place: Point, direction: Point, distance: float) -> Point:
    return place[0] + distance * direction[0], place[1] + distance * direction[1]


_INK_ON_STONE = {BLACK: theme.LIGHT_INK, WHITE: theme.DARK_INK}


class Board(Protocol):
    """The static parts of the pictures of a board.

    Attributes:
        labels: the labels of rows and columns, as SVG.
        extent: what is shown without them.
        extent_with_labels: what is shown with them.
    """

    @property
    def labels(self) -> str: ...  # noqa: D102
    @property
    def extent(self) -> Extent: ...  # noqa: D102
    @property
    def extent_with_labels(self) -> Extent: ...  # noqa: D102


def stone_marks(
    annotations: Annotations, centers: Sequence[Point], stones: npt.NDArray[Any], ground_of: Mapping[int, str]
) -> str:
    """Return the marks in an ink that is readable on the stone, or on the ground, of their cell."""
    return pieces.marks(
        (text, centers[cell], _INK_ON_STONE.get(stones[cell]) or theme.ink_on(ground_of[cell]))
        for cell, text in annotations.marks.items()
    )


def scene(state: State, elements: list[str], board: Board, annotations: Annotations) -> Scene:
    """Return the scene of a position from its elements, with labels if they are requested."""
    extent = board.extent
    if annotations.coordinates:
        elements.append(board.labels)
        extent = board.extent_with_labels
    return Scene(elements, *extent, description=f"{state.game} after {len(state.history())} actions")
