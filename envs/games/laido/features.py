"""Features of Laido (see :mod:`stoneworks.envs.games.hexhex.wall_features`)."""

from __future__ import annotations

from stoneworks.envs.games.hexhex.wall_features import FEATURES, fill_wall_features
from stoneworks.envs.games.laido.heuristic import SCALE
from stoneworks.envs.games.laido.rules import break_tie
from stoneworks.envs.rules.compiler.compiler import int64, kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Record
from stoneworks.envs.rules.fields import NO_WINNER

__all__ = ["FEATURES", "fill_features"]


@kernel
def fill_features(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    color = player ^ state.swapped
    if state.ending:  # no player is to move, whom break_tie reads
        tie = 0 if state.winner == NO_WINNER else 1 - 2 * int64(state.winner ^ state.swapped)
    else:
        tie = break_tie(board, state)
    num_free = 1 if state.current_player == player else -1
    fill_wall_features(board, state, color, num_free, tie if color == 0 else -tie, SCALE, planes)
