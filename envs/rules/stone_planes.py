"""Parts of observations: the planes that games of stones begin with, and planes of a single value."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from stoneworks.envs.rules.kernels import Float32Table, Record, kernel

#: The planes that observations of games of stones begin with.
OWN_STONES, OPPONENT_STONES, BOARD = 0, 1, 2


def plane_names(planes: type[IntEnum]) -> tuple[str, ...]:
    """Return the names of the planes of a game for ``Game.observation_planes``."""
    return tuple(plane.name.lower() for plane in planes)


@kernel
def observe_colors(board: Record, state: Record, color: int, planes: Float32Table) -> None:
    """Write the first two planes: own stones and opponent's stones."""
    own = color + 1
    other = 2 - color
    for cell in range(board.num_cells):
        planes[OWN_STONES, cell] = state.stones[cell] == own
    for cell in range(board.num_cells):
        planes[OPPONENT_STONES, cell] = state.stones[cell] == other


@kernel
def observe_stones(board: Record, state: Record, color: int, planes: Float32Table) -> None:
    """Write the first three planes: own stones, opponent's stones, board."""
    observe_colors(board, state, color, planes)
    for cell in range(board.num_cells):
        planes[BOARD, cell] = board.on_board[cell]


@kernel
def change_plane(planes: Float32Table, plane: int, value: float) -> None:
    """Write a value to all of a plane, unless a plane of a single value has it already."""
    if planes[plane, 0] != np.float32(value):
        planes[plane, :] = value
