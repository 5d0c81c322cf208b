"""The examples that need no library beyond the extra ``train``, with all five games."""

from __future__ import annotations

import numpy as np
import pytest

from example_modules import example

pytest.importorskip("sb3_contrib")


def test_every_game_steps_in_self_play(game: str) -> None:
    env = example("cleanrl_ppo").make_env(game)
    env.reset(seed=1)
    for _ in range(30):
        observations, *_ = env.step(env.action_masks().argmax(1))
        assert env.observation_space.contains(observations)


def test_every_game_steps_as_one_environment(game: str) -> None:
    env = example("sb3_single").make_env(game)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        observation, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        assert env.observation_space.contains(observation)
        over = terminated or truncated


def test_every_game_steps_as_a_vec_env(game: str) -> None:
    env = example("sb3_vector").make_env(game)
    env.seed(1)
    env.reset()
    for _ in range(30):
        env.step(np.array(env.env_method("action_masks")).argmax(1))


def test_every_game_is_played_by_the_aec_loop(game: str) -> None:
    import torch

    module = example("pettingzoo_aec")
    env = module.make_env(game)
    rules = env.game
    network = torch.nn.Linear(rules.observation_tensor_size(), rules.num_actions)
    steps = module.play_game(env, network)
    assert {step[3] for step in steps} <= {-1.0, 0.0, 1.0}
    assert sum({step[3] for step in steps}) == 0
