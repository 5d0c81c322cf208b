"""Texts on positions of Vadus and Laido."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.games.hexhex import walls
from stoneworks.envs.games.hexhex.groups import group_values
from stoneworks.envs.games.hexhex.walls import grow_arms, label_groups
from stoneworks.envs.rules.compiler.types import Record
from stoneworks.envs.rules.stones import OFF_BOARD
from stoneworks.envs.rules.texts import Words, mark, say


def say_turn(board: Record, state: Record, text: str, words: Words) -> None:
    """Say what the player to move may do: ``text``, of which a pass is the last, unless the board is full."""
    say(words, "the board is full: a pass" if state.num_stones == board.on_board.sum() else text)
    if state.consecutive_passes:
        say(words, " that ends the game")


def say_occupied(state: Record, cell: int, text: str, words: Words) -> None:
    """Say what forbids a stone on ``cell``, after ``text``."""
    say(words, text, cell)
    say(words, " is off the board" if state.stones[cell] == OFF_BOARD else " is occupied")


def explain_groups(board: Record, state: Record, words: Words) -> bool:
    """Say which rank of groups is the first that differs, and return whether there is one (V6, L5)."""
    values = np.empty((2, board.num_cells), np.int16)
    for rank in range(min(group_values(board, state.stones, values))):
        if values[0, rank] != values[1, rank]:
            best = "the best group decides: "
            other = "the group of rank {number}, the first that differs, decides: "
            say(words, other if rank > 0 else best, rank + 1)
            for color in range(2):
                decides = values[color, rank] > values[1 - color, rank]
                say(words, ", {color}'s " if color > 0 else "{color}'s ", color)
                say_group(board, state, color + 1, values[color, rank], decides, words)
            return True
    return False


def say_group(board: Record, state: Record, own: int, value: int, decides: bool, words: Words) -> None:
    """Say where a group with this value is, and what it is worth (V4); mark its path, or all of it, if it decides."""
    work = np.empty((walls.NUM_ROWS, board.num_cells + 1), np.int16)
    groups = np.empty((walls.NUM_GROUP_ROWS, board.num_cells), np.int16)
    group_of, order, parent = work[walls.GROUP], work[walls.ORDER], work[walls.PARENT]
    origin, lengths = work[walls.ORIGIN], work[walls.LENGTH]
    num_groups = label_groups(board, state.stones, own, work, groups)
    num_found = grow_arms(board, state.stones, own, work, groups)
    for group in range(num_groups):
        length, size, left, right = 0, groups[walls.SIZE, group], -1, -1
        for place in range(num_found if groups[walls.NUM_EDGE_STONES, group] > 1 else 0):
            cell = order[place]
            for direction in range(6):
                neighbor = board.neighbors[cell, direction]
                is_own = state.stones[cell] == own and state.stones[neighbor] == own
                if is_own and group_of[cell] == group and origin[cell] != origin[neighbor]:
                    through = lengths[cell] + lengths[neighbor]
                    if length == 0 or through < length:
                        length, left, right = through, cell, neighbor
        if 2 * length - size != value:
            continue
        first = last = -1
        if length > 0:
            first, last = origin[left], origin[right]
        for cell in range(board.num_cells):
            is_shown = length == 0 and group_of[cell] == group
            if is_shown:
                first, last = cell if first < 0 else first, cell
            if is_shown and decides:
                mark(words, cell)
        for end in (left, right):
            while end >= 0 and decides:
                mark(words, end)
                end = parent[end]
        say(words, "{cell}–{cell}" if first != last else "{cell}", first, last)
        say(
            words,
            " is worth {number} (path of {number}, " if length > 0 else " is worth {number} (no path, ",
            value,
            length,
        )
        say(words, "{number} extra)", size - length)
        return
