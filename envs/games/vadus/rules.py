"""Vadus (Saïd Galdseid, Michael Amundsen, 2024).

Two stones per turn on a hexhex board of points. The player whose groups have the longest paths from edge to edge, with the
fewest extra stones, wins. The rulings V1 to V6 are listed in docs/vadus.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.hexhex.board import SIZE_OPTION, HexhexStonesGame, clear_stones
from stoneworks.envs.games.hexhex.groups import compare_groups, group_bounds
from stoneworks.envs.rules import stones
from stoneworks.envs.rules.compiler.compiler import inlined, kernel, specialized_kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Int8s, Record
from stoneworks.envs.rules.contract import Kernels, player_shown, rules_kernels
from stoneworks.envs.rules.fields import NO_WINNER, change_plane, end_game, plane_names
from stoneworks.envs.rules.guide import Guide, read_guide
from stoneworks.envs.rules.options import Option
from stoneworks.envs.rules.stones import EMPTY, clear_planes, observe_colors

# Endings: 1 + the index in Vadus.reasons.
BY_GROUPS, DRAWN = 1, 2


class _Planes(NamedTuple):
    """The planes of an observation."""

    OWN_STONES: int = stones.OWN_STONES
    OPPONENT_STONES: int = stones.OPPONENT_STONES
    BOARD: int = stones.BOARD
    SECOND_STONE: int = 3
    PASSED: int = 4
    BLACK_TO_ACT: int = 5


Plane = _Planes()


reset = clear_stones


@kernel
def pass_is_legal(state: Record) -> bool:
    """Return whether the player to move may pass: not on the first turn (V1), nor after the first stone of a turn (V2)."""
    return bool(state.num_stones > 0 and not state.second_stone)


@kernel
def legal_actions(board: Record, state: Record, mask: Int8s) -> None:
    """Write the mask."""
    for cell in range(board.num_cells):
        mask[cell] = state.stones[cell] == EMPTY
    mask[board.num_cells] = pass_is_legal(state)


@kernel
def apply_action(board: Record, state: Record, action: int) -> None:
    """Place a stone, or pass."""
    player = state.current_player
    if action == board.num_cells:
        state.consecutive_passes += 1
        state.current_player = 1 - player
        if state.consecutive_passes == 2:  # V5
            better = compare_groups(board, state.stones)  # V6
            if better == 0:
                end_game(state, NO_WINNER, DRAWN)
            else:
                end_game(state, 0 if better > 0 else 1, BY_GROUPS)
        return
    state.stones[action] = player + 1
    state.consecutive_passes = 0
    if state.num_stones > 0 and not state.second_stone:
        state.second_stone = 1  # V2
    else:  # V1: the first turn is a single stone
        state.second_stone = 0
        state.current_player = 1 - player
    state.num_stones += 1


@kernel
def count_legal_globals(board: Record, state: Record) -> int:
    """Return 1 if a pass is legal, else 0."""
    return int(pass_is_legal(state))


finish_at_random = specialized_kernel(
    stones.finish_at_random, "vadus", {"apply_action": apply_action, "count_legal_globals": count_legal_globals}
)


@kernel
def observe(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    clear_planes(board, planes)
    change_planes(board, state, player, planes)


@kernel
def update_observation(board: Record, before: Record, state: Record, planes: Float32Table) -> None:
    """Change the planes from those of ``before`` to those of ``state``."""
    change_planes(board, state, player_shown(state), planes)


@inlined
def change_planes(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write all planes but that of the board, where they differ."""
    observe_colors(board, state, player, planes)
    change_plane(planes, Plane.SECOND_STONE, state.second_stone)
    change_plane(planes, Plane.PASSED, state.consecutive_passes > 0)
    change_plane(planes, Plane.BLACK_TO_ACT, state.current_player == 0)


@kernel
def result_bounds(board: Record, state: Record) -> tuple[int, int]:
    """Return bounds of the result for player 0, who is Black."""
    second_of_black = state.second_stone and state.current_player == 0
    second_of_white = state.second_stone and state.current_player == 1
    return group_bounds(board, state.stones, second_of_black, second_of_white)


class Vadus(HexhexStonesGame):
    """Vadus. Option: ``size``, points per side (default 9; 7 and 11 are official as well)."""

    name: ClassVar[str] = "vadus"
    guide: ClassVar[Guide] = read_guide(__file__)
    option_types: ClassVar[Mapping[str, Option]] = {"size": SIZE_OPTION}
    size_options: ClassVar[tuple[str, ...]] = ("size",)
    global_actions: ClassVar[tuple[str, ...]] = ("pass",)
    reasons: ClassVar[tuple[str, ...]] = ("groups", "draw")
    observation_planes: ClassVar[tuple[str, ...]] = plane_names(Plane)
    binary_observations: ClassVar[bool] = True
    action_help: ClassVar[str] = "expected a cell, such as e5, or pass"
    kernels: ClassVar[Kernels] = rules_kernels(globals())

    def contradictions(self, records: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """See :meth:`Game.contradictions`."""
        yield from super().contradictions(records)
        num_stones = records["num_stones"]
        yield "second_stone", records["second_stone"] != ((num_stones > 0) & (num_stones % 2 == 0))  # V1, V2

    def max_game_length(self) -> int:
        """Return the length of a game with a pass before every turn except the first, and two passes at the end."""
        later_turns = (self.num_points - 1) // 2
        return self.num_points + later_turns + 2
