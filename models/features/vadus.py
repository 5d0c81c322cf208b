"""Features of Vadus (see :mod:`stoneworks.models.features.walls`)."""

from __future__ import annotations

from stoneworks.envs.rules.kernels import Float32Table, Record, kernel
from stoneworks.models.evaluations.vadus import SCALE, stones_left_in_turn
from stoneworks.models.features.walls import FEATURES, fill_wall_features

__all__ = ["FEATURES", "fill_features"]


@kernel
def fill_features(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    num_free = stones_left_in_turn(state)
    fill_wall_features(
        board,
        state,
        player,
        num_free if state.current_player == player else -num_free,
        0,
        SCALE,
        planes,
    )
