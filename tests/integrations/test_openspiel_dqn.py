"""OpenSpiel's DQN: all games in its environment."""

from __future__ import annotations

import pytest

from example_modules import example

pytest.importorskip("pyspiel")
pytest.importorskip("tree")  # OpenSpiel's DQN needs dm-tree


def test_every_game_steps_in_its_environment(game: str) -> None:
    env = example("openspiel_dqn").make_env(game)
    step = env.reset()
    while not step.last():
        player = step.observations["current_player"]
        step = env.step([step.observations["legal_actions"][player][0]])
    assert sum(step.rewards) == 0
