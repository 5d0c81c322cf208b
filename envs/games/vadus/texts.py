"""Texts on positions of Vadus."""

from __future__ import annotations

from stoneworks.envs.games.hexhex.texts import explain_groups, say_occupied, say_turn
from stoneworks.envs.rules.compiler.types import Record
from stoneworks.envs.rules.texts import Words, say


def describe_turn(board: Record, state: Record, words: Words) -> None:
    """Say what the turn needs."""
    later = "second of two stones" if state.second_stone else "first of two stones, or a pass"
    say_turn(board, state, later if state.num_stones > 0 else "one stone", words)


def explain_result(board: Record, state: Record, words: Words) -> None:
    """Say which groups decided, or that none did (V6)."""
    if not explain_groups(board, state, words):
        say(words, "no groups of the same rank differ in value")


def explain_illegal(board: Record, state: Record, action: int, words: Words) -> None:
    """Say which ruling forbids an action."""
    if state.ending:
        say(words, "V5: the game is over")
    elif action < board.num_cells:
        say_occupied(state, action, "V2: {cell}" if state.num_stones > 0 else "V1: {cell}", words)
    elif state.num_stones == 0:
        say(words, "V1: the first turn is a stone, not a pass")
    else:
        say(words, "V2: a pass replaces both stones of a turn, and one is placed")
