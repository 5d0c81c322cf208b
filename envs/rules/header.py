"""The fields that every record starts with, and the kernels that write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from stoneworks.envs.rules.kernels import Record, kernel
from stoneworks.envs.rules.templates import NO_WINNER, TERMINAL_PLAYER

#: Fields at the start of every state record. ``current_player`` is 0, 1 or ``TERMINAL_PLAYER``; ``winner`` is a
#: player or ``NO_WINNER``; ``ending`` is 0 until the game is over, then 1 + the index of the reason in ``Game.reasons``.
#: ``game_tag`` is ``Game.record_tag``: games may share a dtype, so each record identifies its game, options and version.
#: Kernels copy the tag and never read it.
STATE_HEADER = [("current_player", "i1"), ("winner", "i1"), ("ending", "u1"), ("truncated", "u1"), ("game_tag", "u4")]

#: The field that contains the tag.
TAG = "game_tag"

#: Fields at the start of the board constants of every game.
BOARD_HEADER = [("num_cells", "i4"), ("num_actions", "i4")]


def field_numbers(dtype: np.dtype[Any]) -> dict[str, int]:
    """Return the number of each field, counted from 1."""
    return {name: number for number, name in enumerate(dtype.names or (), start=1)}


@kernel
def start_game(state: Record) -> None:
    """Write the header of a game in progress with player 0 to move."""
    state.current_player = 0
    state.winner = NO_WINNER
    state.ending = 0
    state.truncated = 0


@kernel
def end_game(state: Record, winner: int, ending: int) -> None:
    """Mark the game as over."""
    state.current_player = TERMINAL_PLAYER
    state.winner = winner
    state.ending = ending
