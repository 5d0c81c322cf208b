"""Checks of the fields that all records start with."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.header import STATE_HEADER, field_numbers
from stoneworks.envs.rules.kernels import Record, kernel
from stoneworks.envs.rules.templates import NO_WINNER, TERMINAL_PLAYER

_FIELDS = field_numbers(np.dtype(STATE_HEADER))
CURRENT_PLAYER, WINNER, ENDING, TRUNCATED = (_FIELDS[name] for name, _ in STATE_HEADER[:4])


@kernel
def check_header(state: Record, num_reasons: int) -> int:
    """Return the number of the first invalid field of the header, or 0."""
    if state.ending > num_reasons:
        return ENDING
    if state.winner not in (0, 1, NO_WINNER):
        return WINNER
    if state.truncated > 1:
        return TRUNCATED
    if state.ending:
        return 0 if state.current_player == TERMINAL_PLAYER else CURRENT_PLAYER
    if state.current_player not in (0, 1):
        return CURRENT_PLAYER
    if state.winner != NO_WINNER:
        return WINNER
    return TRUNCATED if state.truncated else 0


@kernel
def check_result(state: Record, winner: int, ending: int) -> int:
    """Return ``WINNER`` or ``ENDING`` if a finished, not truncated game has a different result, else 0."""
    if state.ending != ending:
        return ENDING
    if state.winner != winner:
        return WINNER
    return TRUNCATED if state.truncated else 0
