"""Features of Trugo: the open corners of groups, the groups in danger, and the material (R7, R8)."""

from __future__ import annotations

import math

import numpy as np

from stoneworks.envs.games.trugo import hex_sets
from stoneworks.envs.games.trugo.heuristic import (
    COLOR,
    LAST_OPEN,
    LAST_PIECES,
    NUM_COLUMNS,
    NUM_OPEN,
    PIECES,
    SCALE,
    can_fill,
    find_groups,
    worth_of,
)
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Record
from stoneworks.envs.rules.contract import Feature

#: The planes; the last three are constant.
FEATURES = (
    Feature("freedom_on_top_corners", "junctions_on_top_corners"),
    Feature("freedom_on_bottom_corners", "junctions_on_bottom_corners"),
    Feature("danger_on_top_corners", "junctions_on_top_corners"),
    Feature("danger_on_bottom_corners", "junctions_on_bottom_corners"),
    Feature("gap_on_top_corners", "junctions_on_top_corners"),
    Feature("gap_on_bottom_corners", "junctions_on_bottom_corners"),
    Feature("own_pieces"),
    Feature("opponent_pieces"),
    Feature("evaluation"),
)
#: Pieces of a group in danger, and on the board, are divided by these.
GROUP_UNIT, PIECES_UNIT = 4.0, 10.0


@kernel
def fill_features(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes.

    They are, on occupied corners, 1 / the number of open corners of the group, and the number of pieces of groups in
    danger; on the last open corner of such a group, the same number.
    """
    planes[:, :] = 0
    num_groups, group_of, groups = find_groups(board, state)
    in_danger = np.zeros(max(num_groups, 1), np.float32)
    for group in range(num_groups):
        row = NUM_COLUMNS * group
        opponent = 1 - groups[row + COLOR]
        last_open = groups[row + LAST_OPEN]
        if groups[row + NUM_OPEN] == 1 and can_fill(board, state, last_open, opponent, group, group_of):
            in_danger[group] = groups[row + PIECES] / GROUP_UNIT
            cell = board.cell_of_hex[last_open >> 1]
            if cell >= 0:
                planes[4 + (last_open & 1), cell] += in_danger[group]
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            cell = board.cell_of_hex[hex_]
            for kind in range(2):
                group = group_of[2 * hex_ + kind]
                if group >= 0:
                    planes[kind, cell] = 1 / max(groups[NUM_COLUMNS * group + NUM_OPEN], 1)
                    planes[2 + kind, cell] = in_danger[group]
    planes[6, :] = state.num_pieces[player] / PIECES_UNIT
    planes[7, :] = state.num_pieces[1 - player] / PIECES_UNIT
    if not state.ending:
        advantage = worth_of(board, state, player, num_groups, group_of, groups)
        advantage -= worth_of(board, state, 1 - player, num_groups, group_of, groups)
        planes[8, :] = math.tanh(max(-LAST_PIECES, min(LAST_PIECES, advantage)) / SCALE)
