"""PufferLib: all games as its native environment, alone and in its vectorization."""

from __future__ import annotations

import numpy as np
import pytest

from example_modules import example

pytest.importorskip("pufferlib")

import pufferlib.vector
import torch

from stoneworks.envs.vector import VectorEnv
from stoneworks.integrations.pufferlib import PufferVectorEnv, split


def test_every_game_steps_as_the_vector_environment_does(game: str) -> None:
    env = example("pufferlib_ppo").make_env(game)
    expected = VectorEnv(env.num_agents, game, opponent="random", observation={"layout": "flat"})
    num_actions = env.single_action_space.n
    observations, infos = env.reset(seed=1)
    planes, info = expected.reset(seed=1)
    num_ended = 0
    for _ in range(60):
        assert env.observation_space.contains(observations)
        seen, masks = split(torch.as_tensor(observations), num_actions)
        np.testing.assert_array_equal(seen, planes)
        np.testing.assert_array_equal(masks, info["action_mask"] != 0)
        actions = info["action_mask"].argmax(1)
        observations, rewards, terminals, truncations, infos = env.step(actions)
        planes, *step, info = expected.step(actions)
        for array, same in zip((rewards, terminals, truncations), step, strict=True):
            np.testing.assert_array_equal(array, same)
        ended = terminals | truncations
        num_ended += ended.sum()
        assert len(infos) == ended.any()
        for given in infos:
            assert given["score"] == pytest.approx((1 + rewards[ended].mean()) / 2)
    assert num_ended > 10
    env.rewards[:], env.terminals[:] = 1, True
    env.reset(seed=2)
    assert not env.rewards.any()
    assert not (env.terminals | env.truncations).any()


@pytest.mark.parametrize("backend", ["Serial", pufferlib.vector.PufferEnv])
def test_every_game_steps_in_its_vectorization(game: str, backend: object) -> None:
    num_envs = 2 if backend == "Serial" else 1
    arguments = {"num_envs": 3, "game": game}
    env = pufferlib.vector.make(PufferVectorEnv, env_kwargs=arguments, backend=backend, num_envs=num_envs)
    observations, _ = env.reset(seed=1)
    for _ in range(20):
        assert env.observation_space.contains(observations)
        _, masks = split(observations, env.single_action_space.n)
        observations, *_ = env.step(masks.argmax(1))
    env.close()


def test_options_with_a_fixed_value_cannot_be_given() -> None:
    for name in ("observation", "autoreset_mode"):
        with pytest.raises(ValueError, match=f"{name} must not be given"):
            PufferVectorEnv(2, game="vadus(size=3)", **{name: "CHW"})
