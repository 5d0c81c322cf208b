"""Texts on positions of Taigo."""

from __future__ import annotations

from stoneworks.envs.games.taigo.rules import DARK, DARK_CONE_PLANE, HOLE, LAST_TILE, NO_PLACE, is_occupied, kind_of
from stoneworks.envs.rules.compiler.types import Record
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.envs.rules.grid import NO_NEIGHBOR
from stoneworks.envs.rules.texts import Words, mark, say


def say_holes(board: Record, state: Record, words: Words) -> None:
    """Say which holes are filled now (G4)."""
    is_first = True
    for cell in range(board.num_cells):
        if state.cells[cell] == HOLE:
            say(words, "{cell}" if is_first else " or {cell}", cell)
            is_first = False


def describe_turn(board: Record, state: Record, words: Words) -> None:
    """Say what the turn needs."""
    if state.holes_to_fill:
        say(words, "a cone for the hole at ")
        say_holes(board, state, words)
    else:
        say(words, "a tile")


def describe_supplies(board: Record, state: Record, words: Words) -> None:
    """Say the tiles and cones that are left."""
    dark, light = state.cones_left[0], state.cones_left[1]
    say(words, "tiles left: {number}; cones left: {number} dark, {number} light", state.tiles_left, dark, light)


def explain_result(board: Record, state: Record, words: Words) -> None:
    """Say the rows of five of the winner's color (G5), which decided, or why it is a draw (G5, G6)."""
    if state.winner == NO_WINNER:
        say(
            words,
            "the last tile has been placed" if state.ending == LAST_TILE else "the window has no place for a tile",
        )
        return
    kind, is_first = DARK + state.winner, True
    for axis in range(3):
        for start in range(board.num_cells):
            before, length, end, cell = board.neighbors[start, axis + 3], 0, start, start
            if before == NO_NEIGHBOR or kind_of(state.cells[before]) != kind:
                while cell != NO_NEIGHBOR and kind_of(state.cells[cell]) == kind:
                    length, end, cell = length + 1, cell, board.neighbors[cell, axis]
            if length >= 5:
                say(words, "{number} in a row at " if is_first else " and ", length)
                say(words, "{cell}–{cell}", start, end)
                is_first = False
                while end != before:
                    mark(words, DARK_CONE_PLANE * board.num_cells + end)
                    end = board.neighbors[end, axis + 3]
    if state.five[0] and state.five[1]:
        say(words, "; the opponent's row comes before the mover's own")


def explain_illegal(board: Record, state: Record, action: int, words: Words) -> None:
    """Say which ruling forbids an action."""
    plane, cell = action // board.num_cells, action % board.num_cells
    if state.ending:
        say(words, "G6: the game is over" if state.ending == NO_PLACE else "G5: the game is over")
    elif plane >= DARK_CONE_PLANE:
        if not state.holes_to_fill or state.cells[cell] != HOLE:
            say(words, "G4: {cell} is not a hole made by a tile of this turn", cell)
        else:
            say(words, "G4: no dark cone is left" if plane == DARK_CONE_PLANE else "G4: no light cone is left")
    elif state.holes_to_fill:
        say(words, "G4: first a cone fills the hole at ")
        say_holes(board, state, words)
    elif board.neighbors[cell, plane] == NO_NEIGHBOR:
        say(words, "G2: a half of the tile is outside the window")
    else:
        other = board.neighbors[cell, plane]
        if is_occupied(state.cells[cell]) or is_occupied(state.cells[other]):
            say(words, "G2: {cell} is occupied", cell if is_occupied(state.cells[cell]) else other)
        else:
            say(words, "G2: neither {cell} nor {cell} is next to an occupied hex", cell, other)
