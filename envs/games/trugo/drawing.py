"""Pictures of Trugo: tiles with their two-colored pattern, pieces on corners, stacks, and destinations of a picked piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing import boards, pieces, svg, theme
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.parts import Parts, hexagons
from stoneworks.envs.drawing.picture import Choice, Place
from stoneworks.envs.drawing.svg import SPACING, Point, Scene
from stoneworks.envs.games.trugo.plane import DOUBLE, EMPTY_JUNCTION, SINGLE, TOP, corner_code
from stoneworks.envs.games.trugo.position import LAY, MOVE, PICK, REMOVE, TrugoPosition
from stoneworks.envs.games.trugo.routes import Corner, corner_at, region, routes
from stoneworks.envs.games.trugo.rules import Trugo
from stoneworks.envs.rules import Game, State
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Int32Table, Record
from stoneworks.envs.rules.grid import Grid

#: Distance between adjacent hexes, with room for stacks on adjacent corners.
PITCH = 1.95 * SPACING
EDGE = PITCH / float(np.sqrt(3))
JUNCTION_RADIUS = 0.09 * SPACING
DESTINATION_RADIUS = 0.2 * SPACING
#: Offset of the pieces of a stack to either side, and their radius: pieces of adjacent stacks do not touch.
STACK_SHIFT = 0.22 * SPACING
STACKED_RADIUS = 0.37 * SPACING
#: Width of the fill of a tile, a band along its sides, so that the pattern remains visible.
FILL_WIDTH = 0.1 * PITCH
ROUTE_WIDTH = 0.13 * SPACING
MARK_GROUND_RADIUS = 0.42 * SPACING
#: Clickable discs. Those of a hex and of its corners, at distance ``EDGE``, do not overlap.
TILE_PLACE_RADIUS = 0.55 * EDGE
CORNER_PLACE_RADIUS = 0.44 * EDGE
ROW_LABEL_DISTANCE = 0.75 * PITCH
COLUMN_LABEL_DISTANCE = 0.82 * PITCH

#: The corners N, NE, SE, S, SW, NW of a hex around (0, 0), and the midpoints of the edges that follow them clockwise.
CORNERS: tuple[Point, ...] = tuple(boards.hex_shape(PITCH))
MIDDLES: tuple[Point, ...] = tuple(
    ((x + to_x) / 2, (y + to_y) / 2) for (x, y), (to_x, to_y) in zip(CORNERS, CORNERS[1:] + CORNERS[:1], strict=True)
)

#: The corners that each rotation cuts off (R1).
APART = ("top and bottom", "lower right and upper left", "upper right and lower left")
WHITE_REGION = "#fbf7ec"
BLUE_REGION = "#9cc0e7"
#: White and blue areas of a shaded region.
SHADED = ("#ffdf80", "#dcb63c")
#: Slides of a picked piece, and steps, which are dashed.
SLIDE, STEP = "#1d7a3a", "#c2410c"
#: Hexes without tiles, and the lines between them.
GROUND, GROUND_LINE = "#59616b", "#737c87"
#: What can be moved and where to.
MOVABLE = "#ffb300"
#: Rim of a tile.
RIM = "#38404a"
#: White's and Blue's.
PIECES = (theme.StoneColors("#ffffff", "#f1ece2", "#4d4536"), theme.StoneColors("#2f66b5", "#123b80", "#081d42"))


def last_turn(state: State) -> list[int]:
    """Return the actions of the last turn: a tile, or a pick and its move; of an unfinished turn, the pick."""
    history = state.history()
    plane = history[-1] // state.get_game().grid.num_cells if history else LAY
    return history[-2:] if plane >= MOVE else history[-1:]


def places(game: Game, action: int) -> list[Place]:
    """Return the hex of a tile, or the corner of a piece."""
    plane, cell = divmod(action, game.grid.num_cells)
    x, y = game.grid.positions[cell]
    center = (PITCH * float(x), -PITCH * float(y))
    name = game.grid.cell_names[cell]
    if plane < PICK:
        return [Place.at(name, center, TILE_PLACE_RADIUS)]
    kind = (plane - PICK) % 2
    return [Place.at(f"{name}{'^v'[kind]}", _corner(center, kind), CORNER_PLACE_RADIUS)]


def choice(game: Game, action: int) -> Choice:
    """Return the label of a tile turn or a move, with an icon for a tile to place."""
    plane = action // game.grid.num_cells
    if plane < REMOVE:
        content = tiles([(plane, (0, 0))])
        size = svg.number(2 * EDGE + 4)
        corner = svg.number(-EDGE - 2)
        return Choice(
            f"rotation {plane}: {APART[plane]} corners apart",
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{corner} {corner} {size} {size}">{content}</svg>',
        )
    if plane == REMOVE:
        return Choice("remove the tile")
    return Choice("pick the piece", picks=True) if plane < MOVE else Choice("move here")


def compose(state: State, annotations: Annotations) -> Scene:
    """Return the scene of a position: the tiles with a margin of one hex, and everything that is annotated.

    It is square, so that pictures keep their shape as the board grows.
    """
    game = state.get_game()
    assert isinstance(game, Trugo)
    grid = game.grid
    centers = [(PITCH * x, -PITCH * y) for x, y in grid.positions.tolist()]
    position = game.position(state)
    laid = np.flatnonzero(position.tiles >= 0).tolist()
    last = [divmod(action, grid.num_cells) for action in annotations.last_actions]
    fills = {cell: fill for cell, fill in annotations.fills.items() if fill != theme.BOARD}
    acted = [action % grid.num_cells for action in (*annotations.last_actions, *annotations.numbers)]
    shown = _shown(grid, laid, [*fills, *annotations.marks, *acted], annotations.close)

    def corner(kind: int, cell: int) -> Point:
        return _corner(centers[cell], kind)

    def top(kind: int, cell: int) -> tuple[Point, float]:
        """Return the center and the radius of the top piece on a corner."""
        x, y = corner(kind, cell)
        is_stacked = position.below[kind, cell] >= 0
        return ((x + STACK_SHIFT, y), STACKED_RADIUS) if is_stacked else ((x, y), pieces.STONE_RADIUS)

    elements = _ground(position, centers, shown, laid, fills, annotations.marks)
    elements.extend(_shaded(position, grid, centers, annotations.regions))
    elements.append(last_tiles(centers[cell] for plane, cell in last if plane < PICK))
    empty = np.argwhere(position.junctions & (position.top < 0)).tolist()
    junctions = svg.circles((corner(kind, cell) for kind, cell in empty), JUNCTION_RADIUS)
    elements.append(svg.group(junctions, class_="junctions", fill=theme.DARK_INK))
    ends = [divmod(int(action), grid.num_cells) for action in state.legal_actions()] if position.picked else []
    if position.picked is not None:
        elements.extend(_routes(position, grid, centers, [corner_at(grid, plane - MOVE, cell) for plane, cell in ends]))
    starts = [corner(plane - PICK, cell) for plane, cell in last if PICK <= plane < MOVE]
    elements.append(pieces.rings("last-start", starts, DESTINATION_RADIUS, theme.LAST_MOVE, 0.09 * SPACING))
    for kind, cell in np.argwhere(position.top >= 0).tolist():
        stacked = (int(position.below[kind, cell]), int(position.top[kind, cell]))
        elements.extend(stack((color for color in stacked if color >= 0), corner(kind, cell)))
    for center, radius in (top(plane - MOVE, cell) for plane, cell in last if plane >= MOVE):
        elements.append(pieces.rings("last-move", [center], radius + 0.015 * SPACING, theme.LAST_MOVE, 0.09 * SPACING))
    if position.picked is not None:
        center, radius = top(*position.picked)
        elements += [
            pieces.rings("picked", [center], radius + 0.03 * SPACING, MOVABLE, 0.13 * SPACING),
            _destinations([(plane - MOVE, cell) for plane, cell in ends], centers, position.picked[0]),
        ]
    grounds = {**dict.fromkeys(laid, WHITE_REGION), **fills}
    elements.append(boards.marks(annotations, centers, lambda cell: theme.ink_on(grounds.get(cell, GROUND))))
    extent = boards.extent_of((centers[cell] for cell in shown), PITCH / 2, EDGE)
    if annotations.coordinates:
        inside = np.isin(np.arange(grid.num_cells), shown)
        labels = boards.row_and_column_texts(grid, inside, centers, ROW_LABEL_DISTANCE, COLUMN_LABEL_DISTANCE)
        elements.append(pieces.labels(labels))
        extent = boards.with_labels(extent, labels)
    return Scene(
        elements, *boards.square(extent), description=f"{game} after {len(state.history())} actions", stones=PIECES
    )


def _destinations(ends: Sequence[tuple[int, int]], centers: Sequence[Point], start: int) -> str:
    """Return the dots on the corners where the picked piece may go, in the color of slides or that of steps."""
    dots = []
    for kind in range(2):
        places = (_corner(centers[cell], kind) for of_kind, cell in ends if of_kind == kind)
        dots.append(svg.group(svg.circles(places, DESTINATION_RADIUS), fill=SLIDE if kind == start else STEP))
    return svg.group(dots, class_="destinations", stroke=theme.LIGHT_INK, stroke_width=0.05 * SPACING)


# The parts: of a tile, its ground, its blue region by rotation and its rim; by the code of a corner, what is on it; and the
# ring around the piece that is picked, by whether another one is below it.
_BLUE, _RIM_PART, _ON_CORNER, _PICKED_PART = 1, 4, 5, 12


def parts(game: Game) -> Parts:
    """Return the parts of the pictures."""
    grid, here = game.grid, (0.0, 0.0)
    centers = [(PITCH * x, -PITCH * y) for x, y in grid.positions.tolist()]
    tile = svg.polygons(CORNERS, [here])
    shapes = [svg.path(tile, fill=WHITE_REGION)]
    shapes += [svg.path(blue_region(rotation, here), fill=BLUE_REGION) for rotation in range(3)]
    shapes += [svg.path(tile, fill="none", stroke=RIM, stroke_width=0.9 * pieces.LINE_WIDTH)]
    shapes += [svg.group(svg.circles([here], JUNCTION_RADIUS), fill=theme.DARK_INK)]
    shapes += ["".join(stack(colors, here)) for colors in ((0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1))]
    for place, radius in ((0.0, pieces.STONE_RADIUS), (STACK_SHIFT, STACKED_RADIUS)):
        shapes.append(pieces.rings("picked", [(place, 0.0)], radius + 0.03 * SPACING, MOVABLE, 0.13 * SPACING))

    def view(shown: npt.NDArray[np.bool_]) -> tuple[boards.Extent, str, str]:
        cells = [centers[cell] for cell in np.flatnonzero(shown)]
        extent = boards.extent_of(cells, PITCH / 2, EDGE)
        labels = boards.row_and_column_texts(grid, shown, centers, ROW_LABEL_DISTANCE, COLUMN_LABEL_DISTANCE)
        ground = boards.ground_of_cells(cells, spacing=PITCH, colors=(GROUND, GROUND_LINE))
        return boards.square(boards.with_labels(extent, labels)), ground, pieces.labels(labels)

    places = [*centers, *(_corner(center, kind) for kind in (TOP, 1 - TOP) for center in centers)]
    distances = grid.distance_from_center.tolist()
    return Parts(shapes, places, 3 * distances, hexagons(grid, 1, view), PIECES)


@kernel
def shown(board: Record, state: Record, parts: Int32Table) -> int:
    """Write the parts that a position shows."""
    number, num_cells = 0, board.num_cells
    for hex_ in range(board.cell_of_hex.shape[0]):
        cell, tile = board.cell_of_hex[hex_], state.contents[hex_] & 3
        for part in (0, _BLUE + tile - 1, _RIM_PART):
            if tile:
                parts[number, 0], parts[number, 1] = part, cell
                number += 1
        for kind in range(2):
            code, corner = corner_code(state, 2 * hex_ + kind), (1 + kind) * num_cells + cell
            if code >= EMPTY_JUNCTION:
                parts[number, 0], parts[number, 1] = _ON_CORNER + code - EMPTY_JUNCTION, corner
                number += 1
            if state.picked == 2 * hex_ + kind and code >= SINGLE:
                parts[number, 0], parts[number, 1] = _PICKED_PART + (code >= DOUBLE), corner
                number += 1
    return number


def _ground(
    position: TrugoPosition,
    centers: Sequence[Point],
    shown: Sequence[int],
    laid: Sequence[int],
    fills: Mapping[int, str],
    marks: Iterable[int],
) -> list[str]:
    """Return the hexes and tiles with their fills."""
    whole, band = boards.hex_shape(PITCH - pieces.LINE_WIDTH), boards.hex_shape(PITCH - FILL_WIDTH)
    filled = (
        svg.path(svg.polygons(band, [centers[cell]]), fill="none", stroke=fill, stroke_width=FILL_WIDTH)
        if cell in laid
        else svg.path(svg.polygons(whole, [centers[cell]]), fill=fill)
        for cell, fill in fills.items()
    )
    elements = [
        boards.ground_of_cells((centers[cell] for cell in shown), spacing=PITCH, colors=(GROUND, GROUND_LINE)),
        tiles((int(position.tiles[cell]), centers[cell]) for cell in laid),
        svg.group(filled, class_="fills"),
    ]
    # A mark without a fill gets a ground in the tile's lighter color.
    elements.extend(
        svg.group(svg.circles([centers[cell]], MARK_GROUND_RADIUS), fill=WHITE_REGION)
        for cell in marks
        if cell not in fills and cell in laid
    )
    return elements


def _shaded(
    position: TrugoPosition, grid: Grid, centers: Sequence[Point], corners: Iterable[tuple[int, int]]
) -> Iterator[str]:
    """Yield the regions of corners, given as kind and cell."""
    parts = {part for kind, cell in corners for part in region(position, grid, corner_at(grid, kind, cell))}
    for turn_of_color, color in ((1, SHADED[0]), (0, SHADED[1])):
        shapes = [
            part(turn, centers[cell], joined) for cell, turn, joined in sorted(parts) if turn % 2 == turn_of_color
        ]
        yield svg.path("".join(shapes), class_="region", fill=color)


def _routes(position: TrugoPosition, grid: Grid, centers: Sequence[Point], ends: Iterable[Corner]) -> Iterator[str]:
    """Yield the ways of the picked piece: slides as curves through tiles, and steps as dashed lines."""
    assert position.picked is not None
    x, y = grid.positions[0]
    origin = PITCH * float(x), -PITCH * float(y)

    def point(corner: Corner) -> Point:
        kind, column, row = corner
        return _corner((origin[0] + PITCH * (column + row / 2), origin[1] - 1.5 * EDGE * row), kind)

    slides, steps = routes(position, grid, corner_at(grid, *position.picked), ends)
    curves = []
    for before, after, cell in sorted(slides):
        (x, y), center, (to_x, to_y) = point(before), centers[cell], point(after)
        curves.append(f"M{svg.number(x)} {svg.number(y)}Q{' '.join(map(svg.number, (*center, to_x, to_y)))}")
    style: dict[str, str | float] = {"fill": "none", "stroke_width": ROUTE_WIDTH}
    yield svg.path("".join(curves), class_="slides", stroke=SLIDE, stroke_linecap="round", **style)
    lines = svg.lines((point(before), point(after)) for before, after in sorted(steps))
    yield svg.path(lines, class_="steps", stroke=STEP, stroke_dasharray="4 3", **style)


# -- Parts of pictures -----------------------------------------------------------------------------------------------------


def tiles(laid: Iterable[tuple[int, Point]]) -> str:
    """Return tiles from their rotations and centers: white hexes with blue parts (R1)."""
    placed = list(laid)
    blue = "".join(blue_region(rotation, center) for rotation, center in placed)
    shape = svg.polygons(CORNERS, (center for _, center in placed))
    return svg.group(
        [
            svg.path(shape, fill=WHITE_REGION),
            svg.path(blue, fill=BLUE_REGION, class_="blue"),
            svg.path(shape, fill="none", stroke=RIM, stroke_width=0.9 * pieces.LINE_WIDTH),
        ],
        class_="tiles",
    )


def blue_region(rotation: int, center: Point) -> str:
    """Return path data of the blue parts of a tile; rotation i cuts off the white corner 2i, and the blue one opposite to it."""
    return part(2 * rotation, center, joined=True) + part(2 * rotation, center, joined=False)


def part(turn: int, center: Point, joined: bool) -> str:
    """Return path data of a part of a tile, which is given for turn 0 and turned by sixths: blue if ``turn`` is even.

    An arc from the middle of one edge to that of the next cuts off corner 3. Corners 1 and 5 are joined; an arc parts them from
    corner 0, and a straight line between the middles of two edges from the rest.
    """
    x, y = center

    def at(points: tuple[Point, ...], index: int) -> str:
        dx, dy = points[(turn + index) % 6]
        return f"{svg.number(x + dx)} {svg.number(y + dy)}"

    radius = svg.number(EDGE / 2)
    if not joined:
        return f"M{at(MIDDLES, 3)}L{at(CORNERS, 3)}L{at(MIDDLES, 2)}A{radius} {radius} 0 0 0 {at(MIDDLES, 3)}z"
    return (
        f"M{at(MIDDLES, 4)}L{at(CORNERS, 5)}L{at(MIDDLES, 5)}A{radius} {radius} 0 0 0 {at(MIDDLES, 0)}"
        f"L{at(CORNERS, 1)}L{at(MIDDLES, 1)}z"
    )


def stack(colors: Iterable[int], center: Point) -> list[str]:
    """Return pieces on one corner, the lowest first; of two, both are seen."""
    x, y = center
    from_below = list(colors)
    if len(from_below) == 1:
        return [pieces.stones(from_below[0], [center], PIECES)]
    places = (x - STACK_SHIFT, y), (x + STACK_SHIFT, y)
    return [
        pieces.stones(color, [place], PIECES, STACKED_RADIUS) for color, place in zip(from_below, places, strict=True)
    ]


def last_tiles(centers: Iterable[Point]) -> str:
    """Return the marks of tiles that the last turn placed or removed."""
    shape = svg.polygons(boards.hex_shape(0.97 * PITCH), centers)
    outline = svg.path(shape, fill="none", stroke=theme.LAST_MOVE, stroke_width=0.09 * SPACING)
    return svg.group([outline] if outline else [], class_="last-tile")


# -- Places ----------------------------------------------------------------------------------------------------------------


def _corner(center: Point, kind: int) -> Point:
    """Return the place of the top or bottom corner of a hex."""
    x, y = center
    return (x, y - EDGE) if kind == TOP else (x, y + EDGE)


def _shown(grid: Grid, laid: list[int], annotated: list[int], close: bool) -> list[int]:
    """Return the cells of the picture: the tiles, their neighbors and the annotated cells, or a hexagon with them."""
    used = np.array(laid or [grid.num_cells // 2])
    neighbors = grid.neighbors[used].ravel()
    cells = np.concatenate([used, neighbors[neighbors >= 0], np.array(annotated, np.int64)])
    return np.unique(cells).tolist() if close else np.flatnonzero(boards.hexagon_around(grid, cells, 0)).tolist()
