"""Pictures of Taugo: stones on the points of a square board whose lines extend to the edge."""

from __future__ import annotations

from functools import lru_cache

from stoneworks.envs.drawing import boards, pieces, svg, theme
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.parts import Parts, parts_of_stones, shown_stones
from stoneworks.envs.drawing.picture import Choice
from stoneworks.envs.drawing.svg import SPACING, Scene
from stoneworks.envs.games.taugo.lines import NONE
from stoneworks.envs.rules import Game, State

#: Distance from an edge point to the edge of the board.
RIM = 0.5 * SPACING
#: Corner radius of the board.
ROUNDING = 0.15 * SPACING
#: Distance from the edge of the board to the center of a label.
LABEL_DISTANCE = 0.42 * SPACING
#: Width of the line that connects the stones of a cut, visible between them.
THREAD_WIDTH = 0.2 * SPACING
#: Radius of the ring inside a flipped stone, which leaves room for a mark.
FLIPPED_RADIUS = 0.36 * SPACING
FLIPPED_WIDTH = 0.045 * SPACING


#: Cells on the way of a cut, as far as they are known, and those that it flipped.
_Cut = tuple[list[int], list[int]]


def last_turn(state: State) -> list[int]:
    """Return the placements of the last turn that placed a stone.

    A cut may flip stones of the previous turn, so colors do not separate turns. If the history does not start with the initial
    position, only the last placement is known to belong to the turn.
    """
    return _replay(state)[0]


def choice(game: Game, action: int) -> Choice:
    """Return the label of a stone or a cut."""
    plane = action // game.grid.num_cells
    return Choice(("stone", "cut heading north", "cut heading east", "cut heading south", "cut heading west")[plane])


def compose(state: State, annotations: Annotations) -> Scene:
    """Return the scene of a position. Cuts among the last actions in its history are shown with the stones that they flipped."""
    board, known_cuts = _board(state.game), _replay(state)[1]
    centers = board.centers
    cuts = [known_cuts[action] for action in annotations.last_actions if action in known_cuts]
    threads = (svg.path(svg.lines([(centers[way[0]], centers[way[-1]])])) for way, _ in cuts)
    flipped = (centers[cell] for _, cells in cuts for cell in cells)
    return boards.scene_of_stones(
        state,
        state.record["stones"],
        board,
        annotations,
        below=[svg.group(threads, class_="cuts", stroke=theme.LAST_MOVE, stroke_width=THREAD_WIDTH)],
        above=[pieces.rings("flipped", flipped, FLIPPED_RADIUS, theme.LAST_MOVE, FLIPPED_WIDTH)],
    )


def _replay(state: State) -> tuple[list[int], dict[int, _Cut]]:
    """Return the placements of the last turn that placed a stone, and the known facts about each cut, by action."""
    game = state.game
    neighbors = game.grid.neighbors
    num_placements = game.num_action_planes * game.grid.num_cells
    replayed = game.new_initial_state()
    turn: list[int] = []
    cuts: dict[int, _Cut] = {}
    for action in state.history():
        before, player = replayed.record, replayed.current_player()
        if not replayed.try_apply_action(action):
            break
        if action >= num_placements:
            continue
        turn = [action] if before["last_stone"] == NONE else [*turn, action]
        heading, cell = action // game.grid.num_cells - 1, action % game.grid.num_cells
        if heading != NONE:
            back = (heading + 2) % 4
            way = [cell, int(neighbors[cell, back])]
            while before["stones"][way[-1]] == 2 - player:
                way.append(int(neighbors[way[-1], back]))
            cuts[action] = way[::-1], way[-2:0:-1]
    if replayed == state:
        return turn, cuts

    # Only the point of the last cut, and the flipped stone before it, are certain.
    last = [action for action in state.history() if action < num_placements][-1:]
    cuts = {}
    for action in last:
        heading, cell = action // game.grid.num_cells - 1, action % game.grid.num_cells
        if heading != NONE:
            nearest = int(neighbors[cell, (heading + 2) % 4])
            cuts[action] = [nearest, cell], [nearest]
    return last, cuts


shown = shown_stones


def parts(game: Game) -> Parts:
    """Return the parts of the pictures."""
    return parts_of_stones(_board(game))


@lru_cache(maxsize=32)
def _board(game: Game) -> boards.Board:
    """Return the static parts of all pictures of a game."""
    grid = game.grid
    centers = boards.cell_centers(grid)
    last = grid.width - 1
    low, high = -RIM, last * SPACING + RIM
    inner_low, inner_high = low + ROUNDING, high - ROUNDING
    corners = [(inner_low, -inner_low), (inner_high, -inner_low), (inner_high, -inner_high), (inner_low, -inner_high)]
    outline = svg.polygons(corners, [(0, 0)])
    ground = svg.path(outline, fill=theme.BOARD, stroke=theme.BOARD, stroke_width=2 * ROUNDING, stroke_linejoin="round")
    ends = []
    for line in range(1, last):
        place = line * SPACING
        ends += [((low, -place), (high, -place)), ((place, -low), (place, -high))]
    lines = svg.path(svg.lines(ends), fill="none", stroke=theme.LINE, stroke_width=pieces.LINE_WIDTH)

    extent = (low, -high, high, -low)
    labels, extent_with_labels = boards.side_labels(grid, extent, LABEL_DISTANCE)
    return boards.Board(centers, boards.square_shape(SPACING), ground, labels, extent, extent_with_labels, lines)
