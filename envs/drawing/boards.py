"""What boards share: cells, fills, labels and extents, and scenes of stones on a board of fixed size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing import pieces, svg, theme
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.svg import SPACING, Point, Scene
from stoneworks.envs.rules import State
from stoneworks.envs.rules.grid import Grid, column_name
from stoneworks.envs.rules.stones import BLACK, EMPTY, WHITE

#: Unit vectors to the six neighbors of a cell, from E clockwise (y points downwards).
DIRECTIONS = tuple((float(np.cos(np.pi * turn / 3)), float(np.sin(np.pi * turn / 3))) for turn in range(6))
WEST, NORTH_EAST = DIRECTIONS[3], DIRECTIONS[5]

#: Distance from the center of the last cell of a row or column to its label.
ROW_LABEL_DISTANCE = 1.0 * SPACING
COLUMN_LABEL_DISTANCE = 1.12 * SPACING
#: Covers the lines below a mark on an empty cell.
MARK_GROUND_RADIUS = 0.47 * SPACING
#: A line from the last cell of a column toward its label, which shows the direction of the column.
TICK = (0.69 * SPACING, 0.83 * SPACING)

#: Number of hexes by which the shown part of a plane grows at a time.
RADIUS_STEP = 2

#: left, top, right, bottom
Extent = tuple[float, float, float, float]


def cell_centers(grid: Grid) -> list[Point]:
    """Return the center of each cell."""
    return [(SPACING * x, -SPACING * y) for x, y in grid.positions.tolist()]


def hex_shape(width: float) -> list[Point]:
    """Return the corners of a pointy-top hex around (0, 0)."""
    radius = width / np.sqrt(3)
    return [(radius * y, -radius * x) for x, y in DIRECTIONS]


def square_shape(width: float) -> list[Point]:
    """Return the corners of a square around (0, 0)."""
    return [(x * width / 2, y * width / 2) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


#: A cell without the lines around it.
CELL_SHAPE = hex_shape(SPACING - pieces.LINE_WIDTH)


def ground_of_cells(
    centers: Iterable[Point],
    shape: Callable[[float], list[Point]] = hex_shape,
    spacing: float = SPACING,
    colors: tuple[str, str] = (theme.BOARD, theme.LINE),
) -> str:
    """Return empty cells, of the ``shape`` of a width, with lines between them; ``colors`` are those of cells and lines.

    The lines are gaps between smaller cells on top of larger ones, which rasterize much faster than strokes.
    """
    centers = list(centers)
    ground = svg.path(svg.polygons(shape(spacing + pieces.LINE_WIDTH), centers), fill=colors[1])
    return ground + svg.path(svg.polygons(shape(spacing - pieces.LINE_WIDTH), centers), fill=colors[0])


def fills(colors: Mapping[int, str], shape: Sequence[Point], centers: Sequence[Point]) -> str:
    """Return copies of ``shape`` in the colors of cells."""
    paths = (svg.path(svg.polygons(shape, [centers[cell]]), fill=color) for cell, color in colors.items())
    return svg.group(paths, class_="fills")


def marks(annotations: Annotations, centers: Sequence[Point], ink: Callable[[int], str]) -> str:
    """Return the marks of cells, each in the ``ink`` of its cell."""
    return pieces.marks((text, centers[cell], ink(cell)) for cell, text in annotations.marks.items())


def extent_of(centers: Iterable[Point], reach_x: float, reach_y: float) -> Extent:
    """Return the extent of shapes that reach so far from their centers."""
    xs, ys = zip(*centers, strict=True)
    return min(xs) - reach_x, min(ys) - reach_y, max(xs) + reach_x, max(ys) + reach_y


def hexagon_around(grid: Grid, cells: npt.NDArray[np.int64], margin: int) -> npt.NDArray[np.bool_]:
    """Return ``bool[num_cells]``: the hexagon around the center of the grid with ``cells`` and the margin around them.

    Its radius is a multiple of ``RADIUS_STEP``, so that a picture seldom changes as the used part grows, and never moves.
    """
    radius = -(-(grid.distance_from_center[cells].max() + margin) // RADIUS_STEP) * RADIUS_STEP
    return grid.on_board & (grid.distance_from_center <= radius)


def row_and_column_labels(grid: Grid, shown: npt.NDArray[np.bool_], extent: Extent) -> tuple[str, Extent]:
    """Return the labels of rows at their left ends and of columns at their upper ends, and the extent including them.

    At the lower ends of the columns, their labels would collide with those of the rows.

    Args:
        grid: the grid.
        shown: ``bool[num_cells]``, the cells in the picture, a convex set.
        extent: extent of the picture without labels.
    """
    centers = cell_centers(grid)
    labels = row_and_column_texts(grid, shown, centers, ROW_LABEL_DISTANCE, COLUMN_LABEL_DISTANCE)
    ticks = []
    for _, cell in _top_ends(grid, shown):
        ticks.append((_from(centers[cell], NORTH_EAST, TICK[0]), _from(centers[cell], NORTH_EAST, TICK[1])))
    tick_path = svg.path(svg.lines(ticks), stroke=theme.LINE, stroke_width=pieces.LINE_WIDTH, stroke_linecap="round")
    return tick_path + pieces.labels(labels), with_labels(extent, labels)


def side_labels(grid: Grid, extent: Extent, distance: float) -> tuple[str, Extent]:
    """Return the labels of a square board, left of its rows and below its columns, and the extent including them.

    Args:
        grid: the grid.
        extent: extent of the board.
        distance: from its edge to the centers of the labels.
    """
    left, top, right, bottom = extent
    labels = [(str(row + 1), (left - distance, -row * SPACING)) for row in range(grid.height)]
    labels += [(column_name(column), (column * SPACING, bottom + distance)) for column in range(grid.width)]
    reach = distance + pieces.LABEL_HEIGHT / 2
    return pieces.labels(labels), (left - reach, top, right, bottom + reach)


def row_and_column_texts(
    grid: Grid, shown: npt.NDArray[np.bool_], centers: Sequence[Point], row_distance: float, column_distance: float
) -> list[tuple[str, Point]]:
    """Return the labels of :func:`row_and_column_labels` and their positions, at distances from the ``centers`` of cells."""
    cells = np.flatnonzero(shown).tolist()
    left_ends = {cell // grid.width: cell for cell in reversed(cells)}
    labels = [(str(row + 1), _from(centers[cell], WEST, row_distance)) for row, cell in sorted(left_ends.items())]
    for column, cell in _top_ends(grid, shown):
        labels.append((column_name(column), _from(centers[cell], NORTH_EAST, column_distance)))
    return labels


def _top_ends(grid: Grid, shown: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return each column that is shown, and its uppermost cell."""
    return sorted({cell % grid.width: cell for cell in np.flatnonzero(shown).tolist()}.items())


def square(extent: Extent) -> Extent:
    """Return the smallest square with the same center, for pictures that do not change their shape as the board grows."""
    left, top, right, bottom = extent
    half = max(right - left, bottom - top) / 2
    x, y = (left + right) / 2, (top + bottom) / 2
    return x - half, y - half, x + half, y + half


def with_labels(extent: Extent, labels: Iterable[tuple[str, Point]]) -> Extent:
    """Return ``extent``, enlarged by the labels of rows and columns."""
    half = pieces.LABEL_HEIGHT / 2
    left, top, right, bottom = extent_of((center for _, center in labels), half, half)
    return min(extent[0], left - 0.5 * half), min(extent[1], top), max(extent[2], right), max(extent[3], bottom)


def _from(place: Point, direction: Point, distance: float) -> Point:
    return place[0] + distance * direction[0], place[1] + distance * direction[1]


_INK_ON_STONE = {BLACK: theme.LIGHT_INK, WHITE: theme.DARK_INK}


@dataclass(frozen=True)
class Board:
    """The static parts of the pictures of a board of fixed size.

    Attributes:
        centers: the center of each cell.
        cell_shape: what a fill covers of a cell around (0, 0).
        ground: the board without its lines, as SVG.
        labels: the labels of rows and columns, as SVG.
        extent: what is shown without them.
        extent_with_labels: what is shown with them.
        lines: what is drawn over the fills, as SVG.
    """

    centers: list[Point]
    cell_shape: list[Point]
    ground: str
    labels: str
    extent: Extent
    extent_with_labels: Extent
    lines: str = ""


def board_of_hexes(grid: Grid, lines: str = "") -> Board:
    """Return the static parts of a board of hexagonal cells, with ``lines`` over the fills."""
    centers = cell_centers(grid)
    shown = [centers[cell] for cell in np.flatnonzero(grid.on_board)]
    extent = extent_of(shown, SPACING / 2, SPACING / np.sqrt(3))
    labels, extent_with_labels = row_and_column_labels(grid, grid.on_board, extent)
    return Board(centers, CELL_SHAPE, ground_of_cells(shown), labels, extent, extent_with_labels, lines)


def scene_of_stones(
    state: State,
    stones: npt.NDArray[Any],
    board: Board,
    annotations: Annotations,
    below: Sequence[str] = (),
    above: Sequence[str] = (),
) -> Scene:
    """Return the scene of ``stones[num_cells]``, with elements ``below`` and ``above`` these."""
    centers = board.centers
    ground_of = {cell: annotations.fills.get(cell, theme.BOARD) for cell in annotations.marks}
    elements = [board.ground, fills(annotations.fills, board.cell_shape, centers), board.lines]
    if board.lines:
        elements.extend(
            svg.group(svg.circles([centers[cell]], MARK_GROUND_RADIUS), fill=ground)
            for cell, ground in ground_of.items()
            if stones[cell] == EMPTY
        )
    elements.extend(below)
    for color, code in enumerate((BLACK, WHITE)):
        elements.append(pieces.stones(color, (centers[cell] for cell in np.flatnonzero(stones == code))))
    elements.extend(above)
    elements.append(
        pieces.last_move(centers[action % state.game.grid.num_cells] for action in annotations.last_actions)
    )
    # In an ink that is readable on the stone, or on the ground, of the cell.
    elements.append(
        marks(annotations, centers, lambda cell: _INK_ON_STONE.get(stones[cell]) or theme.ink_on(ground_of[cell]))
    )
    extent = board.extent
    if annotations.coordinates:
        elements.append(board.labels)
        extent = board.extent_with_labels
    return Scene(elements, *extent, description=f"{state.game} after {len(state.history())} actions")
