"""Laido (Saïd Galdseid, 2024).

Like Vadus with one stone per turn, a pie rule, and a tie-break. The rulings L1 to L6 are listed in docs/laido.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.hexhex.board import SIZE_OPTION, HexhexStonesGame, clear_stones
from stoneworks.envs.games.hexhex.groups import compare_groups, group_bounds
from stoneworks.envs.rules import stones
from stoneworks.envs.rules.compiler.compiler import inlined, int64, kernel, specialized_kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Int8s, Record
from stoneworks.envs.rules.contract import Kernels, player_shown, rules_kernels
from stoneworks.envs.rules.fields import NO_WINNER, change_plane, end_game, plane_names
from stoneworks.envs.rules.guide import Guide, read_guide
from stoneworks.envs.rules.options import BooleanOption, ChoiceOption, Option
from stoneworks.envs.rules.state import State
from stoneworks.envs.rules.stones import BLACK, EMPTY, WHITE, clear_planes, observe_colors

# Endings: 1 + the index in Laido.reasons.
BY_GROUPS, BY_HILLS, DRAWN, BY_FIRST_PASS = 1, 2, 3, 4


class _Planes(NamedTuple):
    """The planes of an observation."""

    OWN_STONES: int = stones.OWN_STONES
    OPPONENT_STONES: int = stones.OPPONENT_STONES
    BOARD: int = stones.BOARD
    SWAP_LEGAL: int = 3
    PASSED: int = 4
    BLACK_TO_ACT: int = 5


Plane = _Planes()


reset = clear_stones


@kernel
def swap_is_legal(board: Record, state: Record) -> bool:
    """Return whether the next action is player 1's first (L1)."""
    return bool(board.pie_rule and state.num_stones == 1 and state.current_player == 1 and not state.swapped)


@kernel
def pass_is_legal(board: Record, state: Record) -> bool:
    """Return whether the player to move may pass: with the pie rule not on the first turn (L1), without it always (L2)."""
    return bool(state.num_stones > 0 or not board.pie_rule)


@kernel
def legal_actions(board: Record, state: Record, mask: Int8s) -> None:
    """Write the mask."""
    for cell in range(board.num_cells):
        mask[cell] = state.stones[cell] == EMPTY
    mask[board.num_cells] = pass_is_legal(board, state)
    mask[board.num_cells + 1] = swap_is_legal(board, state)


@kernel
def compare_hills(board: Record, stones: Record) -> int:
    """Return 1 if Black has fewer stones on the first hill that differs, -1 if White has, 0 if no hill differs (L5)."""
    excess_of_white = np.zeros(board.num_cells, np.int64)
    for cell in range(board.num_cells):
        if stones[cell] == BLACK:
            excess_of_white[board.distance_from_center[cell]] -= 1
        elif stones[cell] == WHITE:
            excess_of_white[board.distance_from_center[cell]] += 1
    for distance in range(board.num_cells):
        if excess_of_white[distance] != 0:
            return 1 if excess_of_white[distance] > 0 else -1
    return 0


@kernel
def break_tie(board: Record, state: Record) -> int:
    """Return 1 for Black, -1 for White, 0 for a draw, where no groups of the same rank differ and both players pass (L5, L6)."""
    if not board.first_pass_wins:
        return compare_hills(board, state.stones)
    # The player to move passes first, or has done so if both have passed; after one pass it was the opponent.
    first_to_pass = state.current_player ^ (state.consecutive_passes == 1)
    return 1 - 2 * int64(first_to_pass ^ state.swapped)


@kernel
def apply_action(board: Record, state: Record, action: int) -> None:
    """Place a stone, pass, or swap."""
    player = state.current_player
    state.current_player = 1 - player  # L3
    if action == board.num_cells + 1:
        state.swapped = 1  # L1: player 0 moves next, as White
        return
    if action == board.num_cells:
        state.consecutive_passes += 1
        if state.consecutive_passes == 2:  # L5
            ending = BY_GROUPS
            better = compare_groups(board, state.stones)
            if better == 0:
                ending = BY_FIRST_PASS if board.first_pass_wins else BY_HILLS
                better = break_tie(board, state)
            if better == 0:
                end_game(state, NO_WINNER, DRAWN)
            else:
                winning_color = 0 if better > 0 else 1
                end_game(state, winning_color ^ state.swapped, ending)
        return
    state.stones[action] = (player ^ state.swapped) + 1
    state.consecutive_passes = 0
    state.num_stones += 1


@kernel
def count_legal_globals(board: Record, state: Record) -> int:
    """Return the number of legal global actions; a swap is only legal when a pass is."""
    return int(pass_is_legal(board, state)) + int(swap_is_legal(board, state))


finish_at_random = specialized_kernel(
    stones.finish_at_random, "laido", {"apply_action": apply_action, "count_legal_globals": count_legal_globals}
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
    observe_colors(board, state, player ^ state.swapped, planes)
    change_plane(planes, Plane.SWAP_LEGAL, swap_is_legal(board, state))
    change_plane(planes, Plane.PASSED, state.consecutive_passes > 0)
    change_plane(planes, Plane.BLACK_TO_ACT, state.current_player == state.swapped)


@kernel
def result_bounds(board: Record, state: Record) -> tuple[int, int]:
    """Return bounds of the result for player 0. A swap is no longer possible where both colors have a group."""
    low, high = group_bounds(board, state.stones, False, False)
    return (-high, -low) if state.swapped else (low, high)


class Laido(HexhexStonesGame):
    """Laido.

    Options: ``size``, cells per side (default 9; 7 and 11 are official as well), ``pie_rule`` (default True), and ``tie_break``
    (``"hills"`` or ``"first_pass"``, see L6).
    """

    name: ClassVar[str] = "laido"
    guide: ClassVar[Guide] = read_guide(__file__)
    option_types: ClassVar[Mapping[str, Option]] = {
        "size": SIZE_OPTION,
        "pie_rule": BooleanOption(True),
        "tie_break": ChoiceOption("hills", choices=("hills", "first_pass")),
    }
    size_options: ClassVar[tuple[str, ...]] = ("size",)
    global_actions: ClassVar[tuple[str, ...]] = ("pass", "swap")
    reasons: ClassVar[tuple[str, ...]] = ("groups", "hills", "draw", "first_pass")
    observation_planes: ClassVar[tuple[str, ...]] = plane_names(Plane)
    binary_observations: ClassVar[bool] = True
    action_help: ClassVar[str] = "expected a cell, such as e5, pass or swap"
    kernels: ClassVar[Kernels] = rules_kernels(globals())

    def contradictions(self, records: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """See :meth:`Game.contradictions`."""
        yield from super().contradictions(records)
        yield "second_stone", records["second_stone"] != 0  # a turn of Vadus

    def color_of(self, state: State, player: int) -> int:
        """Return the color of ``player``, which changes with a swap (L1)."""
        return player ^ int(state.record["swapped"])

    def max_game_length(self) -> int:
        """Return the length of a game with a pass before every stone, and two passes at the end.

        With the pie rule there is no pass before the first stone, but a swap may follow it.
        """
        return 2 * self.num_points + 2
