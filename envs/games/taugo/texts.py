"""Texts on positions of Taugo."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.games.taugo.lines import CORNER, NONE
from stoneworks.envs.games.taugo.rules import scores
from stoneworks.envs.rules.compiler.types import Record
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.envs.rules.stones import EMPTY, OFF_BOARD
from stoneworks.envs.rules.texts import Words, mark, say

_HEADINGS = (" north", " east", " south", " west")


def describe_turn(board: Record, state: Record, words: Words) -> None:
    """Say what the turn needs."""
    if state.last_stone == NONE:
        say(words, "a stone, a line, or a pass")
        if state.consecutive_passes:
            say(words, " that ends the game")
        return
    say(words, "the line")
    if state.direction != NONE:
        say(words, " heading")
        say(words, _HEADINGS[state.direction])
    say(words, " goes on from {cell}, or ends", state.last_stone)


def explain_result(board: Record, state: Record, words: Words) -> None:
    """Say the parts of both scores (T9); what the winner scores with decided."""
    points = scores(board, state)
    for color in range(2):
        has_half = points[color] % 1 > 0  # for fewer strings
        say(words, "{color} {number}.5 (" if has_half else "{color} {number} (", color, int(points[color]))
        say_parts(board, state, color + 1, has_half, words)
        say(words, "), " if color == 0 else ")")
    for cell in range(board.num_cells):
        is_winners = state.winner != NO_WINNER and state.stones[cell] == 1 + state.winner
        if is_winners and (board.perimeter[cell] or not board.intersection[cell]):
            mark(words, cell)


def say_parts(board: Record, state: Record, stone: int, has_fewer_strings: bool, words: Words) -> None:
    """Say what a color scores with."""
    lengths = np.zeros(board.num_cells, np.int64)  # of the part of each string that is on the perimeter
    num_on_edge = 0
    for cell in range(board.num_cells):
        if state.stones[cell] == stone:
            if board.perimeter[cell]:
                lengths[state.strings[cell]] += 1
            elif not board.intersection[cell]:
                num_on_edge += 1
    is_first = True
    while lengths.any():
        longest = lengths.argmax()
        say(words, "strings of {number}" if is_first else ", {number}", lengths[longest])
        lengths[longest] = 0
        is_first = False
    if not is_first:
        say(words, " on the perimeter")
    if num_on_edge > 0:
        say(words, "{number} on the edge" if is_first else "; {number} on the edge", num_on_edge)
        is_first = False
    if has_fewer_strings:
        say(words, "fewer strings" if is_first else "; fewer strings")
    elif is_first:
        say(words, "nothing")


def explain_illegal(board: Record, state: Record, action: int, words: Words) -> None:
    """Say which ruling forbids an action."""
    heading, cell = action // board.num_cells - 1, action % board.num_cells
    if state.ending:
        say(words, "T8: the game is over")
    elif state.stones[cell] == OFF_BOARD:
        say(words, "T1: {cell} is off the board", cell)
    elif state.stones[cell] != EMPTY:
        say(words, "T4: {cell} is occupied" if heading == NONE else "T6: {cell} is occupied", cell)
    elif state.last_stone != NONE and explain_line(board, state, cell, heading, words):
        return
    elif heading != NONE:
        explain_cut(board, state, cell, heading, words)
    elif not board.intersection[cell]:
        say(words, "T7: {cell} is an edge point, which only a cut fills", cell)
    else:
        say(words, "T3: {cell} would complete a square of 2 × 2", cell)


def explain_line(board: Record, state: Record, cell: int, heading: int, words: Words) -> bool:
    """Say why a stone on ``cell`` does not continue the line in progress, and return whether that is so (T5)."""
    way = heading
    for direction in range(4):
        if heading == NONE and board.neighbors[state.last_stone, direction] == cell:
            way = direction
    if way == NONE:
        say(words, "T5: the next stone of the line goes next to {cell}, or is a cut from there", state.last_stone)
    elif state.direction != NONE and state.direction != way:
        say(words, "T5: the line heads")
        say(words, _HEADINGS[state.direction])
    elif heading != NONE and state.last_stone != stone_behind(board, state, cell, heading) != CORNER:
        say(words, "T5: a cut of the line starts from its last stone, {cell}", state.last_stone)
    else:
        return False
    return True


def stone_behind(board: Record, state: Record, cell: int, heading: int) -> int:
    """Return the stone of the mover behind the enemy stones behind ``cell``; CORNER if there is none."""
    at = board.neighbors[cell, heading ^ 2]
    while state.stones[at] == 2 - state.current_player:
        at = board.neighbors[at, heading ^ 2]
    return at if state.stones[at] == 1 + state.current_player else CORNER


def explain_cut(board: Record, state: Record, cell: int, heading: int, words: Words) -> None:
    """Say why a cut that ends on ``cell`` is illegal (T6)."""
    at, enemy = board.neighbors[cell, heading ^ 2], 2 - state.current_player
    if state.stones[at] != enemy:
        say(words, "T6: a cut heading")
        say(words, _HEADINGS[heading])
        say(words, " to {cell} has no enemy stone right behind its end", cell)
        return
    if stone_behind(board, state, cell, heading) == CORNER:
        say(words, "T6: behind the enemy stones before {cell} there is no stone of the mover's", cell)
        return
    met = (state.strings[board.neighbors[cell]] == state.strings[at]).sum()
    if met != 1 and not board.run_suffices:  # T10
        say(words, "T6(1): {cell} is next to {number} stones of the string that would be cut, not to one", cell, met)
        return
    while state.stones[at] == enemy:
        if (state.stones[board.neighbors[at]] == enemy).sum() < 2:
            say(words, "T6(2): {cell} has fewer than two neighbors of its own color", at)
            return
        at = board.neighbors[at, heading ^ 2]
    say(words, "T6(3): the cut to {cell} would complete a square of 2 × 2", cell)
