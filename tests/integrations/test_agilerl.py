"""AgileRL: all games with its PPO."""

from __future__ import annotations

import pytest

from example_modules import example

pytest.importorskip("agilerl")

from agilerl.algorithms import PPO


def test_every_game_is_played_by_its_ppo(game: str) -> None:
    env = example("agilerl_ppo").make_env(game)
    agent = PPO(env.single_observation_space, env.single_action_space, num_envs=env.num_envs)
    observations, info = env.reset(seed=1)
    for _ in range(10):
        actions = agent.get_action(observations, action_mask=info["action_mask"])[0]
        assert env.action_masks()[range(env.num_envs), actions].all()
        observations, _, _, _, info = env.step(actions)
