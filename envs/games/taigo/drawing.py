"""Pictures of Taigo: two-colored tiles and cones, on the used part of the plane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing import boards, pieces, svg, theme
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.parts import Parts, hexagons
from stoneworks.envs.drawing.picture import Choice, Place, generic_places
from stoneworks.envs.drawing.svg import SPACING, Point, Scene
from stoneworks.envs.games.taigo.rules import (
    CONE,
    DARK,
    DARK_CONE_PLANE,
    HOLE,
    OFF,
    is_occupied,
    joint_of,
    kind_of,
)
from stoneworks.envs.rules import Game, State
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Int32Table, Record
from stoneworks.envs.rules.grid import NO_NEIGHBOR

#: Number of empty hexes shown around the used ones, as far as the window has them.
NUM_MARGIN_HEXES = 2
#: Width of the outline around a tile.
OUTLINE_WIDTH = 0.05 * SPACING
HOLE_RADIUS = 0.32 * SPACING
CONE_RADIUS = 0.3 * SPACING
#: Share of a hex that half a tile covers, apart from the side where it meets the other half. The gaps show which halves belong
#: together.
HALF_SHARE = 0.8
_HALF = boards.hex_shape(HALF_SHARE * SPACING)


def last_turn(state: State) -> list[int]:
    """Return the actions of the last turn: its tile, and the following cones (G2, G4)."""
    turn: list[int] = []
    for action in reversed(state.history()):
        turn.append(action)
        if not _is_cone(state.game, action):
            break
    return turn[::-1]


def places(game: Game, action: int) -> list[Place]:
    """Return the dark and light hex of a tile, or the hex of a cone."""
    return [place for cell in _cells_of(game, action) for place in generic_places(game, cell)]


def choice(game: Game, action: int) -> Choice:
    """Return the label of a tile or a cone."""
    if not _is_cone(game, action):
        return Choice("tile", parts=("dark half", "light half"))
    return Choice("dark cone" if action // game.grid.num_cells == DARK_CONE_PLANE else "light cone")


def compose(state: State, annotations: Annotations) -> Scene:
    """Return the scene of a position.

    It is square, so that all pictures of one width have the same height, although the used part of the plane grows.
    """
    game = state.game
    grid = game.grid
    centers = boards.cell_centers(grid)
    codes = state.record["cells"][: grid.num_cells]
    occupied = is_occupied(codes)
    cones = occupied & (joint_of(codes) == CONE)
    last_cells = [_cells_of(game, action) for action in annotations.last_actions]
    fills = {cell: fill for cell, fill in annotations.fills.items() if fill != theme.BOARD}
    numbered_cells = (_cells_of(game, action) for action in annotations.numbers)
    annotated = [*fills, *annotations.marks, *chain.from_iterable([*last_cells, *numbered_cells])]
    in_use = np.union1d(np.flatnonzero(occupied), annotated)
    shown = boards.hexagon_around(grid, in_use.astype(np.int64), NUM_MARGIN_HEXES)
    tiles = [
        (centers[cell], centers[grid.neighbors[cell, joint_of(codes[cell]) - 1]])
        for cell in np.flatnonzero(occupied & ~cones & (kind_of(codes) == DARK))
    ]
    hexes = [centers[cell] for cell in np.flatnonzero(shown)]
    elements = [boards.ground_of_cells(hexes), boards.fills(fills, boards.CELL_SHAPE, centers)]
    if state.record["holes_to_fill"]:
        holes = [centers[cell] for cell in np.flatnonzero(codes == HOLE)]
        elements.append(_hole_rings(holes))
    elements.append(_tiles(tiles))
    for color in range(2):
        cells = np.flatnonzero(cones & (kind_of(codes) == DARK + color))
        elements.append(_cones(color, (centers[cell] for cell in cells)))
    elements.append(pieces.last_move(centers[cells[0]] for cells in last_cells if len(cells) == 1))
    last_tiles = [(centers[cells[0]], centers[cells[1]]) for cells in last_cells if len(cells) == 2]
    elements.append(_outlines("last-tiles", last_tiles, theme.LAST_MOVE, 0.08 * SPACING))
    elements.append(boards.marks(annotations, centers, lambda cell: _ink(codes[cell], fills.get(cell, theme.BOARD))))
    extent = boards.extent_of(hexes, SPACING / 2, SPACING / np.sqrt(3))
    if annotations.coordinates:
        labels, extent = boards.row_and_column_labels(grid, shown, extent)
        elements.append(labels)
    return Scene(elements, *boards.square(extent), description=f"{game} after {len(state.history())} actions")


# The parts: a hole, the outline of a tile and its halves by joint, cones by color.
_HOLE_PART, _OUTLINES, _DARK_HALVES, _LIGHT_HALVES, _CONES = 0, 1, 7, 13, 19


def parts(game: Game) -> Parts:
    """Return the parts of the pictures."""
    grid, centers = game.grid, boards.cell_centers(game.grid)
    here = (0.0, 0.0)
    beside = [(SPACING * x, SPACING * y) for x, y in (boards.DIRECTIONS[-direction % 6] for direction in range(6))]
    shapes = [_hole_rings([here])]
    shapes += [_outlines("tiles", [(here, other)], theme.STONES[0].outline, 2 * OUTLINE_WIDTH) for other in beside]
    shapes += [_halves(color, [(here, other)]) for color in range(2) for other in beside]
    shapes += [_cones(color, [here]) for color in range(2)]

    def view(shown: npt.NDArray[np.bool_]) -> tuple[boards.Extent, str, str]:
        hexes = [centers[cell] for cell in np.flatnonzero(shown)]
        extent = boards.extent_of(hexes, SPACING / 2, SPACING / np.sqrt(3))
        labels, extent = boards.row_and_column_labels(grid, shown, extent)
        return boards.square(extent), boards.ground_of_cells(hexes), labels

    return Parts(shapes, centers, grid.distance_from_center.tolist(), hexagons(grid, NUM_MARGIN_HEXES, view))


@kernel
def shown(board: Record, state: Record, parts: Int32Table) -> int:
    """Write the parts that a position shows."""
    number = 0
    for cell in range(board.num_cells):
        code = state.cells[cell]
        if code == HOLE and state.holes_to_fill:
            parts[number, 0], parts[number, 1] = _HOLE_PART, cell
            number += 1
        if not (code < 0 and code != 8 * OFF):
            continue
        color, joint = (code >> 3) - DARK, code & 7
        if joint == CONE:
            parts[number, 0] = _CONES + color
        else:
            parts[number, 0] = (_LIGHT_HALVES if color else _DARK_HALVES) + joint - 1
            if color == 0:
                parts[number, 1] = cell
                number += 1
                parts[number, 0] = _OUTLINES + joint - 1
        parts[number, 1] = cell
        number += 1
    return number


def _outlines(name: str, tiles: Iterable[tuple[Point, Point]], color: str, width: float) -> str:
    """Return the outlines of tiles as a group of class ``name``."""
    paths = (svg.path(_outline(*centers)) for centers in tiles)
    return svg.group(paths, class_=name, fill="none", stroke=color, stroke_width=width, stroke_linejoin="round")


def _is_cone(game: Game, action: int) -> bool:
    return action >= DARK_CONE_PLANE * game.grid.num_cells


def _cells_of(game: Game, action: int) -> list[int]:
    """Return the cell of a cone, or the dark and the light cell of a tile.

    Raises:
        ValueError: the light hex is outside the window.
    """
    plane, cell = divmod(action, game.grid.num_cells)
    if plane >= DARK_CONE_PLANE:
        return [cell]
    light_cell = int(game.grid.neighbors[cell, plane])
    if light_cell == NO_NEIGHBOR:
        raise ValueError(
            f"action {action}: the light hex of {game.action_to_string(action)} is outside the window of {game}"
        )
    return [cell, light_cell]


def _tiles(places: Sequence[tuple[Point, Point]]) -> str:
    """Return tiles from the centers of their dark and light hexes."""
    halves = _halves(0, places) + _halves(1, [place[::-1] for place in places])
    return _outlines("tiles", places, theme.STONES[0].outline, 2 * OUTLINE_WIDTH) + halves


def _halves(color: int, places: Iterable[tuple[Point, Point]]) -> str:
    """Return the halves of tiles of ``color`` from the centers of their own and of their other hexes."""
    return svg.group(
        (svg.path(_half(*place)) for place in places), class_=f"halves color-{color}", fill=svg.gradient_fill(color)
    )


def _hole_rings(centers: Iterable[Point]) -> str:
    return pieces.rings("holes", centers, HOLE_RADIUS, theme.LABEL, 2 * OUTLINE_WIDTH, stroke_dasharray="5 4")


def _half(center: Point, other_center: Point) -> str:
    """Return the path data around half a tile: a hexagon that reaches to the other half."""
    x, y = center
    return svg.polygons(_toward(other_center[0] - x, other_center[1] - y), [center])


def _toward(dx: float, dy: float) -> list[Point]:
    """Return the corners of half a tile around (0, 0); those of the side in a direction lie in the middle of the tile."""
    gap = (1 - HALF_SHARE) / 2
    return [(x + gap * dx, y + gap * dy) if _faces(x, y, dx, dy) else (x, y) for x, y in _HALF]


def _outline(center: Point, other_center: Point) -> str:
    """Return the path data around a tile: two joined hexagons."""
    (x, y), (other_x, other_y) = center, other_center
    dx, dy = other_x - x, other_y - y
    first = next(
        index
        for index, (px, py) in enumerate(_HALF)
        if _faces(px, py, dx, dy) and _faces(*_HALF[(index + 1) % 6], dx, dy)
    )
    own = [_HALF[(first + 1 + step) % 6] for step in range(6)]
    other = [_HALF[(first + 4 + step) % 6] for step in range(6)]
    return svg.polygons([*own, *((px + dx, py + dy) for px, py in other)], [center])


def _faces(x: float, y: float, dx: float, dy: float) -> bool:
    """Return whether a corner of a hexagon belongs to its side in a direction."""
    return x * dx + y * dy > 0.3 * SPACING**2


def _cones(color: int, centers: Iterable[Point]) -> str:
    """Return cones of ``color`` 0 or 1, seen from above."""
    return svg.group(
        svg.circles(centers, CONE_RADIUS),
        class_=f"cones color-{color}",
        fill=svg.gradient_fill(color),
        stroke=theme.STONES[color].outline,
        stroke_width=2 * OUTLINE_WIDTH,
    )


def _ink(code: int, ground: str) -> str:
    if not is_occupied(code):
        return theme.ink_on(ground)
    return theme.LIGHT_INK if kind_of(code) == DARK else theme.DARK_INK
