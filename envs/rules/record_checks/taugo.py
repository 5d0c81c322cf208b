"""Validation of records of Taugo."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.groups import BLACK, EMPTY, OFF_BOARD, WHITE
from stoneworks.envs.rules.header import field_numbers
from stoneworks.envs.rules.kernels import Record, kernel
from stoneworks.envs.rules.record_checks.header import check_header, check_result
from stoneworks.envs.rules.taugo.game import BY_SCORE, DRAWN, scores, state_dtype
from stoneworks.envs.rules.taugo.lines import EAST, NONE, NORTH, WEST, line_can_go_on
from stoneworks.envs.rules.taugo.strings import NO_STRING
from stoneworks.envs.rules.templates import NO_WINNER

_FIELDS = field_numbers(state_dtype(1))
CONSECUTIVE_PASSES, DIRECTION, LAST_STONE = _FIELDS["consecutive_passes"], _FIELDS["direction"], _FIELDS["last_stone"]
STONES, STRINGS, ROWS, COLUMNS = (_FIELDS[name] for name in ("stones", "strings", "rows", "columns"))


@kernel
def check_stones(board: Record, state: Record) -> int:
    """Check the codes of cells, and that there is no knot (T3)."""
    for cell in range(len(state.stones)):
        code = state.stones[cell]
        if cell < board.num_cells and board.on_board[cell]:
            if code > WHITE:
                return STONES
        elif code != OFF_BOARD:
            return STONES
    for cell in range(board.num_cells):
        code = state.stones[cell]
        if (code == BLACK or code == WHITE) and board.intersection[cell]:
            above, right = board.neighbors[cell, NORTH], board.neighbors[cell, EAST]
            across = board.neighbors[above, EAST]
            # A stone on an edge point is never part of a knot, and has no neighbor across.
            inside = board.intersection[above] and board.intersection[right] and board.intersection[across]
            alike = state.stones[above] == code and state.stones[right] == code and state.stones[across] == code
            if inside and alike:
                return STONES
    return 0


@kernel
def check_strings(board: Record, state: Record) -> int:
    """Check that the label of each stone is the lowest cell of its string (T2)."""
    for cell in range(board.num_cells, len(state.strings)):
        if state.strings[cell] != NO_STRING:
            return STRINGS
    seen = np.zeros(board.num_cells, np.uint8)
    members = np.empty(board.num_cells, np.int16)
    for start in range(board.num_cells):
        code = state.stones[start]
        if code == EMPTY or code == OFF_BOARD:
            if state.strings[start] != NO_STRING:
                return STRINGS
            continue
        if seen[start]:
            continue
        seen[start] = 1
        members[0] = start
        size = 1
        done = 0
        while done < size:
            stone = members[done]
            done += 1
            if state.strings[stone] != start:
                return STRINGS
            for direction in range(4):
                neighbor = board.neighbors[stone, direction]
                if state.stones[neighbor] == code and not seen[neighbor]:
                    seen[neighbor] = 1
                    members[size] = neighbor
                    size += 1
    return 0


@kernel
def check_rows(board: Record, state: Record) -> int:
    """Check that the words of rows and columns hold the stones."""
    rows = np.zeros((2, len(board.points)), np.int32)
    columns = np.zeros((2, len(board.points)), np.int32)
    for cell in range(board.num_cells):
        code = state.stones[cell]
        if code == BLACK or code == WHITE:
            rows[code - 1, board.row[cell] + 1] |= 1 << board.column[cell]
            columns[code - 1, board.column[cell] + 1] |= 1 << board.row[cell]
    for color in range(2):
        for line in range(len(board.points)):
            if state.rows[color, line] != rows[color, line]:
                return ROWS
            if state.columns[color, line] != columns[color, line]:
                return COLUMNS
    return 0


@kernel
def check_line(board: Record, state: Record) -> int:
    """Check the line in progress, if there is one (T5)."""
    if state.direction < NONE or state.direction > WEST:
        return DIRECTION
    if state.last_stone == NONE:
        return 0 if state.direction == NONE else DIRECTION
    own = state.current_player + 1
    last = state.last_stone
    if state.ending or last < 0 or last >= board.num_cells or state.stones[last] != own:
        return LAST_STONE
    if state.consecutive_passes:
        return CONSECUTIVE_PASSES
    if state.direction != NONE:
        if state.stones[board.neighbors[last, (state.direction + 2) % 4]] != own:
            return DIRECTION
    else:
        num_beside = 0
        for direction in range(4):
            num_beside += state.stones[board.neighbors[last, direction]] == own
        if num_beside == 0:  # a stone alone ends the turn (T4)
            return LAST_STONE
    return 0 if line_can_go_on(board, state) else LAST_STONE


@kernel
def check_record(board: Record, state: Record) -> int:
    """See :mod:`stoneworks.envs.rules.record_checks`."""
    wrong = check_header(state, DRAWN)
    if wrong == 0:
        wrong = check_stones(board, state)
    if wrong == 0:
        wrong = check_strings(board, state)
    if wrong == 0:
        wrong = check_rows(board, state)
    if wrong:
        return wrong
    if state.consecutive_passes > 2 or (state.consecutive_passes == 2) != (state.ending != 0):  # T8
        return CONSECUTIVE_PASSES
    wrong = check_line(board, state)
    if wrong or not state.ending:
        return wrong
    black, white = scores(board, state)
    if black == white:
        return check_result(state, NO_WINNER, DRAWN)
    return check_result(state, 0 if black > white else 1, BY_SCORE)
