"""Taugo (Saïd Galdseid, 2023).

Players place stones, and lines of stones, on a square board without edge lines. A line cuts through enemy strings and flips
their stones. Points are scored for few, long strings on the perimeter and for stones on the edge. The rulings T1 to T9 are
listed in docs/taugo.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.taugo.lines import (
    CORNER,
    NONE,
    WEST,
    cut_from,
    cut_is_legal,
    line_can_go_on,
    makes_knot,
    next_stone,
    search_first_stones,
    with_two_neighbors,
)
from stoneworks.envs.games.taugo.strings import NO_STRING, join_strings, split_string
from stoneworks.envs.games.taugo.texts import TaugoTexts
from stoneworks.envs.rules import stones
from stoneworks.envs.rules.compiler.bits import lowest_bit, num_bits
from stoneworks.envs.rules.compiler.compiler import int64, kernel
from stoneworks.envs.rules.compiler.random_numbers import below, next_seed
from stoneworks.envs.rules.compiler.types import (
    BoardArray,
    Float32Table,
    Int8s,
    Int16s,
    Record,
    StateArray,
    UInt64s,
)
from stoneworks.envs.rules.contract import NO_ACTION, Kernels, player_shown, rules_kernels
from stoneworks.envs.rules.fields import (
    TERMINAL_PLAYER,
    Constant,
    Field,
    change_plane,
    plane_names,
    record_dtype,
    start_game,
)
from stoneworks.envs.rules.grid import NO_NEIGHBOR, square
from stoneworks.envs.rules.guide import Guide, read_guide
from stoneworks.envs.rules.options import IntegerOption, Option
from stoneworks.envs.rules.state import State
from stoneworks.envs.rules.stones import BLACK, EMPTY, OFF_BOARD, WHITE, observe_colors, observe_stones, stones_field
from stoneworks.envs.rules.text_board import square_board_text, status_text

#: Number of row words: 24 intersections per side, and an empty row below and above.
NUM_ROW_WORDS = 28
# Endings: 1 + the index in Taugo.reasons.
BY_SCORE, DRAWN = 1, 2


class _Planes(NamedTuple):
    """The planes of an observation."""

    OWN_STONES: int = stones.OWN_STONES
    OPPONENT_STONES: int = stones.OPPONENT_STONES
    BOARD: int = stones.BOARD
    PERIMETER: int = 3
    EDGE_POINTS: int = 4
    LAST_STONE_OF_LINE: int = 5
    LINE_NORTH: int = 6
    LINE_EAST: int = 7
    LINE_SOUTH: int = 8
    LINE_WEST: int = 9
    LINE_IN_PROGRESS: int = 10
    PASSED: int = 11
    BLACK_TO_ACT: int = 12


Plane = _Planes()


def state_fields(board: np.void) -> tuple[Field, ...]:
    """Return the fields of a position on ``board``."""
    on_board = board["on_board"] != 0
    last_word = 2 ** int(board["width"]) - 1
    return (
        Field("consecutive_passes", "u1", 0, 2),
        Field("direction", "i1", NONE, WEST),  # of the line in progress
        Field("last_stone", "i2", NONE, board["num_cells"] - 1),  # of the line in progress
        stones_field(on_board),
        Field("strings", "u2", 0, NO_STRING, on_board.shape),  # see stoneworks.envs.games.taugo.strings
        Field("rows", "i4", 0, last_word, (2, NUM_ROW_WORDS)),  # stones of each color; row r is at index r + 1
        Field("columns", "i4", 0, last_word, (2, NUM_ROW_WORDS)),  # the same for columns
    )


@kernel
def scores(board: Record, state: Record) -> tuple[float, float]:
    """Return the scores of Black and White (T9)."""
    on_perimeter = np.zeros(board.num_cells, np.int64)
    num_strings = np.zeros(2, np.int64)
    on_edge = np.zeros(2, np.int64)
    points = np.zeros(2, np.float64)
    for cell in range(board.num_cells):
        if state.strings[cell] == NO_STRING:
            continue
        row = state.stones[cell] - 1
        num_strings[row] += state.strings[cell] == cell
        if board.perimeter[cell]:
            on_perimeter[state.strings[cell]] += 1
            points[row] += on_perimeter[state.strings[cell]]  # T(k) = T(k - 1) + k
        elif not board.intersection[cell]:
            on_edge[row] += 1
            points[row] += on_edge[row]
    if num_strings[0] != num_strings[1]:
        points[0 if num_strings[0] < num_strings[1] else 1] += 0.5
    return points[0], points[1]


@kernel
def reset(board: Record, state: Record) -> None:
    """Start a game."""
    start_game(state)
    state.consecutive_passes = 0
    state.direction = NONE
    state.last_stone = NONE
    state.stones[:] = OFF_BOARD
    state.strings[:] = NO_STRING
    state.rows[:, :] = 0
    state.columns[:, :] = 0
    for cell in range(board.num_cells):
        if board.on_board[cell]:
            state.stones[cell] = EMPTY


@kernel
def legal_actions(board: Record, state: Record, mask: Int8s) -> None:
    """Write the mask."""
    num_cells = board.num_cells
    color = state.current_player + 1
    mask[:] = 0
    mask[5 * num_cells] = 1  # T8
    if state.last_stone != NONE:
        for direction in range(4):
            action = next_stone(board, state, direction)
            if action != NO_ACTION:
                mask[action] = 1
        return
    for cell in range(num_cells):
        mask[cell] = (state.stones[cell] == EMPTY) & board.intersection[cell]
    search_first_stones(board, state, color, mask)


@kernel
def end_turn(state: Record) -> None:
    """Pass the turn to the other player."""
    state.current_player = 1 - state.current_player
    state.direction = NONE
    state.last_stone = NONE


@kernel
def pass_turn(board: Record, state: Record) -> None:
    """Pass; a second pass in a row ends the game (T8)."""
    state.consecutive_passes += 1
    if state.consecutive_passes < 2:
        end_turn(state)
        return
    black, white = scores(board, state)
    state.current_player = TERMINAL_PLAYER
    if black == white:
        state.ending = DRAWN
    else:
        state.ending = BY_SCORE
        state.winner = 0 if black > white else 1


@kernel
def put_stone(board: Record, state: Record, cell: int, color: int) -> None:
    """Place a stone of ``color`` on ``cell``."""
    state.stones[cell] = color
    row, column = board.row[cell], board.column[cell]
    state.rows[color - 1, row + 1] |= 1 << column
    state.columns[color - 1, column + 1] |= 1 << row


@kernel
def flip_run(board: Record, state: Record, point: int, direction: int, color: int) -> None:
    """Flip the enemy stones behind ``point``, on which a cut in ``direction`` has placed a stone (T6)."""
    back = direction ^ 2
    nearest = board.neighbors[point, back]
    label = state.strings[nearest]
    num_flipped = 0
    cell = nearest
    while state.stones[cell] != color:
        put_stone(board, state, cell, color)
        row, column = board.row[cell], board.column[cell]
        state.rows[2 - color, row + 1] ^= 1 << column
        state.columns[2 - color, column + 1] ^= 1 << row
        state.strings[cell] = NO_STRING
        num_flipped += 1
        cell = board.neighbors[cell, back]
    split_string(board, state, label, nearest, back, num_flipped)
    cell = nearest
    for _ in range(num_flipped):
        join_strings(board, state, cell)
        cell = board.neighbors[cell, back]


@kernel
def place_stone(board: Record, state: Record, action: int) -> bool:
    """Place a stone, or cut, and return whether the stone is isolated, so that no line continues from it (T4 (b))."""
    num_cells = board.num_cells
    state.consecutive_passes = 0
    color = state.current_player + 1
    heading = NONE
    cell = action
    while cell >= num_cells:  # less work than a division: most stones are no cuts
        cell -= num_cells
        heading += 1
    alone = heading == NONE
    if heading != NONE:
        state.direction = heading
    else:
        for direction in range(4):
            neighbor = board.neighbors[cell, direction]
            if state.stones[neighbor] == color:
                alone = False
                if neighbor == state.last_stone:
                    state.direction = direction ^ 2
    put_stone(board, state, cell, color)
    if heading != NONE:
        flip_run(board, state, cell, heading, color)
    join_strings(board, state, cell)
    state.last_stone = cell
    return alone


@kernel
def apply_action(board: Record, state: Record, action: int) -> None:
    """Place a stone, cut, end the turn, or pass."""
    if action == 5 * board.num_cells:
        if state.last_stone == NONE:
            pass_turn(board, state)
        else:
            end_turn(state)
        return
    if place_stone(board, state, action) or not line_can_go_on(board, state):  # T4 (b), T5
        end_turn(state)


@kernel
def list_points(board: Record, state: Record, points: Int16s, place: Int16s, edge_points: bool) -> tuple[int, int]:
    """Write all intersections, or all edge points, to ``points``, the empty ones first, and the index of each to ``place``.

    Returns how many are empty, and how many there are.
    """
    num_points = 0
    num_empty = 0
    for cell in range(board.num_cells):
        if board.on_board[cell] and (board.intersection[cell] == 0) == edge_points:
            points[num_points] = cell
            place[cell] = num_points
            num_points += 1
            if state.stones[cell] == EMPTY:
                other = points[num_empty]
                points[place[cell]], place[other] = other, place[cell]
                points[num_empty], place[cell] = cell, num_empty
                num_empty += 1
    return num_empty, num_points


@kernel
def cut_ends_on_edge(board: Record, state: Record, enemy: int) -> tuple[int, int, int, int]:
    """Return the empty edge points north, east, south and west of a stone of ``enemy`` that could flip, as row or column words."""
    last = board.width
    rows, columns, inner = state.rows, state.columns, board.intersections
    mine, other = 2 - enemy, enemy - 1
    north = with_two_neighbors(rows[other, last - 1], rows[other, last - 2], rows[other, last])
    east = with_two_neighbors(columns[other, last - 1], columns[other, last - 2], columns[other, last])
    south = with_two_neighbors(rows[other, 2], rows[other, 1], rows[other, 3])
    west = with_two_neighbors(columns[other, 2], columns[other, 1], columns[other, 3])
    return (
        north & inner[last - 1] & ~(rows[mine, last] | rows[other, last]),
        east & inner[last - 1] & ~(columns[mine, last] | columns[other, last]),
        south & inner[2] & ~(rows[mine, 1] | rows[other, 1]),
        west & inner[2] & ~(columns[mine, 1] | columns[other, 1]),
    )


@kernel
def finish_at_random(board: Record, state: Record, mask: Int8s, seeds: UInt64s, game: int) -> int:
    """Play to the end at random: as the common kernel does, but without masks.

    The first stone of a turn is drawn from all that could be an action of the mover: each empty intersection as the place of a
    stone, the pass, and cuts. Cuts are drawn by heading and end (each empty point) or by heading and friendly stone,
    whichever are fewer. Illegal draws are rejected and repeated (rejection sampling), so all legal actions are equally
    likely. Testing whether one action is legal is much cheaper than finding all legal actions.

    It is one function, because a call with an array as an argument counts references, which takes as long as a draw.
    """
    num_cells = board.num_cells
    points = np.empty(num_cells, np.uint16)
    edge_points = np.empty(num_cells, np.uint16)
    place = np.empty(num_cells, np.uint16)
    num_empty, num_points = list_points(board, state, points, place, False)
    num_empty_on_edge, num_on_edge = list_points(board, state, edge_points, place, True)
    line = np.empty(5, np.int64)
    north, east, south, west = 0, 0, 0, 0
    num_ends_north, num_ends_east, num_ends_south = 0, 0, 0
    num_further = 0
    if state.last_stone != NONE:
        for direction in range(4):
            line[num_further] = next_stone(board, state, direction)
            num_further += line[num_further] != NO_ACTION
    seed = seeds[game]
    played = 0
    while not state.ending:
        played += 1
        if state.last_stone != NONE:
            seed = next_seed(seed)
            choice = below(seed, num_further + 1)
            if choice == num_further:
                end_turn(state)
                continue
            action = line[choice]
        else:
            color = state.current_player + 1
            num_starts = 4 * (num_points - num_empty) + num_on_edge - num_empty_on_edge
            num_ends = 4 * num_empty
            if num_starts >= num_ends:
                north, east, south, west = cut_ends_on_edge(board, state, 3 - color)
                num_ends_north, num_ends_east, num_ends_south = num_bits(north), num_bits(east), num_bits(south)
                num_ends += num_ends_north + num_ends_east + num_ends_south + num_bits(west)
            by_start = num_starts < num_ends
            bound = num_empty + 1 + min(num_starts, num_ends)
            action = NO_ACTION
            while action == NO_ACTION:
                seed = next_seed(seed)
                draw = below(seed, bound)
                if draw < num_empty:
                    cell = int64(points[draw])
                    if not makes_knot(board, state, cell, color):
                        action = cell
                    continue
                draw -= num_empty + 1
                if draw < 0:
                    action = 5 * num_cells
                elif by_start:
                    if draw < 4 * (num_points - num_empty):
                        start = int64(points[num_empty + (draw >> 2)])
                        heading: int = draw & 3
                    else:
                        draw -= 4 * (num_points - num_empty)
                        start = int64(edge_points[num_empty_on_edge + draw])
                        heading = board.outward[start] ^ 2
                    if state.stones[start] == color and state.stones[board.neighbors[start, heading]] == 3 - color:
                        end = int64(cut_from(board, state, start, heading, color))
                        if end != CORNER:
                            action = (1 + heading) * num_cells + end
                else:
                    if draw < 4 * num_empty:
                        end = int64(points[draw >> 2])
                        heading = draw & 3
                    else:
                        draw -= 4 * num_empty
                        heading, places, side = 3, west, 0
                        if draw < num_ends_north:
                            heading, places, side = 0, north, board.width - 1
                        elif draw < num_ends_north + num_ends_east:
                            draw -= num_ends_north
                            heading, places, side = 1, east, board.width - 1
                        elif draw < num_ends_north + num_ends_east + num_ends_south:
                            draw -= num_ends_north + num_ends_east
                            heading, places = 2, south
                        else:
                            draw -= num_ends_north + num_ends_east + num_ends_south
                        for _ in range(draw):
                            places &= places - 1
                        along = lowest_bit(places)
                        end = side + along * board.width if heading & 1 else side * board.width + along
                    if state.stones[board.neighbors[end, heading ^ 2]] == 3 - color and cut_is_legal(
                        board, state, end, heading, color
                    ):
                        action = (1 + heading) * num_cells + end
            if action == 5 * num_cells:
                pass_turn(board, state)
                continue
        alone = place_stone(board, state, action)
        num_further = 0
        if not alone:
            for direction in range(4):
                line[num_further] = next_stone(board, state, direction)
                num_further += line[num_further] != NO_ACTION
        if num_further == 0:
            end_turn(state)
        stone = action
        while stone >= num_cells:
            stone -= num_cells
        if board.intersection[stone]:
            num_empty -= 1
            other = points[num_empty]
            points[place[stone]], place[other] = other, place[stone]
            points[num_empty], place[stone] = stone, num_empty
        else:
            num_empty_on_edge -= 1
            other = edge_points[num_empty_on_edge]
            edge_points[place[stone]], place[other] = other, place[stone]
            edge_points[num_empty_on_edge], place[stone] = stone, num_empty_on_edge
    seeds[game] = seed
    return played


@kernel
def observe(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    observe_stones(board, state, player, planes)
    for cell in range(board.num_cells):
        planes[Plane.PERIMETER, cell] = board.perimeter[cell]
    for cell in range(board.num_cells):
        planes[Plane.EDGE_POINTS, cell] = board.on_board[cell] - board.intersection[cell]
    planes[Plane.LAST_STONE_OF_LINE, :] = 0
    if state.last_stone != NONE:
        planes[Plane.LAST_STONE_OF_LINE, state.last_stone] = 1
    for direction in range(4):
        planes[Plane.LINE_NORTH + direction, :] = state.direction == direction
    planes[Plane.LINE_IN_PROGRESS, :] = state.last_stone != NONE
    planes[Plane.PASSED, :] = state.consecutive_passes > 0
    planes[Plane.BLACK_TO_ACT, :] = state.current_player == 0


@kernel
def update_observation(board: Record, before: Record, state: Record, planes: Float32Table) -> None:
    """Change the planes from those of ``before`` to those of ``state``."""
    observe_colors(board, state, player_shown(state), planes)
    if before.last_stone != NONE:
        planes[Plane.LAST_STONE_OF_LINE, before.last_stone] = 0
    if state.last_stone != NONE:
        planes[Plane.LAST_STONE_OF_LINE, state.last_stone] = 1
    for direction in range(4):
        change_plane(planes, Plane.LINE_NORTH + direction, state.direction == direction)
    change_plane(planes, Plane.LINE_IN_PROGRESS, state.last_stone != NONE)
    change_plane(planes, Plane.PASSED, state.consecutive_passes > 0)
    change_plane(planes, Plane.BLACK_TO_ACT, state.current_player == 0)


def fill_scores(board: BoardArray, states: StateArray) -> tuple[float, float]:
    """Template: return the scores of the position ``states[1]`` (see :func:`scores`)."""
    return scores(board[0], states[0])


class Taugo(TaugoTexts):
    """Taugo. Option: ``size``, intersections per side (default 16)."""

    name: ClassVar[str] = "taugo"
    guide: ClassVar[Guide] = read_guide(__file__)
    option_types: ClassVar[Mapping[str, Option]] = {"size": IntegerOption(16, minimum=3, maximum=24, always_shown=True)}
    size_options: ClassVar[tuple[str, ...]] = ("size",)
    global_actions: ClassVar[tuple[str, ...]] = ("end",)
    reasons: ClassVar[tuple[str, ...]] = ("score", "draw")
    colors: ClassVar[tuple[str, str]] = ("Black", "White")
    num_action_planes: ClassVar[int] = 5
    binary_observations: ClassVar[bool] = True
    observation_planes: ClassVar[tuple[str, ...]] = plane_names(Plane)
    action_help: ClassVar[str] = "expected a cell, such as c7, a heading and cell of a cut, such as Nc7, or end"
    kernels: ClassVar[Kernels] = rules_kernels(globals())

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        self.grid = grid = square(self.options["size"], edge_points=True)
        num_neighbors = (grid.neighbors != NO_NEIGHBOR).sum(axis=1)
        intersection, edge_point = num_neighbors == 4, num_neighbors == 1
        row, column = np.divmod(np.arange(grid.num_cells), grid.width)
        self.board = self.board_of(
            Constant("on_board", "u1", grid.on_board, by_cell=True),
            Constant("intersection", "u1", intersection, by_cell=True),  # a point that is not an edge point
            # An outermost intersection.
            Constant("perimeter", "u1", intersection & edge_point[grid.neighbors].any(axis=1), by_cell=True),
            Constant("width", "i4", grid.width),
            Constant("row", "u1", row, by_cell=True),
            Constant("column", "u1", column, by_cell=True),
            Constant("points", "i4", self._words(grid.on_board)),  # as in the state
            Constant("intersections", "i4", self._words(intersection)),
            # N, E, S, W; CORNER if there is none.
            Constant("neighbors", "u2", np.where(grid.neighbors == NO_NEIGHBOR, CORNER, grid.neighbors), by_cell=True),
            # Of an edge point: the direction that leads to it.
            Constant("outward", "i1", (grid.neighbors[:, [2, 3, 0, 1]] != NO_NEIGHBOR).argmax(axis=1), by_cell=True),
        )
        self.state_fields = state_fields(self.board[0])
        self.state_dtype = record_dtype(self.state_fields, align=True)

    def _words(self, cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Return the row words of ``cells[..., num_cells]``, ``int64[..., NUM_ROW_WORDS]``."""
        words = np.zeros((*cells.shape[:-1], NUM_ROW_WORDS), np.int64)
        rows = cells.reshape(*cells.shape[:-1], self.grid.height, self.grid.width)
        words[..., 1 : self.grid.height + 1] = rows @ (1 << np.arange(self.grid.width))
        return words

    def contradictions(self, records: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """See :meth:`Game.contradictions`."""
        yield "consecutive_passes", (records["consecutive_passes"] == 2) != (records["ending"] != 0)  # T8
        stones, labels, last = records["stones"], records["strings"], records["last_stone"]
        has_stone = (stones == BLACK) | (stones == WHITE)
        wrong_labels: npt.NDArray[np.bool_] = np.where(has_stone, labels >= self.grid.num_cells, labels != NO_STRING)
        yield "strings", np.any(wrong_labels, axis=1)
        cells = stones[:, : self.grid.num_cells]
        transposed = cells.reshape(-1, self.grid.height, self.grid.width).swapaxes(1, 2).reshape(cells.shape)
        for name, by_line in (("rows", cells), ("columns", transposed)):
            words = np.stack([self._words(by_line == color) for color in (BLACK, WHITE)], axis=1)
            yield name, (words != records[name]).any(axis=(1, 2))
        own = stones[np.arange(len(records)), last] == records["current_player"] + 1
        yield "last_stone", (last != NONE) & ~own
        yield "direction", (last == NONE) & (records["direction"] != NONE)

    def max_game_length(self) -> int:
        """Return 3 N^2 + 8 N + 2 for N intersections per side.

        Points are never emptied, so at most N^2 stones are placed on intersections and 4 N on edge points. At most 4 N turns with
        stones end on an edge point, automatically. Every other one ends with a stone on an intersection and at most one ``end``.
        At most one pass precedes each turn with stones, and two passes end the game.
        """
        size: int = self.options["size"]
        return 3 * size * size + 8 * size + 2

    def score(self, state: State) -> tuple[float, float]:
        """Return the scores of Black and White (T9)."""
        black, white = self.compiled(fill_scores)(self.board, state.record.reshape(1))
        return black, white

    def state_to_text(self, state: State) -> str:
        """Return a text diagram with X for Black, O for White and empty edge points as line ends, and the player to move."""
        stones = state.record["stones"]
        width = self.grid.width

        def symbol(cell: int) -> str:
            if stones[cell] != EMPTY or self.board[0]["intersection"][cell]:
                return ".XO "[stones[cell]]
            return "-" if cell % width in (0, width - 1) else "|"

        picture = square_board_text(self.grid, [symbol(cell) for cell in range(self.grid.num_cells)])
        return f"{picture}\n{status_text(state)}"

    def board_action_text(self, plane: int, cell: int) -> str:
        """Return the text of a stone (``c7``) or of a cut, which starts with its heading (``Nc7``)."""
        return ("", "N", "E", "S", "W")[plane] + self.grid.cell_names[cell]

    def action_plane_images(self, directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the image of each action plane: headings turn with the board."""
        return np.concatenate([[0], 1 + directions])

    def observation_plane_images(self, directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the image of each observation plane: the direction of a line turns with the board."""
        images = np.arange(len(self.observation_planes))
        images[Plane.LINE_NORTH : Plane.LINE_WEST + 1] = Plane.LINE_NORTH + directions
        return images
