"""What Trugo says of itself: the turn, what is left, the result, and the ruling that an illegal action breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stoneworks.envs.rules.game import Explanation, Game
from stoneworks.envs.rules.trugo.position import MOVE, PICK, REMOVE, TrugoPosition

if TYPE_CHECKING:
    from stoneworks.envs.rules.state import State


def turn_text(game: Game, position: TrugoPosition) -> str:
    """See :meth:`Game.describe_turn`."""
    if position.picked is not None:
        kind, cell = position.picked
        return f"the destination of the piece on {game.grid.cell_names[cell]}{'^v'[kind]}"
    tile = "lay a tile" if position.pool else "remove a tile"
    return f"{tile}, or move a piece" if (position.top >= 0).any() else tile


def supplies_text(game: Game, position: TrugoPosition) -> str:
    """See :meth:`Game.describe_supplies`."""
    turns = f"turn {position.turns + 1} of at most {game.options['max_turns']}"
    if not position.pool:
        white, blue = ((position.top == color).sum() + (position.below == color).sum() for color in (0, 1))
        return f"waning phase (tiles are removed), pieces on the board: {white} White, {blue} Blue; {turns}"
    white, blue = position.reserve
    return (
        f"waxing phase (tiles are added), tiles in the pool: {position.pool}; "
        f"pieces in reserve: {white} White, {blue} Blue; {turns}"
    )


def result(state: State, position: TrugoPosition) -> Explanation:
    """See :meth:`Game.explain_result` (R8, R9)."""
    game, outcome = state.game, state.outcome()
    assert outcome is not None
    if outcome.winner is None:
        return Explanation(f"no winner in {position.turns} turns")
    kinds, cells = np.nonzero((position.top == outcome.winner) | (position.below == outcome.winner))
    loser = game.colors[1 - outcome.winner]
    text = (
        f"{loser} has no piece left"
        if len(cells)
        else "the last pieces of both players left in one turn of the winner's"
    )
    return Explanation(text, tuple(((PICK + kinds) * game.grid.num_cells + cells).tolist()))


def illegal(state: State, position: TrugoPosition, action: int) -> str | None:
    """See :meth:`Game.explain_illegal`."""
    plane, cell = divmod(action, state.game.grid.num_cells)
    if state.is_terminal():
        return "R8: the game is over" if not state.is_truncated() else "R9: the game is over"
    if position.picked is not None:
        kind, start = position.picked
        if plane < MOVE:
            return f"R5: the piece on {state.game.grid.cell_names[start]}{'^v'[kind]} is picked; choose its destination"
        return _problem_of_destination(state, position, plane - MOVE, cell)
    if plane >= MOVE:
        return "R5: first pick the piece to move"
    if plane >= PICK:
        return _problem_of_pick(state, position, plane - PICK, cell)
    return _problem_of_tile(state, position, cell, lays=plane < REMOVE)


def _problem_of_tile(state: State, position: TrugoPosition, cell: int, *, lays: bool) -> str | None:
    grid, has_tile = state.game.grid, position.tiles >= 0
    name, ruling = grid.cell_names[cell], "R3" if lays else "R4"
    around = [neighbor >= 0 and bool(has_tile[neighbor]) for neighbor in grid.neighbors[cell]]
    if lays != (position.pool > 0):
        return "R4: the pool is empty" if lays else "R4: no tile is removed while there are tiles in the pool"
    if not grid.on_board[cell]:
        return f"{ruling}: {name} is outside the window"
    if lays == bool(has_tile[cell]):
        return f"{ruling}: {name} has {'a' if lays else 'no'} tile"
    if lays:
        if not has_tile.any():
            first = grid.num_cells // 2
            return None if cell == first else f"R3: the first tile goes to {grid.cell_names[first]}"
        return None if any(around) else f"R3: {name} is next to no tile"
    if not any(not (around[side] or around[side - 1] or around[side - 2]) for side in range(6)):
        return f"R4: {name} has no three consecutive empty neighbors"
    return (
        None
        if state.legal_actions_mask()[REMOVE * grid.num_cells + cell]
        else f"R4: without {name} the tiles would fall apart"
    )


def _problem_of_pick(state: State, position: TrugoPosition, kind: int, cell: int) -> str | None:
    grid, player = state.game.grid, state.current_player()
    name = f"{grid.cell_names[cell]}{'^v'[kind]}"
    if position.top[kind, cell] < 0:
        return f"R5: there is no piece on {name}"
    if position.top[kind, cell] != player:
        if position.below[kind, cell] == player:
            return f"R5: the piece on {name} is pinned"
        return f"R5: the piece on {name} is the opponent's"
    is_legal = state.legal_actions_mask()[(PICK + kind) * grid.num_cells + cell]
    return None if is_legal else f"R5: the piece on {name} has no destination"


def _problem_of_destination(state: State, position: TrugoPosition, kind: int, cell: int) -> str | None:
    game = state.game
    name = f"{game.grid.cell_names[cell]}{'^v'[kind]}"
    if position.picked == (kind, cell):
        return f"R6: the piece stands on {name} already"
    if not position.junctions[kind, cell]:
        return f"R6: {name} is no corner where three tiles meet"
    if position.below[kind, cell] >= 0:
        return f"R6: {name} has two pieces, the most that a stack has"
    if position.top[kind, cell] >= 0 and not game.options["stacking"]:
        return f"R6: {name} has a piece, and stacking is off"
    is_legal = state.legal_actions_mask()[(MOVE + kind) * game.grid.num_cells + cell]
    return None if is_legal else f"R6: no slide or step leads to {name}"
