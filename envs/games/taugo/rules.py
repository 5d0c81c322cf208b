"""Taugo (Saïd Galdseid, 2023).

Players place stones, and lines of stones, on a square board without edge lines. A line cuts through enemy strings and flips
their stones. Points are scored for few, long strings on the perimeter and for stones on the edge. The rulings T1 to T10 are
listed in docs/taugo.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.taugo.lines import (
    CORNER,
    EAST,
    NONE,
    NORTH,
    SOUTH,
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
from stoneworks.envs.rules import stones
from stoneworks.envs.rules.compiler.bits import lowest_bit, num_bits
from stoneworks.envs.rules.compiler.compiler import inlined, int64, kernel
from stoneworks.envs.rules.compiler.random_numbers import below, next_seed
from stoneworks.envs.rules.compiler.types import BoardArray, Float32Table, Int8s, Int64s, Record, StateArray, UInt64s
from stoneworks.envs.rules.contract import NO_ACTION, Kernels, player_shown, rules_kernels
from stoneworks.envs.rules.fields import (
    NO_WINNER,
    Constant,
    Field,
    change_plane,
    end_game,
    plane_names,
    record_dtype,
    start_game,
)
from stoneworks.envs.rules.game import Game
from stoneworks.envs.rules.grid import NO_NEIGHBOR, square
from stoneworks.envs.rules.guide import Guide, read_guide
from stoneworks.envs.rules.options import ChoiceOption, IntegerOption, Option
from stoneworks.envs.rules.state import State
from stoneworks.envs.rules.stones import BLACK, EMPTY, OFF_BOARD, WHITE, clear_planes, observe_colors, stones_field
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
    if black == white:
        end_game(state, NO_WINNER, DRAWN)
    else:
        end_game(state, 0 if black > white else 1, BY_SCORE)


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
    while cell >= num_cells:  # less work than a division: most stones are not cuts
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


# -- Random playouts -------------------------------------------------------------------------------------------------
#
# The first stone of a turn is drawn from all that could be an action of the mover: each empty intersection as the place of a
# stone, the pass, and cuts. Cuts are drawn by heading and end (each empty point) or by heading and friendly stone, whichever are
# fewer. Illegal draws are rejected and repeated (rejection sampling), so all legal actions are equally likely. Testing whether
# one action is legal is much cheaper than finding all legal actions.

INNER, EDGE = 0, 1


class PointLists(NamedTuple):
    """The intersections (row ``INNER``) and the edge points (row ``EDGE``), the empty ones first.

    Attributes:
        points: ``uint16[2, num_cells]``.
        place: ``uint16[num_cells]``, the index of each point in its row.
        num_empty: ``int64[2]``, number of empty points.
        num_points: ``int64[2]``, number of points.
    """

    points: npt.NDArray[np.uint16]
    place: npt.NDArray[np.uint16]
    num_empty: npt.NDArray[np.int64]
    num_points: npt.NDArray[np.int64]


@inlined
def swap_points(lists: PointLists, row: int, cell: int, index: int) -> None:
    """Swap ``cell`` with the point at ``index`` of its row."""
    points, place = lists.points, lists.place
    other = points[row, index]
    points[row, place[cell]], place[other] = other, place[cell]
    points[row, index], place[cell] = cell, index


@inlined
def list_points(board: Record, state: Record, lists: PointLists) -> None:
    """Fill the lists."""
    lists.num_empty[:] = 0
    lists.num_points[:] = 0
    for cell in range(board.num_cells):
        if board.on_board[cell]:
            row = INNER if board.intersection[cell] else EDGE
            lists.points[row, lists.num_points[row]] = cell
            lists.place[cell] = lists.num_points[row]
            lists.num_points[row] += 1
            if state.stones[cell] == EMPTY:
                swap_points(lists, row, cell, lists.num_empty[row])
                lists.num_empty[row] += 1


@inlined
def list_further_stones(board: Record, state: Record, line: Int64s) -> int:
    """Write the actions that continue the line in progress to ``line`` (``int64[5]``) and return their number (T5)."""
    num_further = 0
    for direction in range(4):
        line[num_further] = next_stone(board, state, direction)
        num_further += line[num_further] != NO_ACTION
    return num_further


@inlined
def find_ends_on_edge(board: Record, state: Record, enemy: int, ends: Int64s) -> None:
    """Write the empty edge points next to stones of ``enemy`` that could flip, as row or column words by heading."""
    last = board.width
    rows, columns, inner = state.rows, state.columns, board.intersections
    mine, other = 2 - enemy, enemy - 1
    north = with_two_neighbors(rows[other, last - 1], rows[other, last - 2], rows[other, last])
    east = with_two_neighbors(columns[other, last - 1], columns[other, last - 2], columns[other, last])
    south = with_two_neighbors(rows[other, 2], rows[other, 1], rows[other, 3])
    west = with_two_neighbors(columns[other, 2], columns[other, 1], columns[other, 3])
    ends[NORTH] = north & inner[last - 1] & ~(rows[mine, last] | rows[other, last])
    ends[EAST] = east & inner[last - 1] & ~(columns[mine, last] | columns[other, last])
    ends[SOUTH] = south & inner[2] & ~(rows[mine, 1] | rows[other, 1])
    ends[WEST] = west & inner[2] & ~(columns[mine, 1] | columns[other, 1])


@inlined
def cut_from_drawn_start(board: Record, state: Record, lists: PointLists, draw: int) -> int:
    """Return the legal cut that a draw by friendly stone and heading stands for, or ``NO_ACTION``."""
    color = state.current_player + 1
    num_of_inner = 4 * (lists.num_points[INNER] - lists.num_empty[INNER])
    if draw < num_of_inner:
        start = int64(lists.points[INNER, lists.num_empty[INNER] + (draw >> 2)])
        heading = draw & 3
    else:
        start = int64(lists.points[EDGE, lists.num_empty[EDGE] + draw - num_of_inner])
        heading = board.outward[start] ^ 2
    if state.stones[start] == color and state.stones[board.neighbors[start, heading]] == 3 - color:
        end = int64(cut_from(board, state, start, heading, color))
        if end != CORNER:
            return (1 + heading) * board.num_cells + end  # type: ignore[no-any-return]
    return NO_ACTION


@inlined
def cut_to_drawn_end(board: Record, state: Record, lists: PointLists, ends: Int64s, draw: int) -> int:
    """Return the legal cut that a draw by end and heading stands for, or ``NO_ACTION``."""
    color = state.current_player + 1
    if draw < 4 * lists.num_empty[INNER]:
        end = int64(lists.points[INNER, draw >> 2])
        heading = draw & 3
    else:
        draw -= 4 * lists.num_empty[INNER]
        heading = 0
        while draw >= num_bits(ends[heading]):
            draw -= num_bits(ends[heading])
            heading += 1
        places = ends[heading]
        for _ in range(draw):
            places &= places - 1
        along, side = lowest_bit(places), board.width - 1 if heading < SOUTH else 0
        end = side + along * board.width if heading & 1 else side * board.width + along
    if state.stones[board.neighbors[end, heading ^ 2]] == 3 - color and cut_is_legal(board, state, end, heading, color):
        return (1 + heading) * board.num_cells + end  # type: ignore[no-any-return]
    return NO_ACTION


@inlined
def draw_first_action(
    board: Record, state: Record, lists: PointLists, ends: Int64s, seed: np.uint64
) -> tuple[int, np.uint64]:
    """Return a uniformly chosen first action of a turn, and the new seed. ``ends`` (``int64[4]``) is scratch space."""
    color = state.current_player + 1
    num_empty = lists.num_empty[INNER]
    num_starts = 4 * (lists.num_points[INNER] - num_empty) + lists.num_points[EDGE] - lists.num_empty[EDGE]
    num_ends = 4 * num_empty
    if num_starts >= num_ends:
        find_ends_on_edge(board, state, 3 - color, ends)
        for heading in range(4):
            num_ends += num_bits(ends[heading])
    bound = num_empty + 1 + min(num_starts, num_ends)
    action = NO_ACTION
    while action == NO_ACTION:
        seed = next_seed(seed)
        draw = below(seed, bound)
        if draw < num_empty:
            cell = int64(lists.points[INNER, draw])
            if not makes_knot(board, state, cell, color):
                action = cell
        elif draw == num_empty:
            action = 5 * board.num_cells
        elif num_starts < num_ends:
            action = cut_from_drawn_start(board, state, lists, draw - num_empty - 1)
        else:
            action = cut_to_drawn_end(board, state, lists, ends, draw - num_empty - 1)
    return action, seed


@inlined
def remove_point(board: Record, lists: PointLists, action: int) -> None:
    """Move the point of a placed stone behind the empty points."""
    cell = action
    while cell >= board.num_cells:
        cell -= board.num_cells
    row = INNER if board.intersection[cell] else EDGE
    lists.num_empty[row] -= 1
    swap_points(lists, row, cell, lists.num_empty[row])


@kernel
def finish_at_random(board: Record, state: Record, mask: Int8s, seeds: UInt64s, game: int) -> int:
    """Play to the end at random: as the common kernel does, but without masks."""
    num_cells = board.num_cells
    lists = PointLists(
        np.empty((2, num_cells), np.uint16),
        np.empty(num_cells, np.uint16),
        np.empty(2, np.int64),
        np.empty(2, np.int64),
    )
    list_points(board, state, lists)
    line, ends = np.empty(5, np.int64), np.empty(4, np.int64)
    num_further = list_further_stones(board, state, line) if state.last_stone != NONE else 0
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
            action, seed = draw_first_action(board, state, lists, ends, seed)
            if action == 5 * num_cells:
                pass_turn(board, state)
                continue
        alone = place_stone(board, state, action)
        num_further = 0 if alone else list_further_stones(board, state, line)
        if num_further == 0:
            end_turn(state)
        remove_point(board, lists, action)
    seeds[game] = seed
    return played


@kernel
def observe(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    clear_planes(board, planes)
    for cell in range(board.num_cells):
        planes[Plane.PERIMETER, cell] = board.perimeter[cell]
    for cell in range(board.num_cells):
        planes[Plane.EDGE_POINTS, cell] = board.on_board[cell] - board.intersection[cell]
    change_planes(board, state, player, planes)


@kernel
def update_observation(board: Record, before: Record, state: Record, planes: Float32Table) -> None:
    """Change the planes from those of ``before`` to those of ``state``."""
    if before.last_stone != NONE:
        planes[Plane.LAST_STONE_OF_LINE, before.last_stone] = 0
    change_planes(board, state, player_shown(state), planes)


@inlined
def change_planes(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write all planes that depend on the position, where they differ; that of the last stone of a line is clear."""
    observe_colors(board, state, player, planes)
    if state.last_stone != NONE:
        planes[Plane.LAST_STONE_OF_LINE, state.last_stone] = 1
    for direction in range(4):
        change_plane(planes, Plane.LINE_NORTH + direction, state.direction == direction)
    change_plane(planes, Plane.LINE_IN_PROGRESS, state.last_stone != NONE)
    change_plane(planes, Plane.PASSED, state.consecutive_passes > 0)
    change_plane(planes, Plane.BLACK_TO_ACT, state.current_player == 0)


def fill_scores(board: BoardArray, states: StateArray) -> tuple[float, float]:
    """Template: return the scores of the position ``states[0]`` (see :func:`scores`)."""
    return scores(board[0], states[0])


class Taugo(Game):
    """Taugo. Options: ``size``, intersections per side (default 16), and ``cut_point`` (``"string"`` or ``"run"``, see T10)."""

    name: ClassVar[str] = "taugo"
    guide: ClassVar[Guide] = read_guide(__file__)
    option_types: ClassVar[Mapping[str, Option]] = {
        "size": IntegerOption(16, minimum=3, maximum=24, always_shown=True),
        "cut_point": ChoiceOption("string", choices=("string", "run")),
    }
    size_options: ClassVar[tuple[str, ...]] = ("size",)
    global_actions: ClassVar[tuple[str, ...]] = ("end",)
    reasons: ClassVar[tuple[str, ...]] = ("score", "draw")
    colors: ClassVar[tuple[str, str]] = ("Black", "White")
    num_action_planes: ClassVar[int] = 5
    binary_observations: ClassVar[bool] = True
    has_lines: ClassVar[bool] = True
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
            Constant("run_suffices", "u1", self.options["cut_point"] == "run"),  # T10
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
