"""Vadus against a program of its own: all positions of a board, from the full ones back to the empty one."""

from __future__ import annotations

import os
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest

from game_play import uniform_game
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.models.solved_game import shipped_solutions
from stoneworks.models.solver import Solver

# A position is the sum of 3^point * color. Its byte holds results for player 0 plus 1, two bits each. An even number of stones:
# of the player 0 or 1 with one more stone to place (V2). An odd one: at the start of a turn, by player and whether the
# other one has passed.
SECOND_STONE = (0, 2)
NOT_PASSED, PASSED = (0, 4), (2, 6)


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def around(points: int, neighbors: Any) -> int:
    found = points
    for point in range(len(neighbors)):
        if points >> point & 1:
            found |= neighbors[point]
    return found


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def values_of(stones: int, neighbors: Any, edge: int) -> int:
    """Return the group values of a set of stones, the best in the highest byte, plus 64 (V3, V4, V6)."""
    packed, shift = 0, 48
    for value in range(len(neighbors), -len(neighbors) - 1, -1):
        left = stones
        while left:
            group = left & -left
            while around(group, neighbors) & left != group:
                group = around(group, neighbors) & left
            left &= ~group
            shortest = 0
            for start in range(len(neighbors)):
                reached, length = group & edge & 1 << start, 1
                while reached and reached & edge & ~(1 << start) == 0 and around(reached, neighbors) & group != reached:
                    reached, length = around(reached, neighbors) & group, length + 1
                if reached & edge & ~(1 << start) and (shortest == 0 or length < shortest):
                    shortest = length
            size = 0
            for point in range(len(neighbors)):
                size += group >> point & 1
            if 2 * shortest - size == value:
                packed |= value + 64 << shift
                shift -= 8
    return packed


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def result_of(black: int, white: int) -> int:
    """Return the result for player 0 of the group values of both, plus 1 (V6)."""
    for shift in range(48, -1, -8):
        ours, theirs = black >> shift & 255, white >> shift & 255
        if ours == 0 or theirs == 0:
            return 1
        if ours != theirs:
            return 2 if ours > theirs else 0
    return 1


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def best_stone(results: Any, position: int, powers: Any, player: int, shift: int) -> int:
    """Return the result of the best stone of ``player``, the worst possible if there is none."""
    best = 2 * player
    for power in powers:
        if best == 2 - 2 * player:
            break
        found = results[position + power * (player + 1)] >> shift & 3
        best = min(best, found) if player else max(best, found)
    return best


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def results_of_all(neighbors: Any, edge: int) -> Any:
    """Return the byte of every position; a stone raises the number of a position, so the highest come first."""
    num_points = len(neighbors)
    values = np.array([values_of(stones, neighbors, edge) for stones in range(1 << num_points)])
    results = np.empty(3**num_points, np.uint8)
    powers = np.empty(num_points, np.int64)
    for position in range(len(results) - 1, -1, -1):
        black, white, num_empty, rest, power = 0, 0, 0, position, 1
        for point in range(num_points):
            color, rest = rest % 3, rest // 3
            black |= int(color == 1) << point
            white |= int(color == 2) << point
            if color == 0:
                powers[num_empty] = power
                num_empty += 1
            power *= 3
        empty = powers[:num_empty]
        if (num_points - num_empty) % 2 == 0:  # then the other player is at the start of a turn
            first, second = best_stone(results, position, empty, 0, 4), best_stone(results, position, empty, 1, 0)
            results[position] = first | second << 2
        else:
            first, second = best_stone(results, position, empty, 0, 0), best_stone(results, position, empty, 1, 2)
            now = result_of(values[black], values[white])
            end_first, end_second = max(first, now), min(second, now)  # a pass ends the game (V5)
            results[position] = max(first, end_second) | end_first << 2 | min(second, end_first) << 4 | end_second << 6
    return results


class Results:
    """Results of all positions of a game of Vadus."""

    def __init__(self, game: Game) -> None:
        self._points = np.flatnonzero(game.grid.on_board)
        place = {cell: point for point, cell in enumerate(self._points.tolist())}
        rows = game.grid.neighbors[self._points].tolist()
        neighbors = np.array([sum(1 << place[cell] for cell in row if cell >= 0) for row in rows])
        edge = sum(1 << point for point, row in enumerate(rows) if min(row) < 0)
        self._results: npt.NDArray[np.uint8] = results_of_all(neighbors, edge)

    def of(self, state: State) -> int:
        """Return the result for player 0."""
        record, player = state.record, state.current_player()
        position = int((record["stones"][self._points].astype(np.int64) * 3 ** np.arange(len(self._points))).sum())
        if record["num_stones"] % 2 == 0:
            shift = SECOND_STONE[player]
        else:
            shift = (PASSED if record["consecutive_passes"] else NOT_PASSED)[player]
        return (int(self._results[position]) >> shift & 3) - 1


ALL_POSITIONS = pytest.mark.skipif("ALL_POSITIONS" not in os.environ, reason="takes minutes and 1.2 GB of memory")


@pytest.mark.parametrize(
    ("name", "num_stones"), [("vadus(size=2)", 0), pytest.param("vadus(size=3)", 9, marks=ALL_POSITIONS)]
)
def test_all_positions_of_a_board_have_the_results_that_the_solver_finds(name: str, num_stones: int) -> None:
    game = load_game(name)
    results, solved = Results(game), shipped_solutions()[name]
    state = game.new_initial_state()
    assert results.of(state) == solved.result
    keeping = [action for action in state.legal_actions() if results.of(state.child(action)) == solved.result]
    assert solved.actions == tuple(map(game.action_to_string, keeping))

    solver, rng, seen = Solver(game, memory_mib=16), np.random.default_rng(0), set()
    for _ in range(100):
        for state in uniform_game(game, rng)[:-1]:
            if state.record["num_stones"] >= num_stones:
                seen.add(results.of(state))
                assert solver.value(state) == results.of(state), state
    assert seen == {-1, 0, 1}
