"""Tianshou: the example, all games in its vector environment and its wrapper of PettingZoo's."""

from __future__ import annotations

import numpy as np
import pytest

from example_modules import example

pytest.importorskip("tianshou")

import torch
from tianshou.env import DummyVectorEnv, PettingZooEnv

from stoneworks.envs.aec import BoardGameEnv
from stoneworks.integrations.tianshou import Critic, MaskedActor


def test_every_game_steps_in_its_vector_environment(game: str) -> None:
    make_env = example("tianshou_ppo").make_env
    envs = DummyVectorEnv([lambda: make_env(game) for _ in range(2)])
    observations, _ = envs.reset(seed=1)
    for _ in range(20):
        actions = np.array([observation["mask"].argmax() for observation in observations])
        observations, _, terminated, truncated, _ = envs.step(actions)
        ended = np.flatnonzero(terminated | truncated)
        if ended.size:
            observations[ended] = envs.reset(ended)[0]


def test_every_game_steps_in_its_wrapper_of_pettingzoo(game: str) -> None:
    env = PettingZooEnv(BoardGameEnv(game, observation={"layout": "flat"}))
    observation, _ = env.reset()
    over = False
    while not over:
        observation, rewards, terminated, truncated, _ = env.step(int(np.argmax(observation["mask"])))
        over = terminated or truncated
    assert sum(rewards) == 0


def test_illegal_actions_have_probability_0(game: str) -> None:
    env = example("tianshou_ppo").make_env(game)
    observation, _ = env.reset(seed=1)
    batch = {key: value[None] for key, value in observation.items()}
    num_inputs, num_actions = len(observation["obs"]), len(observation["mask"])
    logits, _ = MaskedActor(torch.nn.Linear(num_inputs, num_actions))(batch)
    np.testing.assert_array_equal(logits.softmax(1)[0].detach().numpy() > 0, observation["mask"])
    assert Critic(torch.nn.Linear(num_inputs, 1))(batch).shape == (1, 1)
