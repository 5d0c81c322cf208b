"""Texts on positions of Laido."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.games.hexhex.texts import explain_groups, say_occupied, say_turn
from stoneworks.envs.games.laido.rules import BY_FIRST_PASS, pass_is_legal, swap_is_legal
from stoneworks.envs.rules.compiler.types import Record
from stoneworks.envs.rules.stones import BLACK, EMPTY, WHITE
from stoneworks.envs.rules.texts import Words, mark, say


def describe_turn(board: Record, state: Record, words: Words) -> None:
    """Say what the turn needs."""
    later = "a stone, a swap of colors, or a pass" if swap_is_legal(board, state) else "a stone, or a pass"
    say_turn(board, state, later if pass_is_legal(board, state) else "one stone", words)


def explain_result(board: Record, state: Record, words: Words) -> None:
    """Say which groups decided, the first hill that differs (L5), or who passed first (L6)."""
    if explain_groups(board, state, words):
        return
    if state.ending == BY_FIRST_PASS:
        say(words, "no groups of the same rank differ, and {color} passed first", state.winner ^ state.swapped)
        return
    for distance in range(board.num_cells):
        on_hill = np.nonzero(board.distance_from_center[: board.num_cells] == distance)[0]
        black, white = (state.stones[on_hill] == BLACK).sum(), (state.stones[on_hill] == WHITE).sum()
        if black != white:
            say(words, "no groups of the same rank differ; {number} black and {number} white stones", black, white)
            say(words, " at distance {number} from the center", distance)
            for cell in range(board.num_cells):
                if board.distance_from_center[cell] == distance and state.stones[cell] != EMPTY:
                    mark(words, cell)
            return
    say(words, "neither groups of the same rank nor hills differ")


def explain_illegal(board: Record, state: Record, action: int, words: Words) -> None:
    """Say which ruling forbids an action."""
    if state.ending:
        say(words, "L5: the game is over")
    elif action < board.num_cells:
        say_occupied(state, action, "L3: {cell}", words)
    elif action == board.num_cells:
        say(words, "L1: the first turn is a stone, not a pass")
    elif not board.pie_rule:
        say(words, "L2: without pie_rule there is no swap")
    else:
        say(words, "L1: only the answer to the first stone may be a swap")
