"""The bot that searches with a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from game_play import random_batch
from made_up_network import MadeUpNetwork
from stoneworks.envs.rules import Batch, Game, load_game
from stoneworks.models.bots import search_bot
from stoneworks.models.bots.bot import Analysis
from stoneworks.models.bots.search_bot import PLAYING_RULE, SearchBot
from stoneworks.models.search.network_search import NetworkSearch, SearchResult, SearchSettings
from stoneworks.models.search.puct import PUCT


def make_bot(game: Game, **arguments: Any) -> SearchBot:
    return SearchBot(MadeUpNetwork(game, 1.0), game, **{"seed": 1, "simulations": 12, **arguments})


@pytest.mark.parametrize(("limit", "value"), [("MAX_GAMES", 4), ("MAX_EDGES", 4 * 12 * 10)])
def test_games_beyond_the_maximum_are_searched_later(monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    batch = random_batch("vadus(size=2)", 10, 9, seed=3)  # games of different lengths
    together = make_bot(batch.game).search_all(batch.states.copy())
    monkeypatch.setattr(search_bot, limit, value)
    bot = make_bot(batch.game)
    apart = bot.search_all(batch.states.copy())
    assert bot.evaluate.asked[0] == 4, "the roots"  # type: ignore[attr-defined]
    for found, expected in zip(apart, together, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_search_is_the_configured_one() -> None:
    game = load_game("vadus(size=3)")
    state = game.new_initial_state()
    configured = SearchSettings(PUCT(noise_fraction=0))
    for given, settings in (({}, SearchSettings(PLAYING_RULE)), ({"settings": configured}, configured)):
        search = NetworkSearch(game, MadeUpNetwork(game, 1.0), settings, max_games=1, max_simulations=20)
        expected = search.run(np.array([state.record], game.state_dtype), 20, np.random.default_rng(0))
        found = make_bot(game, simulations=20, **given).search(state)
        np.testing.assert_array_equal(found.visits, expected.visits)
        np.testing.assert_array_equal(found.policies, expected.policies)
        assert found.visits.sum() == 20


def test_with_a_time_limit_each_game_has_its_own_time() -> None:
    """See the tests of the search, where the time is that of a made-up clock."""
    game = load_game("vadus(size=3)")
    bot = make_bot(game, simulations=None, seconds=0.02)
    batch = random_batch(game, 4, 9, seed=3)
    rows = np.array([1, 2, 3])
    assert batch.action_masks[rows, bot.step_batch(batch, rows)].all()
    result = bot.search_all(batch.states[rows].copy())
    assert (result.visits.sum(1) > 0).all()
    state = batch.state(1)
    first = bot.search(state).visits.sum()
    assert bot.search(state).visits.sum() > first, "the tree is kept"
    bot.restart()
    assert len(bot.search_in_time().trees.games) == 0


def test_within_a_time_limit_games_of_a_batch_do_not_share_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("vadus(size=3)")
    bot = make_bot(game, simulations=None, seconds=0.01)
    sizes, run_in_time = [], NetworkSearch.run_in_time

    def watched(search: NetworkSearch, *arguments: Any, **options: Any) -> SearchResult:
        sizes.append(len(search.trees.games))
        return run_in_time(search, *arguments, **options)

    monkeypatch.setattr(NetworkSearch, "run_in_time", watched)
    batch = Batch(game, 3)  # of equal positions
    bot.step_batch(batch, np.arange(3))
    bot.step_batch(batch, np.arange(1))
    bot.search_all(batch.states.copy())
    assert sizes == [0] * 7
    bot.step(batch.state(0))
    bot.step(batch.state(0))
    assert sizes[7:] == [1, 1], "a game that is played alone keeps its tree"


def test_an_analysis_without_a_limit_grows_until_it_is_stopped() -> None:
    game = load_game("vadus(size=4)")
    bot, state = make_bot(game, simulations=None, seconds=1.0), game.new_initial_state()
    found: list[Analysis] = []
    bot.analyze_until(state, lambda one: found.append(one) is not None or len(found) == 4)
    numbers = [one.simulations for one in found]
    assert len(numbers) == 4
    assert numbers == sorted(set(numbers))  # type: ignore[type-var]
    assert found[-1].line[0] == found[-1].action
    assert len(found[-1].line) > 2
    for action in found[-1].line:
        state.apply_action(action)  # legal, also deep in the tree
    assert found[-1].visits.sum() == numbers[-1]
    assert bot.search_in_time().left_seconds == 0, "what is left is not for the next step"
    while len(state.legal_actions()) > 3:
        state.apply_action(state.legal_actions()[0])
    make_bot(game).analyze_until(state, lambda one: found.append(one) is not None or len(found) == 24)
    assert found[-1].proven is not None, "where the result is proven, it ends by itself"


def test_a_proven_result_is_not_discounted() -> None:
    game = load_game("vadus(size=2)")
    bot, state = (
        make_bot(game, simulations=64, settings=SearchSettings(PLAYING_RULE, discount=0.9)),
        game.new_initial_state(),
    )
    while not state.is_terminal():
        found = bot.analyze(state)
        if found.proven is not None:
            assert found.proven == found.value
            assert found.proven in (1, 0, -1)
        of_action = found.action_values[found.actions == found.action][0]
        assert of_action == found.value or (np.isnan(of_action) and found.proven == 1), "a win found without a visit"
        state.apply_action(found.action)
    assert found.proven == state.returns()[found.player]
