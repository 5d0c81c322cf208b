"""Texts on positions of Taugo: the turn, the result, and the ruling that an illegal action breaks."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.games.taugo.lines import CORNER, NONE
from stoneworks.envs.rules.contract import Explanation
from stoneworks.envs.rules.game import Game
from stoneworks.envs.rules.state import State
from stoneworks.envs.rules.stones import BLACK, EMPTY, OFF_BOARD, WHITE

_HEADINGS = ("north", "east", "south", "west")


class TaugoTexts(Game):
    """Texts on positions of Taugo."""

    def describe_turn(self, state: State) -> str:
        """See :meth:`Game.describe_turn`."""
        record = state.record
        if record["last_stone"] == NONE:
            ends = " that ends the game" if record["consecutive_passes"] else ""
            return f"a stone, a line, or a pass{ends}"
        heading = "" if record["direction"] == NONE else f" heading {_HEADINGS[record['direction']]}"
        return f"the line{heading} goes on from {self.grid.cell_names[record['last_stone']]}, or ends"

    def shortcuts(self, state: State) -> list[tuple[int, ...]]:
        """Return every way to continue the line in progress by two or more stones (T5)."""
        found: list[tuple[int, ...]] = []
        player, end = state.current_player(), self.num_actions - 1
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

    def explain_result(self, state: State) -> Explanation:
        """See :meth:`Game.explain_result`: the parts of both scores (T9), and what the winner scores with."""
        record, outcome, score, board, words = state.record, state.outcome(), state.score(), self.board[0], []
        assert outcome is not None
        assert score is not None
        stones, strings = record["stones"], record["strings"]
        perimeter, edge = board["perimeter"] != 0, (board["on_board"] != 0) & (board["intersection"] == 0)
        num_strings = [len(np.unique(strings[stones == color])) for color in (BLACK, WHITE)]
        for color, code in enumerate((BLACK, WHITE)):
            _, lengths = np.unique(strings[perimeter & (stones == code)], return_counts=True)
            on_edge, fewer = int((edge & (stones == code)).sum()), num_strings[color] < num_strings[1 - color]
            on_perimeter = ", ".join(map(str, sorted(lengths.tolist(), reverse=True)))
            parts = [f"strings of {on_perimeter} on the perimeter"] * bool(on_perimeter)
            parts += [f"{on_edge} on the edge"] * bool(on_edge) + ["fewer strings"] * fewer
            words.append(f"{self.colors[color]} {score[color]:g} ({'; '.join(parts) or 'nothing'})")
        if outcome.winner is None:
            return Explanation(", ".join(words))
        scoring = (perimeter | edge) & (stones == 1 + state.color_of(outcome.winner))
        return Explanation(", ".join(words), tuple(np.flatnonzero(scoring).tolist()))

    def explain_illegal(self, state: State, action: int) -> str:
        """See :meth:`Game.explain_illegal`."""
        if state.is_terminal():
            return "T8: the game is over"
        plane, cell = divmod(action, self.grid.num_cells)
        name, heading, stones = self.grid.cell_names[cell], plane - 1, state.record["stones"]
        if stones[cell] == OFF_BOARD:
            return f"T1: {name} is off the board"
        if stones[cell] != EMPTY:
            return f"{'T4' if heading == NONE else 'T6'}: {name} is occupied"
        if problem := self._problem_of_line(state, cell, heading):
            return problem
        if heading != NONE:
            return self._problem_of_cut(state, cell, heading)
        if not self.board[0]["intersection"][cell]:
            return f"T7: {name} is an edge point, which only a cut fills"
        return f"T3: {name} would complete a square of 2 × 2"

    def _problem_of_line(self, state: State, cell: int, heading: int) -> str | None:
        """Return why a stone on ``cell`` does not continue the line in progress, if that is so."""
        last, direction = int(state.record["last_stone"]), int(state.record["direction"])
        if last == NONE:
            return None
        name, ways = self.grid.cell_names[last], [heading]
        if heading == NONE:
            ways = [way for way in range(4) if self.board[0]["neighbors"][last, way] == cell]
            if not ways:
                return f"T5: the next stone of the line goes next to {name}, or is a cut from there"
        if direction not in (NONE, *ways):
            return f"T5: the line heads {_HEADINGS[direction]}"
        if heading != NONE and self._behind(state, cell, heading)[1] not in (last, CORNER):
            return f"T5: a cut of the line starts from its last stone, {name}"
        return None

    def _behind(self, state: State, cell: int, heading: int) -> tuple[list[int], int]:
        """Return the run of enemy stones behind the end of a cut, and the friendly stone behind them; CORNER if there is none."""
        stones, neighbors = state.record["stones"], self.board[0]["neighbors"]
        own, run = state.current_player() + 1, []
        at = int(neighbors[cell, heading ^ 2])
        while stones[at] == 3 - own:
            run.append(at)
            at = int(neighbors[at, heading ^ 2])
        return run, at if stones[at] == own else CORNER

    def _problem_of_cut(self, state: State, cell: int, heading: int) -> str:
        names, record, neighbors = self.grid.cell_names, state.record, self.board[0]["neighbors"]
        run, friend = self._behind(state, cell, heading)
        if not run:
            return f"T6: a cut heading {_HEADINGS[heading]} to {names[cell]} has no enemy stone right behind its end"
        if friend == CORNER:
            return f"T6: behind the enemy stones before {names[cell]} there is no stone of the mover's"
        met = int((record["strings"][neighbors[cell]] == record["strings"][run[0]]).sum())
        if met != 1 and self.options["cut_point"] == "string":  # T10
            return f"T6(1): {names[cell]} is next to {met} stones of the string that would be cut, not to one"
        for stone in run:
            if (record["stones"][neighbors[stone]] == record["stones"][stone]).sum() < 2:
                return f"T6(2): {names[stone]} has fewer than two neighbors of its own color"
        return f"T6(3): the cut to {names[cell]} would complete a square of 2 × 2"
