"""Heuristic of Vadus, based on walls (see :mod:`stoneworks.envs.games.hexhex.walls`)."""

from __future__ import annotations

from stoneworks.envs.games.hexhex.groups import compare_groups
from stoneworks.envs.games.hexhex.walls import black_advantage, rate_points
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32s, Int8s, Record

#: Fitted (see :mod:`tools.heuristic_scale`).
SCALE = 2.6


@kernel
def stones_left_in_turn(state: Record) -> int:
    """Return the number of stones that the player to move may still place in this turn (V1, V2)."""
    return 1 if state.num_stones == 0 or state.second_stone else 2


@kernel
def heuristic(board: Record, state: Record, player: int) -> float:
    """Return the difference in wall scores in favor of ``player``."""
    standing = compare_groups(board, state.stones) if state.consecutive_passes else 0
    advantage = black_advantage(board, state, state.current_player, stones_left_in_turn(state), standing)
    return advantage if player == 0 else -advantage


@kernel
def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Rate each point by the walls through it."""
    rate_points(board, state, state.current_player, stones_left_in_turn(state), ratings)


@kernel
def may_win(board: Record, state: Record, action: int) -> bool:
    """Return whether the turn may win: only a second pass in a row ends the game (V5)."""
    return state.consecutive_passes == 1 and action >= board.num_cells  # type: ignore[no-any-return]
