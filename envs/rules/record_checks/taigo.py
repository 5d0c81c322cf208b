"""Validation of records of Taigo."""

from __future__ import annotations

from stoneworks.envs.rules.header import field_numbers
from stoneworks.envs.rules.kernels import Record, kernel
from stoneworks.envs.rules.record_checks.header import ENDING, check_header, check_result
from stoneworks.envs.rules.taigo import (
    BY_FIVE,
    CONE,
    DARK,
    HOLE,
    LAST_TILE,
    LIGHT,
    NO_PLACE,
    OFF,
    is_occupied,
    joint_of,
    kind_of,
    makes_five,
    state_dtype,
)
from stoneworks.envs.rules.templates import NO_WINNER

_FIELDS = field_numbers(state_dtype(1))
OPEN_PAIRS, HOLES_TO_FILL, TILES_LEFT = _FIELDS["open_pairs"], _FIELDS["holes_to_fill"], _FIELDS["tiles_left"]
CONES_LEFT, FIVE, CELLS = _FIELDS["cones_left"], _FIELDS["five"], _FIELDS["cells"]

_kind, _joint, _is_occupied = kernel(kind_of), kernel(joint_of), kernel(is_occupied)


@kernel
def check_cell(board: Record, state: Record, cell: int) -> bool:
    """Return whether the code of a cell in the window is consistent with its neighbors."""
    code = state.cells[cell]
    num_occupied = 0
    for direction in range(6):
        neighbor = board.neighbors[cell, direction]
        num_occupied += neighbor >= 0 and _is_occupied(state.cells[neighbor])
    if code >= 0:
        return code == num_occupied  # type: ignore[no-any-return]
    kind = _kind(code)
    joint = _joint(code)
    if kind != DARK and kind != LIGHT:
        return False
    if joint == CONE:  # G3
        return num_occupied == HOLE
    if joint > 6:
        return False
    other = board.neighbors[cell, joint - 1]
    if other < 0:
        return False
    of_other = state.cells[other]
    return _kind(of_other) == DARK + LIGHT - kind and _joint(of_other) == 1 + (joint + 2) % 6  # type: ignore[no-any-return]


@kernel
def check_record(board: Record, state: Record) -> int:
    """See :mod:`stoneworks.envs.rules.record_checks`."""
    wrong = check_header(state, NO_PLACE)
    if wrong:
        return wrong
    num_tiles, num_holes, num_open_pairs = 0, 0, 0
    num_dark_cones, num_light_cones = 0, 0
    dark_five, light_five = False, False
    for cell in range(len(state.cells)):
        if board.empty_window[cell] != 0:
            if state.cells[cell] != 8 * OFF:
                return CELLS
            continue
        if not check_cell(board, state, cell):
            return CELLS
    for cell in range(board.num_cells):
        code = state.cells[cell]
        if code == HOLE:
            num_holes += 1
        if code >= 0:
            for direction in range(3):
                neighbor = board.neighbors[cell, direction]
                num_open_pairs += neighbor >= 0 and state.cells[neighbor] >= 0
        elif _kind(code) == DARK:
            num_tiles += _joint(code) != CONE
            num_dark_cones += _joint(code) == CONE
            dark_five = dark_five or makes_five(board, state, cell, 0)
        elif _kind(code) == LIGHT:
            num_light_cones += _joint(code) == CONE
            light_five = light_five or makes_five(board, state, cell, 1)
    if num_tiles < 1 or num_tiles + state.tiles_left != board.tiles:
        return TILES_LEFT
    if num_dark_cones + state.cones_left[0] != board.cones[0]:
        return CONES_LEFT
    if num_light_cones + state.cones_left[1] != board.cones[1]:
        return CONES_LEFT
    if state.open_pairs != num_open_pairs:
        return OPEN_PAIRS
    if state.five[0] != dark_five or state.five[1] != light_five:
        return FIVE
    # G4: while there is a cone, every hole was made in this turn; without one, none is filled.
    if state.holes_to_fill != (num_holes if state.cones_left[0] + state.cones_left[1] > 0 else 0):
        return HOLES_TO_FILL
    if not state.ending:
        is_over = dark_five or light_five or state.tiles_left == 0 or num_open_pairs == 0
        return ENDING if is_over and state.holes_to_fill == 0 else 0
    if state.holes_to_fill:
        return HOLES_TO_FILL
    if dark_five or light_five:  # G5: with both, the mover (no longer known) has lost
        winner = state.winner if dark_five and light_five and state.winner >= 0 else (0 if dark_five else 1)
        return check_result(state, winner, BY_FIVE)
    return check_result(state, NO_WINNER, LAST_TILE if state.tiles_left == 0 else NO_PLACE)
