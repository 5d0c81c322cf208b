"""Features of Taugo: the perimeter stones of strings, the cuts that are possible, and the score (T6, T9)."""

from __future__ import annotations

import math

import numpy as np

from stoneworks.envs.games.taugo.heuristic import count_strings, with_half_point
from stoneworks.envs.games.taugo.lines import search_first_stones
from stoneworks.envs.rules.compiler.bits import list_legal
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Record
from stoneworks.envs.rules.contract import Feature
from stoneworks.envs.rules.stones import EMPTY

#: The planes; the last three are constant.
FEATURES = tuple(
    Feature(name)
    for name in (
        "own_perimeter_stones_of_string",
        "opponent_perimeter_stones_of_string",
        "ends_of_own_cuts",
        "ends_of_opponent_cuts",
        "stones_that_own_cuts_flip",
        "stones_that_opponent_cuts_flip",
        "standing",
        "lead",
        "lead_in_strings",
    )
)
#: Divisor of the lead before ``tanh``: a lead of this many points has the value tanh(1) = 0.76.
LEAD_UNIT = 40.0
#: The same for the difference in numbers of strings.
STRINGS_UNIT = 4.0


@kernel
def mark_cuts(board: Record, state: Record, color: int, ends: Record, flipped: Record) -> None:
    """Mark the end points of all legal cuts of ``color`` at the start of a turn, and the stones that they flip."""
    num_cells = board.num_cells
    mask = np.zeros(board.num_actions, np.int8)
    actions = np.empty(board.num_actions, np.int64)
    for cell in range(num_cells):
        mask[cell] = (state.stones[cell] == EMPTY) & board.intersection[cell]
    search_first_stones(board, state, color, mask)
    ends[:] = 0
    flipped[:] = 0
    mask[:num_cells] = 0
    for action in actions[: list_legal(mask, actions)]:
        point = action % num_cells
        back = (action // num_cells + 1) % 4  # the heading is one less than the plane
        ends[point] = 1
        cell = board.neighbors[point, back]
        while state.stones[cell] == 3 - color:
            flipped[cell] = 1
            cell = board.neighbors[cell, back]


@kernel
def fill_features(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    num_cells = board.num_cells
    on_perimeter = np.empty(num_cells, np.int16)
    standing = np.empty(4, np.float32)
    points = count_strings(board, state, on_perimeter, standing)
    for cell in range(num_cells):
        stone = state.stones[cell]
        is_stone = stone == 1 or stone == 2
        share = on_perimeter[state.strings[cell]] / (board.width - 2) if is_stone else 0.0
        planes[0, cell] = share if stone == player + 1 else 0.0
        planes[1, cell] = share if stone == 2 - player else 0.0
    for index in range(2):
        mark_cuts(board, state, (player ^ index) + 1, planes[2 + index], planes[4 + index])
    lead = with_half_point(points if player == 0 else -points, standing[2 + player], standing[3 - player])
    planes[6, :] = np.sign(lead)
    planes[7, :] = math.tanh(lead / LEAD_UNIT)
    planes[8, :] = math.tanh((standing[3 - player] - standing[2 + player]) / STRINGS_UNIT)
