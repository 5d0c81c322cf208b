"""OpenSpiel's Monte-Carlo tree search runs on our states as they are.

Where open_spiel is installed it is theirs; elsewhere a small search of our own that makes the same calls.
"""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import Game, State, load_game

HAS_OPEN_SPIEL = importlib.util.find_spec("pyspiel") is not None
NUM_SIMULATIONS = 25


class Node:
    def __init__(self, action: int | None, player: int) -> None:
        self.action = action
        self.player = player
        self.visits = 0
        self.total = 0.0
        self.children: list[Node] = []

    def upper_bound(self, visits_of_parent: int) -> float:
        if not self.visits:
            return math.inf
        return self.total / self.visits + 1.4 * math.sqrt(math.log(visits_of_parent) / self.visits)


class SearchWithOpenSpielsCalls:
    """Plain UCT. A node's total is from the view of the player who chose it, as the same player may act twice."""

    def __init__(self, game: Game, random_state: np.random.RandomState) -> None:
        self.max_utility = game.max_utility()
        self.random_state = random_state

    def play_out(self, state: State) -> list[float]:
        working_state = state.clone()
        while not working_state.is_terminal():
            assert not working_state.is_chance_node()
            working_state.apply_action(self.random_state.choice(working_state.legal_actions()))
        return working_state.returns()

    def step(self, state: State) -> int:
        root = Node(None, state.current_player())
        for _ in range(NUM_SIMULATIONS):
            node, path, working_state = root, [root], state.clone()
            while not working_state.is_terminal() and node.visits > 0:
                if not node.children:
                    player = working_state.current_player()
                    node.children = [Node(action, player) for action in working_state.legal_actions(player)]
                    self.random_state.shuffle(node.children)
                visits = node.visits
                node = max(node.children, key=lambda child: child.upper_bound(visits))
                working_state.apply_action(node.action)
                path.append(node)
            returns = working_state.returns() if working_state.is_terminal() else self.play_out(working_state)
            for visited in path:
                visited.visits += 1
                visited.total += returns[visited.player]
        best = max(root.children, key=lambda child: (child.visits, child.total))
        assert max(abs(child.total) for child in root.children) <= self.max_utility * NUM_SIMULATIONS
        assert state.action_to_string(state.current_player(), best.action)
        return best.action


def search_bot(game: Game, random_state: np.random.RandomState) -> Any:
    if not HAS_OPEN_SPIEL:
        return SearchWithOpenSpielsCalls(game, random_state)
    from open_spiel.python.algorithms import mcts

    evaluator = mcts.RandomRolloutEvaluator(1, random_state)
    return mcts.MCTSBot(game, 1.4, NUM_SIMULATIONS, evaluator, random_state=random_state)


@pytest.mark.parametrize("game_string", ["vadus(size=3)", "laido(size=3)"])
def test_the_search_plays_whole_games_and_beats_random_play(game_string: str) -> None:
    game = load_game(game_string)
    random_state = np.random.RandomState(0)
    bot = search_bot(game, random_state)
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


@pytest.mark.skipif(not HAS_OPEN_SPIEL, reason="open_spiel is not installed")
def test_the_game_describes_itself_to_open_spiel() -> None:
    import pyspiel

    game_type = load_game("vadus").get_type()
    assert game_type.short_name == "vadus"
    assert game_type.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert game_type.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    assert game_type.utility == pyspiel.GameType.Utility.ZERO_SUM
