"""Strings: connected stones of one color, updated incrementally when stones are placed and flipped (T2).

``state.strings`` labels each stone with the lowest cell of its string, and every other cell with ``NO_STRING``. Testing whether
two stones belong to the same string is one comparison, and equal positions have equal labels.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Record

#: Label of a cell without a stone.
NO_STRING = 0xFFFF
_VISITED = 0xFFFE


@kernel
def relabel(board: Record, state: Record, old: int, new: int) -> None:
    """Replace the label of a string."""
    # All labels are written, so that the compiler vectorizes the loop.
    strings = state.strings
    old_label, new_label = np.uint16(old), np.uint16(new)
    for cell in range(board.num_cells):
        label = strings[cell]
        strings[cell] = new_label if label == old_label else label


@kernel
def join_strings(board: Record, state: Record, cell: int) -> None:
    """Label the new stone on ``cell`` and merge the strings that it connects."""
    color = state.stones[cell]
    label = cell
    for direction in range(4):
        neighbor = board.neighbors[cell, direction]
        if state.stones[neighbor] == color:
            label = min(label, state.strings[neighbor])
    state.strings[cell] = label
    for direction in range(4):
        neighbor = board.neighbors[cell, direction]
        joined = state.strings[neighbor]
        if state.stones[neighbor] == color and joined != label and joined != NO_STRING:
            relabel(board, state, joined, label)


@kernel
def split_string(board: Record, state: Record, label: int, removed: int, direction: int, num_removed: int) -> None:
    """Relabel the remaining parts of the string ``label``.

    ``num_removed`` stones, starting at the cell ``removed`` in ``direction``, have been removed and unlabeled.
    """
    part = np.empty(board.num_cells, np.int16)
    for _ in range(num_removed):
        for side in range(4):
            start = board.neighbors[removed, side]
            if state.strings[start] != label:
                continue
            state.strings[start] = _VISITED
            part[0] = start
            size = 1
            done = 0
            smallest = start
            while done < size:
                stone = part[done]
                done += 1
                for onward in range(4):
                    neighbor = board.neighbors[stone, onward]
                    if state.strings[neighbor] == label:
                        state.strings[neighbor] = _VISITED
                        part[size] = neighbor
                        size += 1
                        smallest = min(smallest, neighbor)
            for index in range(size):
                state.strings[part[index]] = smallest
        removed = board.neighbors[removed, direction]
