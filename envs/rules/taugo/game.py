"""Taugo (Saïd Galdseid, 2023).

Players place stones, and lines of stones, on a square board without edge lines. A line cuts through enemy strings and flips
their stones. Points are scored for few, long strings on the perimeter and for stones on the edge. The rulings T1 to T9 are
listed in docs/taugo.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.game import BOARD_HEADER, STATE_HEADER, Game
from stoneworks.envs.rules.grid import NO_NEIGHBOR, square
from stoneworks.envs.rules.groups import EMPTY, OFF_BOARD
from stoneworks.envs.rules.kernels import BoardArray, Float32Table, Int8s, Record, StateArray, capacity, kernel
from stoneworks.envs.rules.options import IntegerOption, Option
from stoneworks.envs.rules.taugo.lines import CORNER, NONE, line_can_go_on, next_stone, search_first_stones
from stoneworks.envs.rules.taugo.strings import NO_STRING, join_strings, split_string
from stoneworks.envs.rules.templates import NO_ACTION, NO_WINNER, TERMINAL_PLAYER
from stoneworks.envs.rules.text_board import square_board_text

if TYPE_CHECKING:
    from stoneworks.envs.rules.state import State

#: Number of row words: 24 intersections per side, and an empty row below and above.
NUM_ROW_WORDS = 28
# Endings: 1 + the index in Taugo.reasons.
BY_SCORE, DRAWN = 1, 2


def board_dtype(room: int) -> np.dtype[Any]:
    """Return the dtype of the board constants with room for ``room`` cells."""
    return np.dtype(
        [
            *BOARD_HEADER,
            ("on_board", "u1", (room,)),
            ("intersection", "u1", (room,)),  # a point that is not an edge point
            ("perimeter", "u1", (room,)),  # an outermost intersection
            ("width", "i4"),
            ("row", "u1", (room,)),
            ("column", "u1", (room,)),
            ("points", "i4", (NUM_ROW_WORDS,)),  # row words, as in the state
            ("intersections", "i4", (NUM_ROW_WORDS,)),
            ("neighbors", "i2", (room, 4)),  # N, E, S, W; CORNER if there is none
        ],
        align=True,
    )


def state_dtype(room: int) -> np.dtype[Any]:
    """Return the dtype of a position with room for ``room`` cells."""
    return np.dtype(
        [
            *STATE_HEADER,
            ("consecutive_passes", "u1"),
            ("direction", "i1"),  # of the line in progress
            ("last_stone", "i2"),  # of the line in progress
            ("stones", "u1", (room,)),  # EMPTY, BLACK, WHITE or OFF_BOARD by cell
            ("strings", "u2", (room,)),  # see stoneworks.envs.rules.taugo.strings
            ("rows", "i4", (2, NUM_ROW_WORDS)),  # stones of each color as row words; row r is at index r + 1
        ],
        align=True,
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
    state.current_player = 0
    state.winner = NO_WINNER
    state.ending = 0
    state.truncated = 0
    state.consecutive_passes = 0
    state.direction = NONE
    state.last_stone = NONE
    state.stones[:] = OFF_BOARD
    state.strings[:] = NO_STRING
    state.rows[:, :] = 0
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
    state.rows[color - 1, board.row[cell] + 1] |= 1 << board.column[cell]


@kernel
def flip_run(board: Record, state: Record, point: int, direction: int, color: int) -> None:
    """Flip the enemy stones behind ``point``, on which a cut in ``direction`` has placed a stone (T6)."""
    back = (direction + 2) % 4
    nearest = board.neighbors[point, back]
    label = state.strings[nearest]
    num_flipped = 0
    cell = nearest
    while state.stones[cell] != color:
        put_stone(board, state, cell, color)
        state.rows[2 - color, board.row[cell] + 1] ^= 1 << board.column[cell]
        state.strings[cell] = NO_STRING
        num_flipped += 1
        cell = board.neighbors[cell, back]
    split_string(board, state, label, nearest, back, num_flipped)
    cell = nearest
    for _ in range(num_flipped):
        join_strings(board, state, cell)
        cell = board.neighbors[cell, back]


@kernel
def apply_action(board: Record, state: Record, action: int) -> None:
    """Place a stone, cut, end the turn, or pass."""
    num_cells = board.num_cells
    if action == 5 * num_cells:
        if state.last_stone == NONE:
            pass_turn(board, state)
        else:
            end_turn(state)
        return
    state.consecutive_passes = 0
    color = state.current_player + 1
    heading = action // num_cells - 1
    cell = action % num_cells
    alone = heading == NONE
    if heading != NONE:
        state.direction = heading
    else:
        for direction in range(4):
            neighbor = board.neighbors[cell, direction]
            if state.stones[neighbor] == color:
                alone = False
                if neighbor == state.last_stone:
                    state.direction = (direction + 2) % 4
    put_stone(board, state, cell, color)
    if heading != NONE:
        flip_run(board, state, cell, heading, color)
    join_strings(board, state, cell)
    state.last_stone = cell
    if alone or not line_can_go_on(board, state):  # T4 (b), T5
        end_turn(state)


@kernel
def observe(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    own = player + 1
    other = 2 - player
    for cell in range(board.num_cells):
        planes[0, cell] = state.stones[cell] == own
    for cell in range(board.num_cells):
        planes[1, cell] = state.stones[cell] == other
    for cell in range(board.num_cells):
        planes[2, cell] = board.on_board[cell]
    for cell in range(board.num_cells):
        planes[3, cell] = board.perimeter[cell]
    for cell in range(board.num_cells):
        planes[4, cell] = board.on_board[cell] - board.intersection[cell]
    planes[5, :] = 0
    if state.last_stone != NONE:
        planes[5, state.last_stone] = 1
    for direction in range(4):
        planes[6 + direction, :] = state.direction == direction
    planes[10, :] = state.last_stone != NONE
    planes[11, :] = state.consecutive_passes > 0
    planes[12, :] = state.current_player == 0


def fill_scores(board: BoardArray, states: StateArray) -> tuple[float, float]:
    """Template: return the scores of ``states[0]`` (see :func:`scores`)."""
    return scores(board[0], states[0])


class Taugo(Game):
    """Taugo. Option: ``size``, intersections per side (default 16)."""

    name: ClassVar[str] = "taugo"
    option_types: ClassVar[Mapping[str, Option]] = {"size": IntegerOption(16, minimum=3, maximum=24, always_shown=True)}
    scale_options: ClassVar[tuple[str, ...]] = ("size",)
    global_actions: ClassVar[tuple[str, ...]] = ("end",)
    reasons: ClassVar[tuple[str, ...]] = ("score", "draw")
    colors: ClassVar[tuple[str, str]] = ("Black", "White")
    num_action_planes: ClassVar[int] = 5
    binary_observations: ClassVar[bool] = True
    observation_planes: ClassVar[tuple[str, ...]] = (
        "own_stones",
        "opponent_stones",
        "board",
        "perimeter",
        "edge_points",
        "last_stone_of_line",
        "line_north",
        "line_east",
        "line_south",
        "line_west",
        "line_in_progress",
        "passed",
        "black_to_act",
    )
    action_help: ClassVar[str] = "expected a cell, such as c7, a heading and cell of a cut, such as Nc7, or end"

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        size = self.options["size"]
        self.grid = square(size, edge_points=True)
        room = capacity(self.grid.num_cells)
        self.state_dtype = state_dtype(room)
        self.board = np.zeros(1, board_dtype(room))
        board, cells = self.board[0], slice(self.grid.num_cells)
        num_neighbors = (self.grid.neighbors != NO_NEIGHBOR).sum(axis=1)
        intersection = num_neighbors == 4
        edge_point = num_neighbors == 1
        board["num_cells"] = self.grid.num_cells
        board["width"] = self.grid.width
        board["row"][cells] = np.arange(self.grid.num_cells) // self.grid.width
        board["column"][cells] = np.arange(self.grid.num_cells) % self.grid.width
        bits = 1 << np.arange(self.grid.width)
        rows = slice(1, self.grid.height + 1)
        board["points"][rows] = self.grid.on_board.reshape(self.grid.height, -1) @ bits
        board["intersections"][rows] = intersection.reshape(self.grid.height, -1) @ bits
        board["num_actions"] = self.num_distinct_actions()
        board["on_board"][cells] = self.grid.on_board
        board["intersection"][cells] = intersection
        board["perimeter"][cells] = intersection & edge_point[self.grid.neighbors].any(axis=1)
        board["neighbors"][cells] = np.where(self.grid.neighbors == NO_NEIGHBOR, CORNER, self.grid.neighbors)

    @property
    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """The four kernels and ``check_record``."""
        from stoneworks.envs.rules.record_checks.taugo import check_record

        return {
            "reset": reset,
            "legal_actions": legal_actions,
            "apply_action": apply_action,
            "observe": observe,
            "check_record": check_record,
        }

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
        record = np.zeros(1, self.state_dtype)
        record[0] = state.record
        black, white = self.compiled(fill_scores)(self.board, record)
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
        return f"{picture}\n{self._status(state)}"

    def _status(self, state: State) -> str:
        outcome = state.outcome()
        if outcome is not None:
            if outcome.winner is None:
                return "the game is a draw"
            return f"{self.colors[outcome.winner]} (player {outcome.winner}) wins by {outcome.reason}"
        player = state.current_player()
        status = f"{self.colors[player]} ({'XO'[player]}, player {player}) to move"
        record = state.record
        if record["last_stone"] != NONE:
            status += f", line in progress from {self.grid.cell_names[record['last_stone']]}"
            if record["direction"] != NONE:
                status += f" heading {'NESW'[record['direction']]}"
        if record["consecutive_passes"]:
            status += ", the opponent has passed"
        return status

    def _board_action_text(self, plane: int, cell: int) -> str:
        """Return the text of a stone (``c7``) or of a cut, which starts with its heading (``Nc7``)."""
        return ("", "N", "E", "S", "W")[plane] + self.grid.cell_names[cell]

    def _action_plane_images(self, directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the image of each action plane: headings turn with the board."""
        return np.concatenate([[0], 1 + directions])

    def _observation_plane_images(self, directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the image of each observation plane: the direction of a line turns with the board."""
        images = np.arange(len(self.observation_planes))
        images[6:10] = 6 + directions
        return images
