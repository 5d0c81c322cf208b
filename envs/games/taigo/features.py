"""Features of Taigo: the value of each empty hex for both colors, and the threats.

The heuristic describes them (see :mod:`stoneworks.envs.games.taigo.heuristic`).
"""

from __future__ import annotations

import math

import numpy as np

from stoneworks.envs.games.taigo.heuristic import SCALE, WINDOW_VALUES, can_complete, evaluate_windows, survey_windows
from stoneworks.envs.games.taigo.rules import makes_five
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Record
from stoneworks.envs.rules.contract import Feature

#: The planes; the last three are constant.
FEATURES = tuple(
    Feature(name)
    for name in (
        "own_values",
        "opponent_values",
        "own_fives",
        "opponent_fives",
        "own_windows",
        "opponent_windows",
        "evaluation",
    )
)
#: Minimum value of a hex that completes five.
VALUE_OF_FIVE = WINDOW_VALUES[5] - WINDOW_VALUES[4]
#: Value of a hex whose plane is 1/2.
HALF_VALUE = 30.0
#: Total value of open windows whose plane is 1/2.
HALF_TOTAL = 150.0


@kernel
def fill_features(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    num_cells = board.num_cells
    totals = np.empty(2, np.float64)
    completions = np.empty((2, 2), np.int64)
    values = np.empty((2, num_cells), np.float64)
    survey_windows(board, state, totals, completions, values)
    for index in range(2):
        color = player ^ index
        for cell in range(num_cells):
            planes[index, cell] = values[color, cell] / (values[color, cell] + HALF_VALUE)
            planes[2 + index, cell] = (
                values[color, cell] >= VALUE_OF_FIVE
                and makes_five(board, state, cell, color)
                and can_complete(board, state, cell, color)
            )
        planes[4 + index, :] = totals[color] / (totals[color] + HALF_TOTAL)
    planes[6, :] = 0
    if not state.ending:
        planes[6, :] = math.tanh(evaluate_windows(board, state, player, totals, completions) / SCALE)
