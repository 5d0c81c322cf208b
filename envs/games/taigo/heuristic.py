"""Heuristic of Taigo: open lines of five of each player, and the threats among them.

A *window* is five hexes in a straight line. It is open for a color if it contains no hex of the other color and its empty
hexes can still be filled. An open window is valued by the number of hexes of the color that it contains. A tile adds one
hex of each color (G2), so one tile completes a window that lacks a single hex, and one tile blocks one such hex with its
half of the other color.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.games.taigo.rules import DARK, DARK_CONE_PLANE, HOLE, LIGHT, kind_of, makes_five
from stoneworks.envs.rules.compiler.bits import num_bits
from stoneworks.envs.rules.compiler.compiler import inlined, kernel
from stoneworks.envs.rules.compiler.types import Float32s, Int8s, Int64s, Record

#: Fitted (see :mod:`tools.heuristic_scale`).
SCALE = 165.0
#: Value of an open window with 0 to 5 hexes of its color.
WINDOW_VALUES = (0.0, 1.0, 5.0, 25.0, 60.0, 5000.0)
#: Factor on the windows of the player to move.
WEIGHT_OF_MOVE = 1.5
#: Move-ordering bonus for blocking an open window with 0 to 5 hexes.
BLOCK_VALUES = (0.0, 1.0, 5.0, 30.0, 1000.0, 0.0)
#: Move-ordering bonus for a tile that makes a hole, since its cone is placed in the same turn.
BONUS_OF_HOLE = 50.0
#: Value of a position in which the player to move can complete five with the next tile.
CAN_COMPLETE = 1e5
#: Value for the player not to move of having more ways to complete five than the opponent can block.
CANNOT_BLOCK = 5e4
#: Value, within a turn, of a five that exists or that a cone completes; it decides the game at the end of the turn (G5).
FIVE_STANDS = 2e5

_kind = kernel(kind_of)


@kernel
def can_complete(board: Record, state: Record, cell: int, color: int) -> bool:
    """Return whether a tile fits with its ``color`` half on the empty hex ``cell`` without giving the other color five."""
    for direction in range(6):
        neighbor = board.neighbors[cell, direction]
        if neighbor >= 0 and state.cells[neighbor] >= 0 and not makes_five(board, state, neighbor, 1 - color):
            return True
    return False


@kernel
def is_open(board: Record, state: Record, cell: int) -> bool:
    """Return whether a hex is empty and can still be filled."""
    code = state.cells[cell]
    # A hex without an empty neighbor fits no tile, but may take a cone that must be placed now.
    return code >= 0 and (code != board.num_neighbors[cell] or (code == HOLE and state.holes_to_fill > 0))  # type: ignore[no-any-return]


@inlined
def list_open_before(board: Record, state: Record, stone: int, axis: int, line: Record) -> int:
    """Write the open hexes before ``stone``, up to four, to ``line``, which has it at place 4; return their number."""
    num_before = 0
    cell = stone
    while num_before < 4:
        cell = board.around[cell, axis + 3]
        if not is_open(board, state, cell):
            break
        num_before += 1
        line[4 - num_before] = cell
    return num_before


@kernel
def choose_completions(lacking: Record, completions: Record) -> None:
    """Write ``completions`` from the windows that a tile can complete (see :func:`survey_windows`)."""
    completions[:] = -1
    for color in range(2):
        first, last = 2**62, -1
        for index in range(lacking.shape[0]):
            if lacking[index, 1] == color and lacking[index, 0] < first:
                first = lacking[index, 0]
                completions[color, 0] = lacking[index, 2]
        for index in range(lacking.shape[0]):
            is_other = lacking[index, 1] == color and lacking[index, 2] != completions[color, 0]
            if is_other and lacking[index, 0] > last:
                last = lacking[index, 0]
                completions[color, 1] = lacking[index, 2]


@kernel
def survey_windows(board: Record, state: Record, totals: Record, completions: Record, values: Record) -> None:
    """Evaluate every window that is open for exactly one color.

    Each window is found from the first of its hexes that is occupied.

    Args:
        board: the board constants.
        state: the position.
        totals: output, ``float64[2]``, total value of the open windows of dark and of light.
        completions: output, ``int64[2, 2]``, for dark and for light up to two different hexes where a tile completes five, padded
            with -1: those of the first and of the last window that lacks one hex and can have it.
        values: output, ``float64[2, num_cells]``, value of a dark hex and of a light hex on each empty hex; or ``float64[2, 0]``
            if they are not needed.
    """
    totals[:] = 0
    values[:] = 0
    with_values = values.shape[1] > 0
    line = np.empty(9, np.int64)  # the hexes from four before to four after an occupied one
    lacking = np.empty((3 * board.num_cells, 3), np.int64)  # windows that a tile can complete: number, color, hex
    num_lacking = 0
    for stone in range(board.num_cells):
        kind = _kind(state.cells[stone])
        if kind != DARK and kind != LIGHT:
            continue
        color = kind - DARK
        line[4] = stone
        for axis in range(3):
            num_before = list_open_before(board, state, stone, axis, line)
            num_after = 0
            own = 0  # bit k: the k-th hex after the stone has its color
            cell = stone
            while num_after < 4:
                cell = board.around[cell, axis]
                is_own = _kind(state.cells[cell]) == kind
                if not is_own and not is_open(board, state, cell):
                    break
                num_after += 1
                own |= is_own << num_after
                line[4 + num_after] = cell
            for before in range(max(0, 4 - num_after), num_before + 1):
                num_hexes = 1 + num_bits(own & ((2 << (4 - before)) - 1))
                totals[color] += WINDOW_VALUES[num_hexes]
                if num_hexes == 5 or (num_hexes < 4 and not with_values):
                    continue
                for place in range(4 - before, 9 - before):
                    if place == 4 or (place > 4 and own >> (place - 4) & 1):
                        continue
                    cell = line[place]
                    if with_values:
                        values[color, cell] += WINDOW_VALUES[num_hexes + 1] - WINDOW_VALUES[num_hexes]
                        values[1 - color, cell] += BLOCK_VALUES[num_hexes]
                    if num_hexes == 4 and can_complete(board, state, cell, color):
                        lacking[num_lacking, 0] = 3 * line[4 - before] + axis
                        lacking[num_lacking, 1] = color
                        lacking[num_lacking, 2] = cell
                        num_lacking += 1
    choose_completions(lacking[:num_lacking], completions)


@kernel
def cone_makes_five(board: Record, state: Record) -> bool:
    """Return whether a cone in one of the holes to fill now completes five for the player to move."""
    mover = state.current_player
    if state.cones_left[mover] == 0:
        return False
    found = False
    for cell in range(board.num_cells):
        found |= state.cells[cell] == HOLE and makes_five(board, state, cell, mover)
    return found


@kernel
def heuristic(board: Record, state: Record, player: int) -> float:
    """Return the difference in open-window values in favor of ``player``, or the value of a decisive threat."""
    totals = np.empty(2, np.float64)
    completions = np.empty((2, 2), np.int64)
    values = np.empty((2, 0), np.float64)
    survey_windows(board, state, totals, completions, values)
    return evaluate_windows(board, state, player, totals, completions)


@kernel
def evaluate_windows(board: Record, state: Record, player: int, totals: Record, completions: Record) -> float:
    """Return the value of a position whose windows have been surveyed (see :func:`survey_windows`)."""
    mover = state.current_player
    other = 1 - mover
    advantage = WEIGHT_OF_MOVE * totals[mover] - totals[other]
    if state.holes_to_fill > 0:
        if state.five[other]:
            advantage -= FIVE_STANDS
        elif state.five[mover] or cone_makes_five(board, state):
            advantage += FIVE_STANDS
        return advantage if player == mover else -advantage  # type: ignore[no-any-return]
    mover_completes = False
    num_threats = 0
    for index in range(2):
        mover_completes |= completions[mover, index] >= 0
        num_threats += completions[other, index] >= 0
    if mover_completes:
        advantage += CAN_COMPLETE
    elif num_threats == 2 and state.tiles_left >= 2:
        advantage -= CANNOT_BLOCK
    return advantage if player == mover else -advantage  # type: ignore[no-any-return]


@kernel
def find_holes(board: Record, state: Record, dark_cell: int, light_cell: int, holes: Int64s) -> int:
    """Write the hexes that a tile would turn into holes to ``holes`` and return their number, at most 8."""
    num_holes = 0
    for half in range(2):
        for direction in range(6):
            cell = board.neighbors[light_cell if half else dark_cell, direction]
            # A tile occupies at most two neighbors of a hex.
            if cell < 0 or cell == dark_cell or cell == light_cell or state.cells[cell] < HOLE - 2:
                continue
            num_occupied = state.cells[cell]
            known = False
            for around in range(6):
                neighbor = board.neighbors[cell, around]
                num_occupied += neighbor == dark_cell or neighbor == light_cell
                known |= half == 1 and neighbor == dark_cell
            if num_occupied == HOLE and not known:
                holes[num_holes] = cell
                num_holes += 1
    return num_holes


@kernel
def rate_holes(board: Record, state: Record, own_cell: int, other_cell: int, holes: Int64s, worth: Float32s) -> float:
    """Return the value of the holes that a tile makes for the player who places it, filled with the best remaining cones.

    Args:
        board: the board constants.
        state: the position before the tile; modified during the call and restored.
        own_cell: hex of the tile half in the mover's color.
        other_cell: hex of the other half.
        holes: the hexes that become holes.
        worth: ``float32[num_cells]``, value of a cone in each hex without the tile.
    """
    mover = state.current_player
    cone = mover if state.cones_left[mover] > 0 else 1 - mover
    before = np.empty(holes.shape[0], np.int8)
    before_own, before_other = state.cells[own_cell], state.cells[other_cell]
    state.cells[own_cell] = 8 * (DARK + mover)
    state.cells[other_cell] = 8 * (DARK + 1 - mover)
    rating = 0.0
    for index in range(holes.shape[0]):
        rating += BONUS_OF_HOLE + worth[holes[index]]
        before[index] = state.cells[holes[index]]
        state.cells[holes[index]] = 8 * (DARK + cone)
    completes = False
    for index in range(holes.shape[0]):
        completes |= makes_five(board, state, holes[index], cone)
    for index in range(holes.shape[0]):
        state.cells[holes[index]] = before[index]
    state.cells[own_cell] = before_own
    state.cells[other_cell] = before_other
    if completes:
        rating += WINDOW_VALUES[5] if cone == mover else -2 * WINDOW_VALUES[5]
    return rating


@kernel
def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Rate each tile by the change in window values from its two hexes and from the cones in the holes that it makes."""
    num_cells = board.num_cells
    totals = np.empty(2, np.float64)
    completions = np.empty((2, 2), np.int64)
    values = np.empty((2, num_cells), np.float64)
    survey_windows(board, state, totals, completions, values)
    mover = state.current_player
    other = 1 - mover
    holes = np.empty(8, np.int64)
    # Value of a cone for the mover, by cell.
    worth = np.empty(num_cells, np.float32)
    for cell in range(num_cells):
        worth[cell] = values[mover, cell] if state.cones_left[mover] > 0 else -2 * values[other, cell]
    for action in range(mask.shape[0]):
        if not mask[action]:
            continue
        plane = action // num_cells
        cell = action - plane * num_cells
        if plane >= DARK_CONE_PLANE:
            color = plane - DARK_CONE_PLANE
            ratings[action] = values[mover, cell] if color == mover else -2 * values[other, cell]
            continue
        light_cell = board.neighbors[cell, plane]
        own_cell = cell if mover == 0 else light_cell
        other_cell = light_cell if mover == 0 else cell
        # Weighted twice, as the opponent's five takes precedence (G5).
        rating = values[mover, own_cell] - 2 * values[other, other_cell]
        num_holes = find_holes(board, state, cell, light_cell, holes)
        if num_holes > 0 and state.cones_left[0] + state.cones_left[1] > 0:
            rating += rate_holes(board, state, own_cell, other_cell, holes[:num_holes], worth)
        ratings[action] = rating


@kernel
def may_win(board: Record, state: Record, action: int) -> bool:
    """Return whether the turn may win (G5): the tile completes the mover's five, or makes a hole for a cone that may."""
    plane = action // board.num_cells
    if plane >= DARK_CONE_PLANE:
        return True
    dark_cell = action - plane * board.num_cells
    light_cell = board.neighbors[dark_cell, plane]
    mover = state.current_player
    if makes_five(board, state, dark_cell if mover == 0 else light_cell, mover):
        return True
    if state.cones_left[mover] == 0:
        return False
    holes = np.empty(8, np.int64)
    return find_holes(board, state, dark_cell, light_cell, holes) > 0
