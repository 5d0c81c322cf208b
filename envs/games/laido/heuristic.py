"""Heuristic of Laido, based on walls (see :mod:`stoneworks.envs.games.hexhex.walls`)."""

from __future__ import annotations

from stoneworks.envs.games.hexhex.groups import compare_groups
from stoneworks.envs.games.hexhex.walls import black_advantage, rate_points
from stoneworks.envs.games.laido.rules import break_tie, swap_is_legal
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32s, Int8s, Record

#: Fitted (see :mod:`tools.heuristic_scale`).
SCALE = 2.1


@kernel
def heuristic(board: Record, state: Record, player: int) -> float:
    """Return the difference in wall scores in favor of ``player``; if a swap is legal, assume the better choice (L1)."""
    standing = 0
    if state.consecutive_passes:
        standing = compare_groups(board, state.stones)
        if standing == 0:
            standing = break_tie(board, state)
    color_to_act = state.current_player ^ state.swapped
    advantage = black_advantage(board, state, color_to_act, 1, standing)
    # White is to move with or without a swap, so only the assignment of players to colors differs.
    if swap_is_legal(board, state):
        advantage = -abs(advantage)
    return advantage if player ^ state.swapped == 0 else -advantage


@kernel
def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Rate each point by the walls through it."""
    rate_points(board, state, state.current_player ^ state.swapped, 1, ratings)


@kernel
def may_win(board: Record, state: Record, action: int) -> bool:
    """Return whether the turn may win: only a second pass in a row ends the game (L5)."""
    return state.consecutive_passes == 1 and action >= board.num_cells  # type: ignore[no-any-return]
