"""The greedy bot and the evaluation of Taugo."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest

import game_play
from stoneworks.envs.rules import Batch, State, load_game
from stoneworks.envs.rules.kernels import BoardArray, Float32Table, StateArray
from stoneworks.envs.rules.taugo.lines import NONE
from stoneworks.models import load_bot
from stoneworks.models.evaluations import evaluation_kernels
from stoneworks.models.search.turn_search import WIN_VALUE, evaluate


def played(moves: str, size: int = 5) -> State:
    return game_play.played(f"taugo(size={size})", moves)


def turn_of_greedy(state: State) -> list[str]:
    """The texts of the actions of the turn that the greedy bot plays."""
    bot = load_bot("greedy", state.game, seed=0)
    state = state.clone()
    player = state.current_player()
    texts = []
    while state.current_player() == player:
        texts.append(state.action_to_string(bot.step(state)))
        state.apply_action(state.string_to_action(texts[-1]))
    return texts


def evaluate_all(board: BoardArray, states: StateArray, values: Float32Table) -> None:
    """Evaluate each position for both players: a template."""
    for row in range(states.shape[0]):
        for player in range(2):
            values[row, player] = evaluate(board[0], states[row], player)


BLACK_ROW = "b2 d4 c2 d2 e2 f2"  # Black holds a whole side: 15 points


@pytest.mark.parametrize(
    ("moves", "cut"),
    [
        ("b3 b4 d3 e3 b2 c2 d2 e2 c3 c4 d4 d5 c5 b5 e4 e5 end", "Sc1"),
        ("d3 b5 b3 e2 c5 d5 b2 c2 d2 c3 e4", "Wa2"),
        ("d3 b5 b3 e2 c5 d5 b2 c2 d2 c3 e4 c4 d4 e3 Wa2 Sb1 e5", "Sd1"),
        ("e4 e2 b5 b2 b4 b3 e5 d2 d5 d4 d3 c4 e3", "Nd6"),
    ],
)
def test_it_takes_the_cut_that_alone_puts_it_ahead(moves: str, cut: str) -> None:
    state = played(moves, size=4)
    player = state.current_player()

    def leads(position: State) -> bool:
        return position.score()[player] > position.score()[1 - player]

    first_actions = [state.action_to_string(action) for action in state.legal_actions() if leads(state.child(action))]
    assert not leads(state)
    assert first_actions == [cut]
    assert turn_of_greedy(state) == [cut]


@pytest.mark.parametrize("moves", ["b2 end", "b2 d4 c2 d2 e2 f2 end"])
def test_it_ends_the_game_by_passing_when_it_leads_and_the_opponent_has_passed(moves: str) -> None:
    assert turn_of_greedy(played(moves)) == ["end"]


@pytest.mark.parametrize("moves", ["c3 end", "b2 d4 c2 d2 e2 f2 c4 end end"])
def test_it_does_not_end_the_game_when_it_is_behind(moves: str) -> None:
    state = played(moves)
    player = state.current_player()
    assert state.score()[player] < state.score()[1 - player]
    assert turn_of_greedy(state) != ["end"]


def test_it_does_not_pass_when_the_opponent_could_then_end_the_game_and_win() -> None:
    assert turn_of_greedy(played(BLACK_ROW)) != ["end"]
    assert turn_of_greedy(played("b2")) != ["end"]


def test_it_extends_its_string_along_the_perimeter() -> None:
    state = played("b2 e5", size=6)
    turn = turn_of_greedy(state)
    for text in turn:
        state.apply_action(state.string_to_action(text))
    assert state.score()[0] >= 10  # four stones or more


def test_a_position_is_as_good_for_one_player_as_it_is_bad_for_the_other_and_is_left_as_it_is() -> None:
    game = load_game("taugo", size=6)
    batch = Batch(game, 64, seed=3)
    for steps in (0, 6, 9):
        for _ in range(steps):
            batch.step(batch.random_actions())
        going_on = batch.states[batch.current_players >= 0]
        assert len(going_on) > 10
        before = going_on.tobytes()
        values = np.empty((len(going_on), 2), np.float32)
        game.compiled(evaluate_all, evaluation_kernels(game))(game.board, going_on, values)
        assert going_on.tobytes() == before
        np.testing.assert_array_equal(values[:, 0], -values[:, 1])
        assert (abs(values) < WIN_VALUE).all()


@pytest.mark.parametrize("size", [3, 5, 8, pytest.param(16, marks=pytest.mark.slow)])
def test_it_values_positions_of_random_games_as_the_simple_evaluation_does(
    simple_version: Callable[[str], ModuleType],
    positions_of_random_games: Callable[..., npt.NDArray[np.void]],
    size: int,
) -> None:
    game = load_game("taugo", size=size)
    states = positions_of_random_games(game, 16, 60 if size < 16 else 30, 7, seed=size)
    states = states[(states["last_stone"] == NONE) & (states["consecutive_passes"] == 0)]
    assert len(states) > 100
    before = states.copy()
    values, expected = np.zeros((2, len(states), 2), np.float32)
    game.compiled(evaluate_all, evaluation_kernels(game))(game.board, states, values)
    game.compiled(evaluate_all, {"evaluate": simple_version("simple_taugo").evaluate})(game.board, states, expected)
    assert states.tobytes() == before.tobytes()
    assert len(np.unique(values)) > len(states) / 2
    np.testing.assert_array_equal(values, expected)
