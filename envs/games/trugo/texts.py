"""Texts on positions of Trugo."""

from __future__ import annotations

from stoneworks.envs.games.trugo import plane
from stoneworks.envs.games.trugo.pieces import destination_action, has_destination
from stoneworks.envs.games.trugo.plane import corner_code, has_tile, has_top, tiles_around
from stoneworks.envs.games.trugo.position import MOVE, NOTHING_PICKED, PICK, REMOVE
from stoneworks.envs.rules.compiler.types import Record
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.envs.rules.texts import Words, mark, say


def pick_of(board: Record, corner: int) -> int:
    """Return the action that picks the piece on a corner; its text is the name of the corner."""
    return destination_action(board, corner, PICK * board.num_cells)


def is_piece_of(code: int, color: int) -> bool:
    """Return whether a piece of ``color`` stands on a corner with this code, on top or below."""
    return has_top(code, color) or (code >= plane.DOUBLE and (code >> 1 & 1) == color)


def describe_turn(board: Record, state: Record, words: Words) -> None:
    """Say what the turn needs."""
    if state.picked != NOTHING_PICKED:
        say(words, "the destination of the piece on {action}", pick_of(board, state.picked))
        return
    has_tile_turn, can_move = state.targets.any(), False
    for hex_ in board.hex_of_cell[: board.num_cells]:
        tops = board.tops_in_contents[state.current_player, state.contents[hex_]]
        for kind in range(2):
            can_move |= (tops >> kind & 1) != 0 and has_destination(board, state, 2 * hex_ + kind)
    if has_tile_turn:
        say(words, "lay a tile" if state.pool > 0 else "remove a tile")
    if can_move:
        say(words, ", or move a piece" if has_tile_turn else "move a piece")


def describe_supplies(board: Record, state: Record, words: Words) -> None:
    """Say the phase, the tiles and pieces that are left, and the number of the turn."""
    if state.pool > 0:
        say(words, "waxing phase (tiles are added), tiles in the pool: {number}; pieces in reserve", state.pool)
        white, blue = state.reserve[0], state.reserve[1]
    else:
        say(words, "waning phase (tiles are removed), pieces on the board")
        white, blue = state.num_pieces[0], state.num_pieces[1]
    turn = state.turns + 1
    say(words, ": {number} White, {number} Blue; turn {number} of at most {number}", white, blue, turn, board.max_turns)


def explain_result(board: Record, state: Record, words: Words) -> None:
    """Say who has no piece left (R8), or that there is no winner (R9); the winner's pieces decided."""
    if state.winner == NO_WINNER:
        say(words, "no winner in {number} turns", state.turns)
        return
    if state.num_pieces[state.winner] > 0:
        say(words, "{color} has no piece left", 1 - state.winner)
    else:
        say(words, "neither player has a piece left after the winner's turn")
    for kind in range(2):
        for cell in range(board.num_cells):
            if is_piece_of(corner_code(state, 2 * board.hex_of_cell[cell] + kind), state.winner):
                mark(words, (PICK + kind) * board.num_cells + cell)


def explain_illegal(board: Record, state: Record, action: int, words: Words) -> None:
    """Say which ruling forbids an action."""
    action_plane, cell = action // board.num_cells, action % board.num_cells
    kind = (action_plane - PICK) % 2
    corner, name = 2 * board.hex_of_cell[cell] + kind, (PICK + kind) * board.num_cells + cell  # if there is a corner
    if state.ending:
        say(words, "R9: the game is over" if state.truncated else "R8: the game is over")
    elif state.picked == NOTHING_PICKED and action_plane >= MOVE:
        say(words, "R5: first pick the piece to move")
    elif action_plane >= MOVE:
        explain_destination(board, state, corner, name, words)
    elif state.picked != NOTHING_PICKED:
        piece = pick_of(board, state.picked)
        say(words, "R5: the piece on {action} is picked; choose its destination", piece)
    elif action_plane >= PICK:
        explain_pick(state, corner, name, words)
    else:
        explain_tile(board, state, cell, action_plane < REMOVE, words)


def explain_tile(board: Record, state: Record, cell: int, lays: bool, words: Words) -> None:
    """Say why no tile may be laid on ``cell`` (R3), or why the one there may not be removed (R4)."""
    hex_ = board.hex_of_cell[cell]
    if lays != (state.pool > 0):
        say(words, "R4: the pool is empty" if lays else "R4: no tile is removed while there are tiles in the pool")
    elif board.cell_of_hex[hex_] < 0:
        say(words, "R3: {cell} is outside the window" if lays else "R4: {cell} is outside the window", cell)
    elif lays == has_tile(state, hex_):
        say(words, "R3: {cell} has a tile" if lays else "R4: {cell} has no tile", cell)
    elif state.pool == board.num_tiles:
        say(words, "R3: the first tile goes to {cell}", board.num_cells // 2)
    elif lays:
        say(words, "R3: {cell} is not next to a tile", cell)
    elif board.removal_by_surroundings[tiles_around(board, state, hex_)] == 0:
        say(words, "R4: {cell} has no three consecutive empty neighbors", cell)
    else:
        say(words, "R4: without {cell} the tiles would fall apart", cell)


def explain_pick(state: Record, corner: int, name: int, words: Words) -> None:
    """Say why no piece may be picked on a corner, which the action ``name`` is called after (R5)."""
    code = corner_code(state, corner)
    if code < plane.SINGLE:
        say(words, "R5: there is no piece on {action}", name)
    elif has_top(code, state.current_player):
        say(words, "R5: the piece on {action} has no destination", name)
    elif is_piece_of(code, state.current_player):
        say(words, "R5: the piece on {action} is pinned", name)
    else:
        say(words, "R5: the piece on {action} is the opponent's", name)


def explain_destination(board: Record, state: Record, corner: int, name: int, words: Words) -> None:
    """Say why the picked piece may not land on a corner (R6)."""
    code = corner_code(state, corner)
    if corner == state.picked:
        say(words, "R6: the piece stands on {action} already", name)
    elif code == plane.NO_JUNCTION:
        say(words, "R6: {action} is not a corner where three tiles meet", name)
    elif code >= plane.DOUBLE:
        say(words, "R6: {action} has two pieces, the most that a stack has", name)
    elif code >= plane.SINGLE and board.highest_landing == plane.EMPTY_JUNCTION:
        say(words, "R6: {action} has a piece, and stacking is off", name)
    else:
        say(words, "R6: no slide or step leads to {action}", name)
