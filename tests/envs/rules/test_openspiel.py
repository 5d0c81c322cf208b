"""OpenSpiel's Python algorithms run on our games and states as they are."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspiel")

import pyspiel
from open_spiel.python.algorithms import mcts

from stoneworks.envs.rules import load_game

NUM_SIMULATIONS = 25


@pytest.mark.parametrize("game_string", ["vadus(size=3)", "laido(size=3)"])
def test_the_search_plays_whole_games_and_beats_random_play(game_string: str) -> None:
    game = load_game(game_string)
    random_state = np.random.RandomState(0)
    evaluator = mcts.RandomRolloutEvaluator(1, random_state)
    bot = mcts.MCTSBot(game, 1.4, NUM_SIMULATIONS, evaluator, random_state=random_state)
    points = 0.0
    for number in range(8):
        seat = number % 2
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.current_player() == seat:
                before = state.clone()
                action = bot.step(state)
                assert state == before, "the search works on copies"
                assert action in state.legal_actions()
            else:
                action = random_state.choice(state.legal_actions())
            state.apply_action(action)
        points += state.returns()[seat]
    assert points >= 3


def test_the_game_describes_itself_to_open_spiel() -> None:
    game_type = load_game("vadus").get_type()
    assert game_type.short_name == "vadus"
    assert game_type.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert game_type.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    assert game_type.utility == pyspiel.GameType.Utility.ZERO_SUM
