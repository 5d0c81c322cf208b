"""The bot that searches with a network."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from stoneworks.envs.rules import Batch, Game, load_game
from stoneworks.envs.rules.games import small_games
from stoneworks.evaluation.match import play_match
from stoneworks.models.bots import search_bot
from stoneworks.models.bots.search_bot import (
    FIRST_SIMULATIONS,
    MAX_GAMES,
    MAX_SIMULATIONS,
    PLAYING_POLICY,
    SearchBot,
    _few_significant_bits,
)
from stoneworks.models.search.evaluation_cache import EvaluationCache
from stoneworks.models.search.guides import make_guide
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.network_search import NetworkSearch, SearchSettings
from stoneworks.models.search.puct import PUCT


class Dice:
    """A network with random outputs for each position, which records its batch sizes."""

    def __init__(self, game: Game) -> None:
        rng = np.random.default_rng(1)
        size = int(np.prod(game.observation_shape))
        self._weights = rng.normal(size=(size, game.num_actions + 1))
        self.asked: list[int] = []

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.asked.append(len(planes))
        answers = np.array([np.sin(position.ravel() @ self._weights) for position in planes], np.float32)
        return np.ascontiguousarray(answers[:, :-1]), np.ascontiguousarray(answers[:, -1])


def make_bot(game: Game, **arguments: Any) -> SearchBot:
    return SearchBot(Dice(game), game, **{"seed": 1, "simulations": 12, **arguments})


def batch_of(game: Game, number: int) -> Batch:
    """Games of different lengths, none of which is over."""
    batch = Batch(game, number, seed=3, auto_reset=True)
    for _ in range(9):
        batch.step(batch.random_actions())
    return batch


@pytest.mark.parametrize("game_name", small_games())
def test_whole_games_are_legal_and_repeat(game_name: str) -> None:
    game = load_game(game_name)
    actions = []
    for _ in range(2):
        bot, state = make_bot(game), game.new_initial_state()
        while not state.is_terminal():
            policy, action = bot.step_with_policy(state)
            assert [legal for legal, _ in policy] == state.legal_actions()
            assert sum(chance for _, chance in policy) == pytest.approx(1, abs=1e-5)
            assert bot.step(state) == action
            state.apply_action(action)
        actions.append(state.history())
    assert actions[0] == actions[1]


@pytest.mark.parametrize("game_name", small_games())
def test_a_batch_is_played_as_each_of_its_games(game_name: str) -> None:
    game = load_game(game_name)
    batch, bot = batch_of(game, 9), make_bot(game)
    rows = np.array([0, 2, 3, 8])
    actions = bot.step_batch(batch, rows)
    assert actions.dtype == np.int64
    assert actions.tolist() == [bot.step(batch.state(row)) for row in rows.tolist()]
    assert batch.action_masks[rows, actions].all()


def test_a_guide_evaluates_the_leaves_with_the_network() -> None:
    game = load_game("vadus(size=2)")
    state = game.new_initial_state()
    guide = make_guide("playouts", game, 4)

    def value(weight: float) -> float:
        settings = SearchSettings(PLAYING_POLICY, guide=guide, guide_weight=weight)
        return float(make_bot(game, settings=settings).search(state).values[0])

    alone, guided, again, ignored = map(value, (0, 1, 1, 0))
    assert guided == again
    assert ignored == alone
    assert guided != alone


def test_an_inactive_game_takes_no_action() -> None:
    game = load_game("vadus(size=2)")
    assert make_bot(game).step_batch(batch_of(game, 2), np.zeros(0, np.int64)).shape == (0,)


def test_games_beyond_the_maximum_searched_at_once_are_queued() -> None:
    game = load_game("vadus(size=2)")
    number = 2 * MAX_GAMES + 3
    batch, bot = batch_of(game, number), make_bot(game, simulations=2)
    actions = bot.step_batch(batch, np.arange(number))
    assert batch.action_masks[np.arange(number), actions].all()
    assert max(bot._evaluate.asked) == MAX_GAMES  # type: ignore[attr-defined]
    few = np.arange(number - 3, number)
    assert actions[few].tolist() == bot.step_batch(batch, few).tolist()


def test_trees_of_many_simulations_are_for_fewer_games_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("vadus(size=2)")
    batch = batch_of(game, 10)
    together = make_bot(game).search_all(batch.states.copy())
    monkeypatch.setattr(search_bot, "MAX_EDGES", 4 * 12 * game.num_actions)
    bot = make_bot(game)
    apart = bot.search_all(batch.states.copy())
    assert max(bot._evaluate.asked) == 4  # type: ignore[attr-defined]
    for field in fields(together):
        np.testing.assert_array_equal(getattr(apart, field.name), getattr(together, field.name))


def test_with_a_time_limit_games_are_searched_together_and_trees_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("vadus(size=3)")
    batch = batch_of(game, 4)
    monkeypatch.setattr(search_bot, "MAX_EDGES", 4 * 100 * game.num_actions)
    bot = make_bot(game, simulations=None, seconds=1.0)
    bot.search_all(batch.states.copy())
    assert {rooms[0] for rooms in bot._searches} == {4}
    assert max(rooms[1] for rooms in bot._searches) <= 128


def test_searches_within_a_time_limit_have_few_numbers_of_simulations() -> None:
    rounded = {_few_significant_bits(number) for number in range(1, MAX_SIMULATIONS + 1)}
    assert len(rounded) < 60
    assert all(0.8 * number < _few_significant_bits(number) <= number for number in range(1, 2000))


def test_the_search_is_the_configured_one() -> None:
    game = load_game("vadus(size=3)")
    state = game.new_initial_state()
    for settings in (None, SearchSettings(PUCT(noise_fraction=0))):
        bot = make_bot(game, simulations=20, **({} if settings is None else {"settings": settings}))
        default = SearchSettings(PLAYING_POLICY)
        search = NetworkSearch(game, Dice(game), settings or default, max_games=1, max_simulations=20)
        expected = search.run(np.array([state.record], game.state_dtype), 20, np.random.default_rng(0))
        found = bot.search(state)
        np.testing.assert_array_equal(found.visits, expected.visits)
        np.testing.assert_array_equal(found.policies, expected.policies)
        assert found.visits.sum() == 20


def test_without_noise_the_seed_does_not_matter_and_with_it_it_does() -> None:
    game = load_game("vadus(size=3)")
    batch = batch_of(game, 20)

    def actions(**arguments: Any) -> list[int]:
        return make_bot(game, **arguments).step_batch(batch, np.arange(20)).tolist()

    assert actions(seed=1) == actions(seed=2) == actions(seed=None)
    noisy = SearchSettings(Gumbel())
    assert actions(seed=1, settings=noisy) == actions(seed=1, settings=noisy) != actions(seed=2, settings=noisy)


def test_search_makes_a_player_of_no_network_better() -> None:
    """With a constant for the network, more simulations see more of the end of the game."""
    game = load_game("taugo(size=3)")

    def constant(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(planes), game.num_actions), np.float32), np.zeros(len(planes), np.float32)

    much, little = (SearchBot(constant, game, 0, simulations=number, name=str(number)) for number in (200, 1))
    match = play_match(game, much, little, num_pairs=40, opening_actions=4, seed=1)
    assert match.interval[0] > 0.6, str(match)


@pytest.mark.parametrize("value", [0, -3, True, 2.5, "64"])
def test_the_number_of_simulations_is_a_whole_number_of_at_least_1(value: Any) -> None:
    with pytest.raises(ValueError, match="simulations must be an integer >= 1"):
        make_bot(load_game("vadus(size=2)"), simulations=value)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_seconds_are_more_than_0_and_exclude_simulations(seconds: float) -> None:
    game = load_game("vadus(size=2)")
    with pytest.raises(ValueError, match="seconds must be a number > 0"):
        make_bot(game, simulations=None, seconds=seconds)
    with pytest.raises(ValueError, match="at most one of simulations and seconds"):
        make_bot(game, simulations=5, seconds=1.0)


@pytest.mark.parametrize("seconds", [0.001, 0.1, 2.0])
def test_a_time_budget_is_nearly_spent_and_not_overspent(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """The clock is one that each simulation moves by a millisecond."""
    now = [0.0]
    monkeypatch.setattr("stoneworks.models.bots.search_bot.time.perf_counter", lambda: now[0])
    game = load_game("vadus(size=3)")
    bot = make_bot(game, simulations=None, seconds=seconds)
    run = bot._run_simulations
    simulations: list[int] = []

    def timed(roots: np.ndarray, number: int) -> Any:
        now[0] += number / 1000 * len(roots)
        simulations.append(number)
        return run(roots, number)

    monkeypatch.setattr(bot, "_run_simulations", timed)
    state = game.new_initial_state()
    assert bot.step(state) in state.legal_actions()
    assert simulations == sorted(set(simulations))
    assert now[0] <= max(seconds, FIRST_SIMULATIONS / 1000)
    assert now[0] >= 0.7 * seconds or simulations[-1] == MAX_SIMULATIONS
    now[0] = 0
    batch = Batch(game, 4, seed=0)
    rows = np.array([1, 2, 3])
    assert batch.action_masks[rows, bot.step_batch(batch, rows)].all()
    assert 2.1 * seconds <= now[0] <= 3 * max(seconds, FIRST_SIMULATIONS / 1000)


def test_the_network_evaluates_each_position_of_a_game_once() -> None:
    """Also from move to move; the answers, and so the moves, are those of a bot that forgets."""
    game = load_game("vadus(size=3)")
    network = Dice(game)
    bot, state = SearchBot(network, game, 1, simulations=40), game.new_initial_state()
    first = bot.search(state)
    asked = sum(network.asked)
    again = bot.search(state)
    assert sum(network.asked) == asked
    np.testing.assert_array_equal(first.visits, again.visits)
    child = state.child(int(first.actions[0]))
    found = bot.search(child)
    assert sum(network.asked) - asked < 41 - first.visits.max() // 4
    fresh = make_bot(game, simulations=40).search(child)
    np.testing.assert_array_equal(found.visits, fresh.visits)
    np.testing.assert_array_equal(found.values, fresh.values)
    bot.restart()
    before = sum(network.asked)
    bot.search(state)
    assert sum(network.asked) == before + asked


def test_a_full_cache_discards_the_oldest_entries() -> None:
    game = load_game("vadus(size=2)")
    network = Dice(game)
    room = 3 * game.num_actions * 4
    cache = EvaluationCache(network, max_bytes=room)
    rng = np.random.default_rng(0)
    planes = rng.normal(size=(5, *game.observation_shape)).astype(np.float32)
    expected = network(planes)
    for rows in ([0], [0, 1], [2, 0, 2], [3], [3, 1], [0, 4]):
        logits, values = cache(planes[rows])
        np.testing.assert_allclose(logits, expected[0][rows], atol=1e-5)
        np.testing.assert_allclose(values, expected[1][rows], atol=1e-5)
        assert sum(of_row.nbytes for of_row, _ in cache._answers.values()) <= room
    assert (cache.num_known, cache.num_asked) == (5, 6), "a position that occurs twice in a call is asked about once"
    cache.clear()
    cache(planes)
    assert cache.num_asked == 11


def test_a_position_of_another_game_or_of_a_game_that_is_over_is_refused() -> None:
    game = load_game("vadus(size=2)")
    bot = make_bot(game, name="searcher")
    assert bot.name == "searcher"
    other = load_game("vadus(size=3)")
    with pytest.raises(
        ValueError, match=r"searcher was made for vadus\(size=2\); the position is one of vadus\(size=3\)"
    ):
        bot.step(other.new_initial_state())
    with pytest.raises(ValueError, match="the position is one of"):
        bot.step_batch(Batch(other, 1), np.arange(1))
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[-1])
    with pytest.raises(ValueError, match="searcher cannot choose an action: the game is over"):
        bot.step(state)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"seconds": "x"}, "seconds must be a number > 0, got 'x'"),
        ({"seed": -1}, "seed must be an integer >= 0, got -1"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(arguments: dict[str, Any], complaint: str) -> None:
    evaluator: Any = None
    with pytest.raises(ValueError, match=complaint):
        SearchBot(evaluator, load_game("vadus(size=2)"), **arguments)
