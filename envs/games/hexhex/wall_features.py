"""Features of Vadus and Laido: the walls of both colors, the values of groups, and who is ahead.

The heuristic describes walls (see :mod:`stoneworks.envs.games.hexhex.walls`).
"""

from __future__ import annotations

import math

import numpy as np

from stoneworks.envs.games.hexhex.walls import (
    GROUP,
    MISSING,
    NO_WALL,
    NUM_EDGE_STONES,
    NUM_GROUP_ROWS,
    NUM_ROWS,
    PATH_LENGTH,
    SIZE,
    compare_surveyed,
    survey_walls,
)
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Record
from stoneworks.envs.rules.contract import Feature
from stoneworks.envs.rules.stones import BLACK, WHITE

#: The planes; the last three are constant.
FEATURES = tuple(
    Feature(name)
    for name in (
        "own_walls",
        "own_arms",
        "own_group_values",
        "opponent_walls",
        "opponent_arms",
        "opponent_group_values",
        "standing",
        "evaluation",
        "wall_difference",
    )
)
NUM_PLANES_OF_COLOR = 3
#: Group values and differences of wall scores are divided by these.
VALUE_UNIT, DIFFERENCE_UNIT = 10.0, 4.0
#: exp(-m / 2) for m missing stones, an unsigned number: 0 from the last one on, such as for BARRED and FAR.
_OF_MISSING = np.append(np.exp(-0.5 * np.arange(255)), 0.0).astype(np.float32)


@kernel
def fill_planes_of_color(
    board: Record, state: Record, own: int, num_free: int, planes: Float32Table, work: Record, groups: Record
) -> tuple[float, int]:
    """Write the three planes of one color and return the score of its walls and the number of its groups.

    The planes are exp(s - best) for the score s of the best unfinished wall through each point; exp(-m / 2) for the number
    m of stones missing between each point and the edge; and the value of each finished group (V4) on its stones.
    """
    num_cells = board.num_cells
    scores = np.empty(num_cells, np.float32)
    score, num_groups = survey_walls(board, state.stones, own, num_free, work, groups, scores)
    best = np.float32(NO_WALL)
    for cell in range(num_cells):
        best = max(best, scores[cell])
    for cell in range(num_cells):
        planes[0, cell] = np.exp(scores[cell] - best) if scores[cell] > NO_WALL else 0.0
    for cell in range(num_cells):
        planes[1, cell] = _OF_MISSING[min(np.uint16(work[MISSING, cell]), np.uint16(255))]
    for cell in range(num_cells):
        group = work[GROUP, cell]
        finished = group >= 0 and groups[NUM_EDGE_STONES, group] >= 2
        planes[2, cell] = (2 * groups[PATH_LENGTH, group] - groups[SIZE, group]) / VALUE_UNIT if finished else 0.0
    return score, num_groups


@kernel
def fill_wall_features(
    board: Record, state: Record, color: int, num_free: int, tie: int, scale: float, planes: Float32Table
) -> None:
    """Write the planes.

    Args:
        board: the board constants.
        state: the position.
        color: the viewer's color, 0 for Black, 1 for White.
        num_free: number of stones that may be placed in this turn: of the viewer, if positive, or of the opponent, if negative.
        tie: 1 if the viewer would win if the game ended now and no groups of the same rank differed, -1 for a loss, 0 for a draw.
        scale: scale of the heuristic.
        planes: output.
    """
    work = np.empty((NUM_ROWS, board.num_cells + 1), np.int16)
    groups = np.empty((2, NUM_GROUP_ROWS, board.num_cells), np.int16)
    own = BLACK if color == 0 else WHITE
    other = BLACK + WHITE - own
    split = NUM_PLANES_OF_COLOR
    score, num_own = fill_planes_of_color(board, state, own, max(num_free, 0), planes[:split], work, groups[0])
    of_other, num_other = fill_planes_of_color(board, state, other, max(-num_free, 0), planes[split:], work, groups[1])
    difference = score - of_other
    standing = compare_surveyed(groups[0], num_own, groups[1], num_other)
    planes[2 * split, :] = tie if standing == 0 else standing
    planes[2 * split + 1, :] = math.tanh(difference / scale)
    planes[2 * split + 2, :] = difference / DIFFERENCE_UNIT
