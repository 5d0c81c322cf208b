"""Validation of records of Trugo."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.header import field_numbers
from stoneworks.envs.rules.kernels import Record, kernel
from stoneworks.envs.rules.record_checks.header import ENDING, TRUNCATED, WINNER, check_header
from stoneworks.envs.rules.templates import NO_WINNER
from stoneworks.envs.rules.trugo import hex_sets
from stoneworks.envs.rules.trugo.captures import has_open_neighbor, surrounded_group
from stoneworks.envs.rules.trugo.game import BY_PIECES, NOTHING_PICKED, TOO_LONG, state_dtype
from stoneworks.envs.rules.trugo.moves import has_destination
from stoneworks.envs.rules.trugo.plane import DOUBLE, NO_JUNCTION, SINGLE, corner_code, has_tile, has_top
from stoneworks.envs.rules.trugo.tiles import is_removable

_FIELDS = field_numbers(state_dtype(1))
TURNS, PICKED, POOL, RESERVE = _FIELDS["turns"], _FIELDS["picked"], _FIELDS["pool"], _FIELDS["reserve"]
NUM_PIECES, TILES, TARGETS, CONTENTS = (
    _FIELDS["num_pieces"],
    _FIELDS["tiles"],
    _FIELDS["targets"],
    _FIELDS["contents"],
)


@kernel
def check_contents(board: Record, state: Record) -> int:
    """Check that tiles are in the window, that ``state.tiles`` is their set, and that junctions are where three tiles meet (R2)."""
    for hex_ in range(len(state.contents)):
        inside = hex_ < len(board.cell_of_hex) and board.cell_of_hex[hex_] >= 0
        if state.contents[hex_] != 0 and not (inside and has_tile(state, hex_)):
            return CONTENTS
        if hex_sets.contains(state.tiles, hex_) != (state.contents[hex_] != 0):
            return TILES
    for hex_ in range(len(board.cell_of_hex)):
        if state.contents[hex_] == 0:
            continue
        for kind in range(2):
            sign = 1 - 2 * kind
            num_meeting = 0
            for index in range(3):
                num_meeting += has_tile(state, hex_ + sign * board.meeting_steps[index])
            if (corner_code(state, 2 * hex_ + kind) != NO_JUNCTION) != (num_meeting == 3):
                return CONTENTS
    return 0


@kernel
def tiles_are_connected(board: Record, state: Record, first: int, num_tiles: int) -> bool:
    """Return whether all tiles are connected to the tile ``first``."""
    seen = np.zeros(len(state.tiles), np.uint64)
    waiting = np.empty(num_tiles, np.int32)
    hex_sets.insert(seen, first)
    waiting[0] = first
    num_waiting = 1
    num_seen = 1
    while num_waiting > 0:
        num_waiting -= 1
        hex_ = waiting[num_waiting]
        for direction in range(6):
            beside = hex_ + board.direction_steps[direction]
            if has_tile(state, beside) and not hex_sets.contains(seen, beside):
                hex_sets.insert(seen, beside)
                waiting[num_waiting] = beside
                num_waiting += 1
                num_seen += 1
    return num_seen == num_tiles


@kernel
def check_targets(board: Record, state: Record, num_tiles: int) -> int:
    """Check the set of hexes for the legal tile turns (R3, R4)."""
    if num_tiles == 0:
        start = board.hex_of_cell[board.num_cells // 2]
        for hex_ in range(len(state.contents)):
            if hex_sets.contains(state.targets, hex_) != (hex_ == start):
                return TARGETS
        return 0
    for hex_ in range(len(state.contents)):
        legal = False
        if hex_ < len(board.cell_of_hex) and board.cell_of_hex[hex_] >= 0:
            if state.pool == 0:
                legal = has_tile(state, hex_) and is_removable(board, state, hex_)
            elif not has_tile(state, hex_):
                for direction in range(6):
                    legal = legal or has_tile(state, hex_ + board.direction_steps[direction])
        if hex_sets.contains(state.targets, hex_) != legal:
            return TARGETS
    return 0


@kernel
def check_pieces(board: Record, state: Record) -> int:
    """Check the numbers of pieces, and that no group is surrounded at the start of a turn (R7)."""
    num_white, num_blue = 0, 0
    members = np.empty(2 * board.num_tiles, np.int32)
    for hex_ in range(len(board.cell_of_hex)):
        if state.contents[hex_] == 0:
            continue
        for kind in range(2):
            corner = 2 * hex_ + kind
            code = corner_code(state, corner)
            num_white += has_top(code, 0)
            num_blue += has_top(code, 1)
            if code >= DOUBLE:
                num_white += (code >> 1 & 1) == 0
                num_blue += (code >> 1 & 1) == 1
            closed_in = code >= SINGLE and not has_open_neighbor(board, state, corner)
            if closed_in and surrounded_group(board, state, corner, code & 1, members) > 0:
                return CONTENTS
            if code >= DOUBLE and board.highest_landing < SINGLE:  # R6, without stacking
                return CONTENTS
    if state.num_pieces[0] != num_white or state.num_pieces[1] != num_blue:
        return NUM_PIECES
    if num_white + state.reserve[0] > board.pieces_each or num_blue + state.reserve[1] > board.pieces_each:
        return RESERVE
    return 0


@kernel
def check_picked(board: Record, state: Record) -> int:
    """Check the picked piece, if there is one (R5)."""
    if state.picked == NOTHING_PICKED:
        return 0
    if state.ending or state.picked < 0 or state.picked >= 2 * len(board.cell_of_hex):
        return PICKED
    if not has_top(corner_code(state, state.picked), state.current_player):
        return PICKED
    return 0 if has_destination(board, state, state.picked) else PICKED


@kernel
def check_result(state: Record, max_turns: int) -> int:
    """Check whether the game is over, and the winner (R8, R9)."""
    one_is_without = state.pool == 0 and (state.num_pieces[0] == 0 or state.num_pieces[1] == 0)
    if not state.ending:
        if one_is_without:
            return ENDING
        return TURNS if state.turns >= max_turns else 0
    if one_is_without:
        if state.ending != BY_PIECES:
            return ENDING
        # If both have no pieces, the mover (no longer known) has won.
        if state.winner == NO_WINNER or state.num_pieces[1 - state.winner] != 0:
            return WINNER
        return TRUNCATED if state.truncated else 0
    if state.ending != TOO_LONG:
        return ENDING
    if state.winner != NO_WINNER:
        return WINNER
    if not state.truncated:
        return TRUNCATED
    return 0 if state.turns == max_turns else TURNS


@kernel
def check_record(board: Record, state: Record) -> int:
    """See :mod:`stoneworks.envs.rules.record_checks`."""
    wrong = check_header(state, TOO_LONG)
    if wrong == 0:
        wrong = check_contents(board, state)
    if wrong:
        return wrong
    num_tiles = 0
    first = 0
    for hex_ in range(len(board.cell_of_hex)):
        if state.contents[hex_] != 0:
            num_tiles += 1
            first = hex_
    # R3, R4: tiles are only removed after all have been placed.
    if state.pool < 0 or (state.pool > 0 and state.pool + num_tiles != board.num_tiles) or num_tiles > board.num_tiles:
        return POOL
    if num_tiles > 0 and not tiles_are_connected(board, state, first, num_tiles):
        return CONTENTS
    # Every tile was placed, and every missing tile removed, in a turn of its own.
    num_tile_turns = board.num_tiles - state.pool
    if state.pool == 0:
        num_tile_turns += board.num_tiles - num_tiles
    if state.turns < num_tile_turns or state.turns > board.max_turns:
        return TURNS
    wrong = check_pieces(board, state)
    if wrong == 0:
        wrong = check_targets(board, state, num_tiles)
    if wrong == 0:
        wrong = check_picked(board, state)
    return wrong if wrong else check_result(state, board.max_turns)
