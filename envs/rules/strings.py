"""Strings: which stones of one colour are connected (T2), kept up to date while stones are placed and flipped.

``state.strings`` labels each stone with the least cell of its string, and every other cell with ``NO_STRING``. So two points belong to
one string where their labels are equal, and the labels are a function of the position: equal positions are equal records.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import Record, kernel

#: The label of a cell without a stone.
NO_STRING = 0xFFFF
_VISITED = 0xFFFE


@kernel
def join_string(board: Record, state: Record, cell: int) -> None:
    """Label ``cell``, whose stone is new there: its string is joined with the strings of its neighbours of one colour."""
    colour = state.stones[cell]
    label = cell
    for direction in range(4):
        neighbour = board.neighbours[cell, direction]
        if state.stones[neighbour] == colour and state.strings[neighbour] < label:
            label = np.int64(state.strings[neighbour])
    state.strings[cell] = label
    for direction in range(4):
        neighbour = board.neighbours[cell, direction]
        old = state.strings[neighbour]
        if state.stones[neighbour] == colour and old != label and old != NO_STRING:
            for other in range(board.num_cells):
                if state.strings[other] == old:
                    state.strings[other] = label


@kernel
def split_string(board: Record, state: Record, label: int, removed: int, direction: int, num_removed: int) -> None:
    """Label anew what is left of the string ``label`` without ``num_removed`` stones in a line from ``removed``.

    The removed stones have another colour already, and no label.
    """
    members = np.empty(board.num_cells, np.int16)
    for _ in range(num_removed):
        for side in range(4):
            start = board.neighbours[removed, side]
            if state.strings[start] != label:
                continue
            members[0] = start
            state.strings[start] = _VISITED
            size = 1
            done = 0
            least = np.int64(start)
            while done < size:
                stone = members[done]
                done += 1
                for onward in range(4):
                    neighbour = board.neighbours[stone, onward]
                    if state.strings[neighbour] == label:
                        state.strings[neighbour] = _VISITED
                        members[size] = neighbour
                        size += 1
                        least = min(least, np.int64(neighbour))
            for index in range(size):
                state.strings[members[index]] = least
        removed = board.neighbours[removed, direction]
