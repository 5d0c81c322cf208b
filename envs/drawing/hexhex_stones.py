"""Pictures of Vadus and Laido: stones on the points, or in the cells, of a hexagonal board."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from stoneworks.envs.drawing import pieces, svg, theme
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.svg import SPACING, Point, Scene
from stoneworks.envs.rules import Game, State
from stoneworks.envs.rules.grid import column_name
from stoneworks.envs.rules.groups import BLACK, EMPTY, WHITE

#: Unit vectors to the six neighbours of a cell, E first, then with the clock (y goes downwards).
DIRECTIONS = tuple((float(np.cos(np.pi * turn / 3)), float(np.sin(np.pi * turn / 3))) for turn in range(6))
WEST, NORTH_EAST = DIRECTIONS[3], DIRECTIONS[5]

LINE_WIDTH = 0.04 * SPACING
DOT_RADIUS = 0.09 * SPACING
#: What hides the lines under a mark on an empty cell.
MARK_GROUND_RADIUS = 0.47 * SPACING
#: From the centre of the last cell of a row or column to its label.
ROW_LABEL_DISTANCE = 1.0 * SPACING
COLUMN_LABEL_DISTANCE = 1.12 * SPACING
#: From the centre of the last cell of a column, a line towards its label that shows in which direction the column runs.
TICK = (0.69 * SPACING, 0.83 * SPACING)


def last_turn(state: State) -> list[int]:
    """Return the placements of the last turn that placed a stone.

    Stones stay where they are and keep their colour, and turns alternate: such a turn is the last stones of one colour
    that have no pass between them.
    """
    stones = state.record["stones"]
    turn: list[int] = []
    for action in reversed(state.history()):
        if action < state.game.grid.num_cells and (not turn or stones[action] == stones[turn[0]]):
            turn.append(action)
        elif turn:
            break
    return turn[::-1]


def compose(state: State, annotations: Annotations) -> Scene:
    """Return the scene of a position of Vadus, on points, or of Laido, in cells."""
    game = state.game
    board = _board(game)
    centres = board.centres
    stones = state.record["stones"]
    ground_of = {cell: annotations.fills.get(cell, theme.BOARD) for cell in annotations.marks}
    ink_of = {BLACK: theme.LIGHT_INK, WHITE: theme.DARK_INK}

    fills = (
        svg.path(svg.polygons(board.cell_shape, [centres[cell]]), fill=fill) for cell, fill in annotations.fills.items()
    )
    elements = [board.ground, svg.group(fills, class_="fills"), board.lines]
    elements.extend(
        svg.group(svg.circles([centres[cell]], MARK_GROUND_RADIUS), fill=ground)
        for cell, ground in ground_of.items()
        if stones[cell] == EMPTY
    )
    for colour, code in enumerate((BLACK, WHITE)):
        elements.append(pieces.stones(colour, (centres[cell] for cell in np.flatnonzero(stones == code))))
    elements.append(pieces.last_move(centres[action] for action in annotations.last_actions))
    elements.append(
        pieces.marks(
            (text, centres[cell], ink_of.get(stones[cell]) or theme.ink_on(ground_of[cell]))
            for cell, text in annotations.marks.items()
        )
    )
    extent = board.extent
    if annotations.coordinates:
        elements.append(board.labels)
        extent = board.extent_with_labels
    return Scene(elements, *extent, description=f"{game} after {len(state.history())} actions")


@dataclass(frozen=True)
class _Board:
    centres: list[Point]
    cell_shape: list[Point]
    ground: str
    lines: str
    labels: str
    extent: tuple[float, float, float, float]
    extent_with_labels: tuple[float, float, float, float]


@lru_cache(maxsize=32)
def _board(game: Game) -> _Board:
    """Return what all pictures of a game share."""
    grid = game.grid
    centres = [(SPACING * x, -SPACING * y) for x, y in grid.positions.tolist()]
    radius = grid.width // 2

    if game.name == "vadus":
        corner = (radius + 0.5) * SPACING
        outline = svg.polygons([(corner * x, corner * y) for x, y in DIRECTIONS], [(0, 0)])
        width = 0.3 * SPACING
        ground = svg.path(outline, fill=theme.BOARD, stroke=theme.BOARD, stroke_width=width, stroke_linejoin="round")
        lattice = svg.lines(_lattice(game, centres))
        cell_shape = _hex(SPACING)
        lines = svg.path(lattice, fill="none", stroke=theme.LINE, stroke_width=LINE_WIDTH, stroke_linecap="round")
        reach_x, reach_y = corner + width / 2, corner * np.sqrt(3) / 2 + width / 2
    else:
        # The lines are what larger hexes leave to be seen between smaller ones: far faster to rasterise than strokes.
        cell_shape = _hex(SPACING - LINE_WIDTH)
        on_board = [centres[cell] for cell in np.flatnonzero(grid.on_board)]
        ground = svg.path(svg.polygons(_hex(SPACING + LINE_WIDTH), on_board), fill=theme.LINE)
        ground += svg.path(svg.polygons(cell_shape, on_board), fill=theme.BOARD)
        lines = ""
        reach_x, reach_y = (radius + 0.5) * SPACING, radius * SPACING * np.sqrt(3) / 2 + SPACING / np.sqrt(3)
    lines += svg.group(svg.circles([(0, 0)], DOT_RADIUS), fill=theme.LINE)

    labels, ticks = _labels(game, centres)
    half = pieces.LABEL_HEIGHT / 2
    xs, ys = zip(*(centre for _, centre in labels), strict=True)
    extent = (-reach_x, -reach_y, reach_x, reach_y)
    extent_with_labels = (
        min(extent[0], min(xs) - 1.5 * half),
        min(extent[1], min(ys) - half),
        max(extent[2], max(xs) + half),
        max(extent[3], max(ys) + half),
    )
    tick_path = svg.path(svg.lines(ticks), stroke=theme.LINE, stroke_width=LINE_WIDTH, stroke_linecap="round")
    return _Board(centres, cell_shape, ground, lines, tick_path + pieces.labels(labels), extent, extent_with_labels)


def _hex(width: float) -> list[Point]:
    """Return the corners of a pointy-top hex around (0, 0)."""
    radius = width / np.sqrt(3)
    return [(radius * y, -radius * x) for x, y in DIRECTIONS]


def _lattice(game: Game, centres: list[Point]) -> Iterable[tuple[Point, Point]]:
    """Yield the ends of every line of points."""
    grid = game.grid
    for direction in range(3):
        forward, backward = grid.neighbours[:, direction], grid.neighbours[:, direction + 3]
        for start in np.flatnonzero(grid.on_board & (backward < 0) & (forward >= 0)):
            end = start
            while forward[end] >= 0:
                end = forward[end]
            yield centres[start], centres[end]


def _labels(game: Game, centres: list[Point]) -> tuple[list[tuple[str, Point]], list[tuple[Point, Point]]]:
    """Return the labels, of rows at their left ends and of columns at their upper ends, and the ends of the ticks.

    At the lower ends of the columns their labels would meet those of the rows.
    """
    grid = game.grid
    on_board = grid.on_board.reshape(grid.height, grid.width)
    labels, ticks = [], []
    for row in range(grid.height):
        left_end = centres[row * grid.width + int(np.argmax(on_board[row]))]
        labels.append((str(row + 1), _from(left_end, WEST, ROW_LABEL_DISTANCE)))
    for column in range(grid.width):
        top_row = grid.height - 1 - int(np.argmax(on_board[::-1, column]))
        top_end = centres[top_row * grid.width + column]
        labels.append((column_name(column), _from(top_end, NORTH_EAST, COLUMN_LABEL_DISTANCE)))
        ticks.append((_from(top_end, NORTH_EAST, TICK[0]), _from(top_end, NORTH_EAST, TICK[1])))
    return labels, ticks


def _from(place: Point, direction: Point, distance: float) -> Point:
    return place[0] + distance * direction[0], place[1] + distance * direction[1]
