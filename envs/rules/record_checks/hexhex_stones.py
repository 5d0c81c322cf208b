"""Validation of records of Vadus and Laido."""

from __future__ import annotations

from stoneworks.envs.rules import laido, vadus
from stoneworks.envs.rules.groups import EMPTY, OFF_BOARD, WHITE, compare_groups
from stoneworks.envs.rules.header import field_numbers
from stoneworks.envs.rules.hexhex_stones import state_dtype
from stoneworks.envs.rules.kernels import Record, kernel
from stoneworks.envs.rules.record_checks.header import CURRENT_PLAYER, check_header, check_result
from stoneworks.envs.rules.templates import NO_WINNER

_FIELDS = field_numbers(state_dtype(1))
CONSECUTIVE_PASSES, SECOND_STONE = _FIELDS["consecutive_passes"], _FIELDS["second_stone"]
SWAPPED, NUM_STONES, STONES = _FIELDS["swapped"], _FIELDS["num_stones"], _FIELDS["stones"]


@kernel
def check_stones(board: Record, state: Record) -> int:
    """Return the number of an invalid field among those that both games use in the same way, or 0."""
    num_stones = 0
    for cell in range(len(state.stones)):
        code = state.stones[cell]
        if cell < board.num_cells and board.on_board[cell]:
            if code > WHITE:
                return STONES
            num_stones += code != EMPTY
        elif code != OFF_BOARD:
            return STONES
    if state.num_stones != num_stones:
        return NUM_STONES
    if state.consecutive_passes > 2 or (state.consecutive_passes == 2) != (state.ending != 0):
        return CONSECUTIVE_PASSES
    return 0


@kernel
def check_vadus_record(board: Record, state: Record) -> int:
    """See :mod:`stoneworks.envs.rules.record_checks`."""
    wrong = check_header(state, vadus.DRAWN)
    if wrong == 0:
        wrong = check_stones(board, state)
    if wrong:
        return wrong
    if state.swapped:
        return SWAPPED
    # V1, V2: one stone, then two a turn.
    if state.second_stone != (state.num_stones > 0 and state.num_stones % 2 == 0):
        return SECOND_STONE
    if state.second_stone and state.consecutive_passes:
        return CONSECUTIVE_PASSES
    if state.num_stones == 0:
        if state.consecutive_passes:
            return CONSECUTIVE_PASSES
        return CURRENT_PLAYER if state.current_player else 0
    if not state.ending:
        return 0
    better = compare_groups(board, state.stones)
    if better == 0:
        return check_result(state, NO_WINNER, vadus.DRAWN)
    return check_result(state, 0 if better > 0 else 1, vadus.BY_GROUPS)


@kernel
def check_laido_record(board: Record, state: Record) -> int:
    """See :mod:`stoneworks.envs.rules.record_checks`."""
    wrong = check_header(state, laido.DRAWN)
    if wrong == 0:
        wrong = check_stones(board, state)
    if wrong:
        return wrong
    if state.second_stone:
        return SECOND_STONE
    if state.swapped > 1 or (state.swapped and not (board.pie_rule and state.num_stones > 0)):  # L1
        return SWAPPED
    if state.num_stones == 0:
        if board.pie_rule and state.consecutive_passes:  # L1
            return CONSECUTIVE_PASSES
        if not state.ending and state.current_player != state.consecutive_passes:  # L2
            return CURRENT_PLAYER
    if not state.ending:
        return 0
    ending = laido.BY_GROUPS
    better = compare_groups(board, state.stones)
    if better == 0:
        ending = laido.BY_HILLS
        better = laido.compare_hills(board, state.stones)
    if better == 0:
        return check_result(state, NO_WINNER, laido.DRAWN)
    return check_result(state, (0 if better > 0 else 1) ^ state.swapped, ending)
