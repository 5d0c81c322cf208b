"""Pictures of Vadus: stones on the points of a hexagonal board."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from stoneworks.envs.drawing import boards, pieces, svg, theme
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.parts import Parts, parts_of_stones, shown_stones
from stoneworks.envs.drawing.svg import SPACING, Point, Scene
from stoneworks.envs.games.hexhex.drawing import center_dot, last_turn as last_turn
from stoneworks.envs.rules import Game, State


def compose(state: State, annotations: Annotations) -> Scene:
    """Return the scene of a position."""
    return boards.scene_of_stones(state, state.record["stones"], _board(state.game), annotations)


shown = shown_stones


def parts(game: Game) -> Parts:
    """Return the parts of the pictures."""
    return parts_of_stones(_board(game))


@lru_cache(maxsize=32)
def _board(game: Game) -> boards.Board:
    """Return the static parts of all pictures of a game."""
    grid = game.grid
    centers = boards.cell_centers(grid)
    corner = (grid.width // 2 + 0.5) * SPACING
    outline = svg.polygons([(corner * x, corner * y) for x, y in boards.DIRECTIONS], [(0, 0)])
    width = 0.3 * SPACING
    ground = svg.path(outline, fill=theme.BOARD, stroke=theme.BOARD, stroke_width=width, stroke_linejoin="round")
    lattice = svg.lines(_lattice(game, centers))
    lines = svg.path(lattice, fill="none", stroke=theme.LINE, stroke_width=pieces.LINE_WIDTH, stroke_linecap="round")
    extent = boards.extent_of([(0, 0)], corner + width / 2, corner * np.sqrt(3) / 2 + width / 2)
    labels, extent_with_labels = boards.row_and_column_labels(grid, grid.on_board, extent)
    shape = boards.hex_shape(SPACING)
    return boards.Board(centers, shape, ground, labels, extent, extent_with_labels, lines + center_dot())


def _lattice(game: Game, centers: list[Point]) -> Iterable[tuple[Point, Point]]:
    """Yield the ends of every line of points."""
    grid = game.grid
    for direction in range(3):
        forward, backward = grid.neighbors[:, direction], grid.neighbors[:, direction + 3]
        for start in np.flatnonzero(grid.on_board & (backward < 0) & (forward >= 0)):
            end = start
            while forward[end] >= 0:
                end = forward[end]
            yield centers[start], centers[end]
