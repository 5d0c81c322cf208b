"""Parts of pictures: what pages without Python compose the pictures of positions of.

The drawing of a game gives ``parts(game)``, a :class:`Parts`, and the kernel ``shown(board, state, parts)``, which writes a row
``(part, place)`` for each part that a position shows to ``parts[_, 2]`` and returns their number. Parts are drawn in the order of
their numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing import boards, pieces, theme
from stoneworks.envs.drawing.boards import Board, Extent
from stoneworks.envs.drawing.svg import Point
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Int32Table, Record
from stoneworks.envs.rules.grid import Grid
from stoneworks.envs.rules.stones import BLACK, WHITE


class View(NamedTuple):
    """The ground of a picture, for positions whose parts are not farther from the center than ``radius``.

    Attributes:
        radius: the largest distance, in cells.
        extent: what the picture shows.
        below: SVG below the parts.
        above: SVG above them.
    """

    radius: int
    extent: Extent
    below: str
    above: str


class Parts(NamedTuple):
    """The parts of the pictures of a game.

    Attributes:
        shapes: SVG of each part, around (0, 0).
        places: where parts are.
        distances: the distance of each place from the center, in cells.
        views: the grounds, the smallest first; the last one is for all positions.
        stones: the colors of its stones.
    """

    shapes: list[str]
    places: list[Point]
    distances: list[int]
    views: list[View]
    stones: tuple[theme.StoneColors, ...] = theme.STONES


@kernel
def shown_stones(board: Record, state: Record, parts: Int32Table) -> int:
    """Write the stones of a game whose positions have the field ``stones``."""
    number = 0
    for cell in range(board.num_cells):
        if state.stones[cell] == BLACK or state.stones[cell] == WHITE:
            parts[number, 0] = state.stones[cell] - BLACK
            parts[number, 1] = cell
            number += 1
    return number


def parts_of_stones(board: Board) -> Parts:
    """Return the parts of a game of stones on a board of fixed size."""
    shapes = [pieces.stones(color, [(0, 0)]) for color in range(2)]
    view = View(0, board.extent_with_labels, board.ground + board.lines, board.labels)
    return Parts(shapes, board.centers, [0] * len(board.centers), [view])


def hexagons(grid: Grid, margin: int, view: Callable[[npt.NDArray[np.bool_]], tuple[Extent, str, str]]) -> list[View]:
    """Return the views of a plane of hexes that is shown as far as it is used, with a margin of hexes around.

    ``view`` returns the extent and the SVG below and above the parts, for ``bool[num_cells]``, the hexes that are shown.
    """
    largest = -(-(grid.width // 2) // boards.RADIUS_STEP) * boards.RADIUS_STEP
    views = []
    for radius in range(boards.RADIUS_STEP, largest + 1, boards.RADIUS_STEP):
        shown = grid.on_board & (grid.distance_from_center <= radius)
        views.append(View(radius - margin if radius < largest else radius, *view(shown)))
    return views
