"""The alpha-beta search against a plain minimax in Python, and what the bot must never get wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from evaluating import evaluation
from game_play import played, random_game, uniform_game
from stoneworks.envs.rules import NO_ACTION, Batch, Game, State, load_game
from stoneworks.envs.rules.compiler.ranking import insert_best
from stoneworks.models.bots.alphabeta_bot import AlphaBetaBot
from stoneworks.models.search.alphabeta import (
    ACTIONS_PER_TURN,
    MAX_DEPTH,
    PROVEN_VALUE,
    look_up,
    relative_to,
    work_buffers,
)
from stoneworks.models.search.transposition_table import EXACT, LOWER_BOUND, TABLE_ENTRY, UPPER_BOUND, hash_bytes
from stoneworks.models.search.turn_search import WIN_VALUE

WIDE = 10**6
#: Boards on which a plain minimax sees a lot, and how many turns it can look ahead near the end of a game.
SMALL_GAMES = {
    "vadus(size=2)": 4,
    "vadus(size=3)": 2,
    "laido(size=2)": 5,
    "laido(size=3)": 3,
    "taugo(size=3)": 3,
    "taigo(radius=2,tiles=6,cones=2)": 2,
    "trugo(radius=3,tiles=5)": 3,
    "trugo(radius=3,tiles=6,max_turns=12)": 4,
}
SLOW_GAMES = {"vadus(size=3)", "laido(size=3)", "trugo(radius=3,tiles=6,max_turns=12)"}
#: The most positions that a minimax in these tests visits.
BUDGET = 2500


class TooLargeError(Exception):
    """The tree of a position has more than ``BUDGET`` positions."""


class Minimax:
    """Looks at everything."""

    def values(self, state: State, depth: int) -> dict[int, float]:
        """Return what each action is worth at the first of the depths up to ``depth`` that proves something, else at the last."""
        for turns in range(1, depth + 1):
            self._num_positions = 0
            values = {
                action: self._value_of_child(state, state.child(action), turns, 0) for action in state.legal_actions()
            }
            if abs(max(values.values())) >= PROVEN_VALUE or len(values) == 1:
                break
        return values

    def _value_of_child(self, state: State, child: State, turns: int, ply: int) -> float:
        self._num_positions += 1
        if self._num_positions > BUDGET:
            raise TooLargeError
        player = state.current_player()
        if child.is_terminal():
            return child.returns()[player] * (WIN_VALUE - ply - 1)
        sign = 1 if child.current_player() == player else -1
        left = turns if sign == 1 else turns - 1
        if left == 0:
            return sign * float(np.float32(evaluation(child)))
        return sign * max(
            self._value_of_child(child, child.child(action), left, ply + 1) for action in child.legal_actions()
        )


def random_positions(game: Game, generator: np.random.Generator) -> Iterator[State]:
    """Yield positions of random games, the later the likelier."""
    while True:
        states = [state.clone() for state in random_game(game, int(generator.integers(2**32)), 0.2)][:-1]
        yield states[int(len(states) * generator.random() ** 0.5)]


@pytest.mark.once
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW_GAMES)) for name in SMALL_GAMES]
)
def test_the_wide_search_finds_the_values_of_a_plain_minimax(name: str) -> None:
    game = load_game(name)
    minimax = Minimax()
    bots = {
        depth: AlphaBetaBot(game, seed=0, turns=depth, num_candidates=WIDE) for depth in range(1, SMALL_GAMES[name] + 1)
    }
    num_compared = dict.fromkeys(bots, 0)
    num_won = 0
    for state in random_positions(game, np.random.default_rng(1)):
        for depth, bot in bots.items():
            try:
                expected = minimax.values(state, depth)
            except TooLargeError:
                break
            values = bot.action_values(state)
            best = max(expected.values())
            assert values.max() == best
            policy, action = bot.step_with_policy(state)
            assert {action for action, _ in policy} == {action for action in expected if expected[action] == best}
            assert expected[action] == best
            assert np.flatnonzero(values > -np.inf).tolist() == state.legal_actions()
            assert all(values[action] >= value for action, value in expected.items())
            num_compared[depth] += 1
            num_won += abs(best) >= PROVEN_VALUE
        if min(num_compared.values()) >= 8 and num_won >= 4:
            break


def timed_search(state: State, seconds: float) -> tuple[list[tuple[Any, int]], float, Any]:
    """Search with a clock that each visited position moves by a millisecond.

    Returns values and action of each iteration, the time that has passed, and the values of the bot.
    """
    now = [0.0]
    bot = AlphaBetaBot(state.get_game(), seconds=seconds, seed=3)
    search_to = bot.search_to
    found: list[tuple[Any, int]] = []

    def timed(first_depth: int, depth: int, *arguments: Any) -> Any:
        assert first_depth == depth == len(found) + 1
        values, actions, num_visited = search_to(first_depth, depth, *arguments)
        now[0] += int(num_visited.sum()) / 1000
        found.append((values[0], int(actions[0])))
        return values, actions, num_visited

    bot.clock = lambda: now[0]
    bot.search_to = timed  # type: ignore[method-assign, assignment]
    values = bot.action_values(state)
    return found, now[0], values


@pytest.mark.parametrize("seconds", [0.01, 0.5, 2.0, 20.0])
def test_a_time_budget_is_spent_on_the_depths_that_fit_and_on_part_of_the_next(seconds: float) -> None:
    state = load_game("vadus(size=4)").new_initial_state()
    for _ in range(7):
        state.apply_action(state.legal_actions()[5])
    found, passed, values = timed_search(state, seconds)
    assert passed <= seconds + 0.2  # the least that a search takes, of one turn
    *whole, (last, action) = found
    fixed = [AlphaBetaBot(state.get_game(), 3, turns=depth).action_values(state) for depth in range(1, len(found) + 1)]
    for depth, (of_depth, _) in enumerate(whole):  # as good as searches with a new table
        assert of_depth.max() == fixed[depth].max()
    searched = np.isfinite(last)
    if not whole or action == NO_ACTION:
        np.testing.assert_array_equal(values, whole[-1][0] if whole else last)
        return
    np.testing.assert_array_equal(values[searched], last[searched])
    others = np.isfinite(whole[-1][0]) & ~searched
    assert (values[others] < values.max()).all()
    assert (values[others] <= whole[-1][0][others]).all()
    assert values[action] == values.max()
    assert searched[whole[-1][1]], "the best action of the iteration before comes first"


def test_an_iteration_that_is_cut_short_has_exact_values_of_the_actions_before() -> None:
    state = load_game("laido(size=4)").new_initial_state()
    for _ in range(6):
        state.apply_action(state.legal_actions()[4])
    bot = AlphaBetaBot(state.get_game(), 0, turns=3)
    work, record = work_buffers(3, state.get_game().num_actions), state.record.reshape(1)
    bot.search_to(1, 2, record, work)
    whole, _, (num_visited,) = bot.search_to(3, 3, record, work)
    num_searched = []
    for limit in range(0, int(num_visited), max(1, int(num_visited) // 20)):
        bot.search_to(1, 2, record, work)
        part, (action,), (visited,) = bot.search_to(3, 3, record, work, limit)
        searched = np.isfinite(part[0])
        num_searched.append(int(searched.sum()))
        assert visited == limit
        np.testing.assert_array_equal(part[0][searched], whole[0][searched])
        assert (action == NO_ACTION) == (num_searched[-1] == 0)
        assert action == NO_ACTION or part[0][action] == part[0].max()
    assert num_searched == sorted(num_searched)
    assert len(set(num_searched)) > 3


@pytest.mark.parametrize("limit", [1, 3, 10, 40])
def test_the_best_actions_are_kept_in_order_and_the_first_of_equals_first(limit: int) -> None:
    ratings = np.random.default_rng(limit).integers(0, 8, 30).astype(np.float32)
    best = np.full(limit, -1, np.int64)
    number = 0
    for action in range(30):
        number = insert_best(best, number, limit, ratings, action)
    assert best[:number].tolist() == sorted(range(30), key=lambda action: -ratings[action])[:limit]


@pytest.mark.parametrize("size", [1, 7, 8, 9, 63, 1228])
def test_the_hash_mixes_words_of_eight_bytes_in_their_order(size: int) -> None:
    content = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    mixed = 0x9E3779B97F4A7C15
    for start in range(0, size, 8):
        mixed = (mixed ^ int.from_bytes(content[start : start + 8].tobytes(), "big")) * 0xFF51AFD7ED558CCD % 2**64
        mixed ^= mixed >> 32
    assert int(hash_bytes(content)) % 2**64 == mixed | 1


@pytest.mark.parametrize(
    ("bound", "alpha", "beta", "decides"),
    [
        (EXACT, -9.0, 9.0, True),
        (LOWER_BOUND, -9.0, 5.0, True),
        (LOWER_BOUND, -9.0, 6.0, False),
        (UPPER_BOUND, 5.0, 9.0, True),
        (UPPER_BOUND, 4.0, 9.0, False),
    ],
)
def test_a_stored_bound_decides_outside_of_the_window(bound: int, alpha: float, beta: float, decides: bool) -> None:
    entry: Any = np.array([(1, 5.0, NO_ACTION, 2, bound)], TABLE_ENTRY)[0]
    assert look_up(entry, 2, alpha, beta, 0) == (decides, 5.0)
    assert look_up(entry, 1, alpha, beta, 0) == (False, 0.0)
    assert relative_to(WIN_VALUE - 7, 3) == WIN_VALUE - 4
    assert relative_to(-(WIN_VALUE - 7), 3) == -(WIN_VALUE - 4)
    assert relative_to(123.5, 3) == 123.5
    assert WIN_VALUE - ACTIONS_PER_TURN * MAX_DEPTH == PROVEN_VALUE


def test_a_search_finds_the_transposition_table_empty() -> None:
    game = load_game("trugo(radius=4,tiles=18)")
    states = uniform_game(game, np.random.default_rng(0))[:9]
    bot = AlphaBetaBot(game, 0, turns=2)
    used = [bot.action_values(state).tolist() for state in states]
    fresh = [AlphaBetaBot(game, 0, turns=2).action_values(state).tolist() for state in states]
    assert used == fresh


def test_a_proven_result_ends_the_search() -> None:
    game = load_game("vadus(size=3)")
    shallow, deep = (AlphaBetaBot(game, 0, turns=depth) for depth in (1, 6))
    positions = random_positions(game, np.random.default_rng(0))
    won = next(state for state in positions if shallow.action_values(state).max() >= PROVEN_VALUE)
    work = work_buffers(6, game.num_actions)
    visited = [bot.search_to(1, depth, won.record.reshape(1), work)[2] for bot, depth in ((shallow, 1), (deep, 6))]
    assert visited[0] == visited[1]
    batch = Batch(load_game("vadus(size=2)"), 3)
    actions = AlphaBetaBot(batch.game, 0, seconds=1000.0).step_batch(batch, np.arange(3))
    assert batch.action_masks[np.arange(3), actions].all()


def test_actions_rated_infinite_come_on_top_of_the_candidates() -> None:
    state = played("vadus(size=3)", "c3")
    values = AlphaBetaBot(state.get_game(), 0, turns=1, num_candidates=8).action_values(state)
    assert values[state.string_to_action("pass")] > -np.inf
    assert (values > -np.inf).sum() == 9
