"""``load_game``: names, game strings, options, identity of games, and how bad input is refused."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from stoneworks.envs import BoardGameEnv, SingleAgentEnv, VectorEnv
from stoneworks.envs.rules import Batch, Game, UnknownGameError, game_names, load_game
from stoneworks.envs.rules.game_registry import MAX_CHARACTERS
from stoneworks.models.bots.alphabeta_bot import AlphaBetaBot
from stoneworks.models.bots.bot import Bot
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.bots.random_bot import RandomBot
from stoneworks.models.bots.solver_bot import SolverBot
from stoneworks.models.solver import Solver


def test_names_keywords_and_strings_lead_to_the_same_game() -> None:
    """See ``strings`` in tests/testdata/games.yaml for others."""
    game = load_game("laido", size=5, pie_rule=False)
    for same in (load_game("laido(size=5,pie_rule=False)"), load_game("laido", size=np.int32(5), pie_rule=False)):
        assert (same, hash(same), str(same)) == (game, hash(game), "laido(pie_rule=False,size=5)")
        assert type(same.options["size"]) is int
    assert load_game("taigo", handicap=[2, 1]) == load_game("taigo(handicap=(2,1))")


def test_games_with_other_options_or_names_differ() -> None:
    texts = ("vadus(size=5)", "vadus(size=6)", "laido(size=5)", "laido(pie_rule=False,size=5)", "taugo(size=5)")
    for one, other in itertools.permutations(map(load_game, texts), 2):
        assert one != other
        assert hash(one) != hash(other)
    assert load_game("vadus(size=5)") != "vadus(size=5)"


def test_games_of_the_same_string_are_equal_also_made_apart_or_pickled(game: Game) -> None:
    assert repr(game) == f'load_game("{game}")'
    assert eval(repr(game), {"load_game": load_game}) == game
    pickles = [pickle.dumps(game, protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    made_apart = type(game)(**game.options)
    assert made_apart is not game
    for twin in (made_apart, *map(pickle.loads, pickles)):
        assert twin == game
        assert hash(twin) == hash(game)
        assert twin.new_initial_state() == game.new_initial_state()


@pytest.mark.parametrize(("game", "option", "value"), [("vadus", "size", (3,)), ("laido", "pie_rule", np.bool_(True))])
def test_a_bad_option_that_a_file_cannot_hold_is_named(game: str, option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{game}: option {option} must be .*got") as caught:
        load_game(game, **{option: value})
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    "text", ["vadus(size=1)", "vadus(size='3')", "vadus(sizes=3)", "laido(pie_rule=1)", "vadus(size=True)"]
)
def test_bad_options_in_a_game_string_are_refused_like_keywords(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be|valid options"):
        load_game(text)
    with pytest.raises(ValueError, match="not both"):
        load_game("vadus(size=3)", size=3)


@pytest.mark.parametrize("text", ["hex", "Vadus", "vadus_v0", "VADUS(size=3)"])
def test_an_unknown_game_is_refused_naming_it_and_the_games(text: str) -> None:
    with pytest.raises(UnknownGameError, match=text.split("(")[0]) as caught:
        load_game(text)
    assert all(name in str(caught.value) for name in game_names())


@pytest.mark.parametrize(
    "text",
    [
        *("", "()", "vadus(", "vadus(3)", "vadus(size)", "vadus(size=3)x", "vadus(size=3,size=4)", "vadus(size=3*3)"),
        *("vadus(size=len('abc'))", "vadus(**{'size': 3})", "vadus(size={[]: 3})", "vadus.x(size=3)", "vadus\0"),
        *(f"vadus(size={digits})" for digits in ("(" * 500 + "3" + ")" * 500, "-" * 10**5 + "3", "9" * 5_000)),
        *("vadus(size=" + "[" * 5_000 + ")", "vadus" + " " * (MAX_CHARACTERS - 4), None, b"vadus"),
    ],
    ids=lambda text: repr(text)[:30],
)
def test_an_invalid_game_string_is_rejected(text: Any) -> None:
    with pytest.raises(ValueError, match="game string"):
        load_game(text)


def test_a_very_long_game_string_is_refused_in_few_words() -> None:
    with pytest.raises(ValueError, match="is not a valid game string") as raised:
        load_game("vadus(" + "size=3," * 100_000 + ")")
    assert repr(("vadus(" + "size=3," * 14)[:100] + "...") in str(raised.value)
    assert load_game("vadus" + " " * (MAX_CHARACTERS - 5)) == load_game("vadus")


@pytest.mark.parametrize(
    "make",
    [
        partial(Batch, num_games=1),
        partial(VectorEnv, 1),
        *(SingleAgentEnv, BoardGameEnv, Solver, SolverBot, GreedyBot, RandomBot),
        *(partial(AlphaBetaBot, turns=1), partial(MCTSBot, simulations=1)),
    ],
)
def test_a_game_is_given_as_such_or_as_a_game_string(make: Callable[..., Any]) -> None:
    game = load_game("vadus(size=2)")
    for made in (make("vadus(size=2)"), make(game)):
        if isinstance(made, Bot):
            assert made.step(state := game.new_initial_state()) in state.legal_actions()
        else:
            assert made.game == game


def test_the_largest_board_plays() -> None:
    game = load_game("vadus(size=90)")
    state = game.new_initial_state()
    assert len(state.legal_actions()) == 3 * 90 * 89 + 1 == 24_031
    state.apply_action(state.legal_actions()[-1])
    assert state.score() == ([-1], [])
