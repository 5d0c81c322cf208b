"""RLlib: both environments in all games, the module that masks, and the algorithm of the benchmark."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from example_modules import example

pytest.importorskip("ray.rllib")

import torch
from ray.rllib.core.columns import Columns

from benchmarks.learners import Clock, load_learner
from stoneworks.envs.rules import load_game
from stoneworks.integrations.rllib import MaskedModule, make_single_env
from stoneworks.models import load_bot


def test_every_game_steps_as_a_multi_agent_environment(game: str) -> None:
    env = example("rllib_ppo").make_env(game)
    observations, _ = env.reset(seed=1)
    over = {"__all__": False}
    rewards: dict[str, float] = {}
    while not over["__all__"]:
        ((agent, observation),) = observations.items()
        assert env.observation_spaces[agent].contains(observation)
        observations, rewards, terminated, truncated, _ = env.step({agent: int(observation["action_mask"].argmax())})
        over = {"__all__": terminated["__all__"] or truncated["__all__"]}
    assert sum(rewards.values()) == 0


@pytest.mark.parametrize("keys", [{}, {"key": "observations"}, {"mask_dtype": "bool", "mask_key": "mask"}])
def test_the_module_gives_illegal_actions_probability_0(game: str, keys: dict[str, str]) -> None:
    env = make_single_env({"game": game, "observation": {"layout": "flat", "with_mask": True, **keys}})
    observation, info = env.reset(seed=1)
    module = MaskedModule(observation_space=env.observation_space, action_space=env.action_space, model_config={})
    batch = {Columns.OBS: {key: torch.as_tensor(value[None]) for key, value in observation.items()}}
    logits = module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
    probabilities = logits.softmax(1)[0].detach().numpy()
    np.testing.assert_array_equal(probabilities > 0, info["action_mask"] != 0)
    assert module.compute_values(batch).shape == (1,)


def test_the_algorithm_of_the_benchmark_continues_with_its_networks(tmp_path: Path) -> None:
    game = load_game("vadus(size=2)")
    _, cls = load_learner("rllib-ppo")
    trained = cls(game, 0, tmp_path, Clock(60))
    trained.iterate()
    assert trained.steps >= 4096
    player = trained.save()
    continued = cls(game, 1, tmp_path, Clock(60))
    before, after = (learner.algorithm.get_weights()["learner"] for learner in (trained, continued))
    assert before.keys() == after.keys()
    for name, weights in before.items():
        np.testing.assert_array_equal(weights, after[name])
    load_bot(player, game, seed=1).step(game.new_initial_state())
