"""Features of Vadus (see :mod:`stoneworks.envs.games.hexhex.wall_features`)."""

from __future__ import annotations

from stoneworks.envs.games.hexhex.wall_features import FEATURES, fill_wall_features
from stoneworks.envs.games.vadus.heuristic import SCALE, stones_left_in_turn
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Record

__all__ = ["FEATURES", "fill_features"]


@kernel
def fill_features(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    num_free = stones_left_in_turn(state)
    fill_wall_features(
        board, state, player, num_free if state.current_player == player else -num_free, 0, SCALE, planes
    )
