"""What Taugo says of itself: the turn, the result, and the ruling that an illegal action breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.game import Explanation
from stoneworks.envs.rules.stones import BLACK, EMPTY, OFF_BOARD, WHITE
from stoneworks.envs.rules.taugo.lines import CORNER, NONE

if TYPE_CHECKING:
    from stoneworks.envs.rules.state import State

_HEADINGS = ("north", "east", "south", "west")


def turn_text(state: State) -> str:
    """See :meth:`Game.describe_turn`."""
    record = state.record
    if record["last_stone"] == NONE:
        ends = " that ends the game" if record["consecutive_passes"] else ""
        return f"a stone, a line, or a pass{ends}"
    heading = "" if record["direction"] == NONE else f" heading {_HEADINGS[record['direction']]}"
    return f"the line{heading} goes on from {state.game.grid.cell_names[record['last_stone']]}, or ends"


def longer_lines(state: State) -> list[tuple[int, ...]]:
    """Return every way to continue the line in progress by two or more stones (T5)."""
    found: list[tuple[int, ...]] = []
    player, end = state.current_player(), state.game.num_actions - 1
    for first in state.legal_actions() if state.record["last_stone"] != NONE else ():
        line: list[int] = []
        after = state.clone()
        further = [first] * (first != end)
        while further:  # at most one, since the direction is that of the first
            after.apply_action(further[0])
            line.append(further[0])
            further = [action for action in after.legal_actions(player) if action != end]
            found += [tuple(line)] * (len(line) > 1)
    return found


def result(state: State) -> Explanation:
    """See :meth:`Game.explain_result`: the parts of both scores (T9), and what the winner scores with."""
    game, record, outcome = state.game, state.record, state.outcome()
    assert outcome is not None
    stones, strings, board = record["stones"], record["strings"], game.board[0]
    perimeter, edge = board["perimeter"] != 0, (board["on_board"] != 0) & (board["intersection"] == 0)
    score, words = state.score(), []
    assert score is not None
    num_strings = [len(np.unique(strings[stones == color])) for color in (BLACK, WHITE)]
    for color, code in enumerate((BLACK, WHITE)):
        _, lengths = np.unique(strings[perimeter & (stones == code)], return_counts=True)
        on_edge, fewer = int((edge & (stones == code)).sum()), num_strings[color] < num_strings[1 - color]
        parts = [f"strings of {', '.join(map(str, sorted(lengths.tolist(), reverse=True)))} on the perimeter"] * bool(
            len(lengths)
        )
        parts += [f"{on_edge} on the edge"] * bool(on_edge) + ["fewer strings"] * fewer
        words.append(f"{game.colors[color]} {score[color]:g} ({'; '.join(parts) or 'nothing'})")
    if outcome.winner is None:
        return Explanation(", ".join(words))
    scoring = (perimeter | edge) & (stones == 1 + state.color_of(outcome.winner))
    return Explanation(", ".join(words), tuple(np.flatnonzero(scoring).tolist()))


def illegal(state: State, action: int) -> str | None:
    """See :meth:`Game.explain_illegal`."""
    game, record, board = state.game, state.record, state.game.board[0]
    if state.is_terminal():
        return "T8: the game is over"
    if action == game.num_actions - 1:
        return None
    plane, cell = divmod(action, game.grid.num_cells)
    name, heading, stones = game.grid.cell_names[cell], plane - 1, record["stones"]
    if stones[cell] == OFF_BOARD:
        return f"T1: {name} is off the board"
    if stones[cell] != EMPTY:
        return f"{'T4' if heading == NONE else 'T6'}: {name} is occupied"
    last, direction = int(record["last_stone"]), int(record["direction"])
    if last != NONE and (problem := _problem_of_line(state, cell, heading, last, direction)):
        return problem
    if heading != NONE:
        return _problem_of_cut(state, cell, heading)
    if not board["intersection"][cell]:
        return f"T7: {name} is an edge point, which only a cut fills"
    return f"T3: {name} would complete a square of 2 × 2" if _makes_knot(state, [cell]) else None


def _problem_of_line(state: State, cell: int, heading: int, last: int, direction: int) -> str | None:
    """Return why a stone on ``cell`` does not continue the line in progress, if that is so."""
    names, board = state.game.grid.cell_names, state.game.board[0]
    if heading != NONE and direction not in (NONE, heading):
        return f"T5: the line heads {_HEADINGS[direction]}"
    if heading == NONE:
        ways = [way for way in range(4) if board["neighbors"][last, way] == cell]
        if not ways:
            return f"T5: the next stone of the line goes next to {names[last]}, or is a cut from there"
        if direction not in (NONE, *ways):
            return f"T5: the line heads {_HEADINGS[direction]}"
    elif _behind(state, cell, heading)[1] not in (last, CORNER):
        return f"T5: a cut of the line starts from its last stone, {names[last]}"
    return None


def _behind(state: State, cell: int, heading: int) -> tuple[list[int], int]:
    """Return the run of enemy stones behind the end of a cut, and the friendly stone behind them; CORNER if there is none."""
    stones, neighbors = state.record["stones"], state.game.board[0]["neighbors"]
    own, run = state.current_player() + 1, []
    at = int(neighbors[cell, heading ^ 2])
    while stones[at] == 3 - own:
        run.append(at)
        at = int(neighbors[at, heading ^ 2])
    return run, at if stones[at] == own else CORNER


def _problem_of_cut(state: State, cell: int, heading: int) -> str | None:
    names, record, neighbors = state.game.grid.cell_names, state.record, state.game.board[0]["neighbors"]
    run, friend = _behind(state, cell, heading)
    if not run:
        return f"T6: a cut heading {_HEADINGS[heading]} to {names[cell]} has no enemy stone right behind its end"
    if friend == CORNER:
        return f"T6: behind the enemy stones before {names[cell]} there is no stone of the mover's"
    met = int((record["strings"][neighbors[cell]] == record["strings"][run[0]]).sum())
    if met != 1:
        return f"T6(1): {names[cell]} is next to {met} stones of the string that would be cut, not to one"
    for stone in run:
        if (record["stones"][neighbors[stone]] == record["stones"][stone]).sum() < 2:
            return f"T6(2): {names[stone]} has fewer than two neighbors of its own color"
    if _makes_knot(state, [cell, *run]):
        return f"T6(3): the cut to {names[cell]} would complete a square of 2 × 2"
    return None


def _makes_knot(state: State, new: list[int]) -> bool:
    """Return whether stones of the mover's on ``new`` would leave a knot (T3)."""
    width, inside = state.game.grid.width, state.game.board[0]["intersection"] != 0
    own: npt.NDArray[Any] = (state.record["stones"] == state.current_player() + 1) & inside
    own[[cell for cell in new if inside[cell]]] = True
    on_grid = own[: state.game.grid.num_cells].reshape(-1, width)
    return bool((on_grid[1:, 1:] & on_grid[1:, :-1] & on_grid[:-1, 1:] & on_grid[:-1, :-1]).any())
