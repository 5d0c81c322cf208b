"""OpenSpiel's DQN: the example, and all games in its environment."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

pytest.importorskip("pyspiel")
pytest.importorskip("tree")  # OpenSpiel's DQN needs dm-tree


def test_a_short_training_saves_a_policy_that_plays(run_example: Callable[..., str]) -> None:
    run_example("openspiel_dqn", "--frames", "1000")


def test_every_game_steps_in_its_environment(game: str, example: Callable[[str], ModuleType]) -> None:
    env = example("openspiel_dqn").make_env(game)
    step = env.reset()
    while not step.last():
        player = step.observations["current_player"]
        step = env.step([step.observations["legal_actions"][player][0]])
    assert sum(step.rewards) == 0
