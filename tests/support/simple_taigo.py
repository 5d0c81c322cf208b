"""The windows of Taigo, surveyed simply: from every hex in every direction."""

from __future__ import annotations

from stoneworks.envs.games.taigo.heuristic import BLOCK_VALUES, WINDOW_VALUES, can_complete
from stoneworks.envs.games.taigo.rules import DARK, HOLE, kind_of
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Record

_kind = kernel(kind_of)


@kernel
def survey_windows(board: Record, state: Record, totals: Record, completions: Record, values: Record) -> None:
    """Evaluate every window that is open for exactly one color.

    Args:
        board: the board constants.
        state: the position.
        totals: output, ``float64[2]``, total value of the open windows of dark and of light.
        completions: output, ``int64[2, 2]``, for dark and for light up to two different hexes where a tile completes five,
            padded with -1.
        values: output, ``float64[2, num_cells]``, value of a dark hex and of a light hex on each empty hex.
    """
    totals[:] = 0
    completions[:] = -1
    values[:] = 0
    for start in range(board.num_cells):
        for axis in range(3):
            num_hexes_0 = 0
            num_hexes_1 = 0
            cell = start
            last = -1
            for place in range(5):
                if cell < 0:
                    break
                code = state.cells[cell]
                if code >= 0:
                    # A hex without an empty neighbor fits no tile, but may take a cone that must be placed now.
                    if code == board.num_neighbors[cell] and not (code == HOLE and state.holes_to_fill > 0):
                        break
                elif _kind(code) == DARK:
                    num_hexes_0 += 1
                elif _kind(code) == DARK + 1:
                    num_hexes_1 += 1
                else:
                    break
                if num_hexes_0 > 0 and num_hexes_1 > 0:
                    break
                if place == 4:
                    last = cell
                cell = board.neighbors[cell, axis]
            if last < 0 or num_hexes_0 + num_hexes_1 == 0:
                continue
            color = 0 if num_hexes_0 > 0 else 1
            num_hexes = num_hexes_0 + num_hexes_1
            totals[color] += WINDOW_VALUES[num_hexes]
            if num_hexes == 5:
                continue
            cell = start
            for _ in range(5):
                if state.cells[cell] >= 0:
                    values[color, cell] += WINDOW_VALUES[num_hexes + 1] - WINDOW_VALUES[num_hexes]
                    values[1 - color, cell] += BLOCK_VALUES[num_hexes]
                    if num_hexes == 4 and can_complete(board, state, cell, color):
                        if completions[color, 0] < 0:
                            completions[color, 0] = cell
                        elif completions[color, 0] != cell:
                            completions[color, 1] = cell
                cell = board.neighbors[cell, axis]
