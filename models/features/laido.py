"""Features of Laido (see :mod:`stoneworks.models.features.walls`)."""

from __future__ import annotations

from stoneworks.envs.rules.hexhex.laido import break_tie
from stoneworks.envs.rules.kernels import Float32Table, Record, kernel
from stoneworks.models.evaluations.laido import SCALE
from stoneworks.models.features.walls import FEATURES, fill_wall_features

__all__ = ["FEATURES", "fill_features"]


@kernel
def fill_features(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    color = player ^ state.swapped
    tie = break_tie(board, state)
    num_free = 1 if state.current_player == player else -1
    fill_wall_features(board, state, color, num_free, tie if color == 0 else -tie, SCALE, planes)
