"""TorchRL: all games in its three ways to an environment."""

from __future__ import annotations

import pytest

from example_modules import example

pytest.importorskip("torchrl")

import torch
from tensordict.nn import TensorDictModule
from torchrl.envs import GymEnv, PettingZooWrapper
from torchrl.modules import MaskedCategorical

import stoneworks.envs  # noqa: F401
from stoneworks.envs.aec import BoardGameEnv
from stoneworks.envs.rules import load_game


def choose(mask_key: str) -> TensorDictModule:
    """Return a policy that draws a legal action."""

    def draw(mask: torch.Tensor) -> torch.Tensor:
        return MaskedCategorical(logits=torch.zeros(mask.shape), mask=mask).sample()

    return TensorDictModule(draw, in_keys=[mask_key], out_keys=["action"])


def test_every_game_steps_as_a_vector_environment(game: str) -> None:
    env = example("torchrl_ppo").make_env(game)
    rollout = env.rollout(40, choose("action_mask"), break_when_any_done=False)
    assert rollout.shape == (64, 40)
    ended = rollout["next", "done"].squeeze(-1)
    assert ended.any()
    assert (rollout["next", "reward"].squeeze(-1)[~ended] == 0).all()
    start = torch.from_numpy(load_game(game).new_initial_state().observation_tensor(0).ravel())
    following = rollout["observation"][:, 1:][ended[:, :-1]]
    seat_0 = (following == start).all(1)
    assert seat_0.any(), "games are restarted after they end"


def test_every_game_is_made_by_gym_env(game: str) -> None:
    name, _, options = game.partition("(")
    keywords = {key: int(value) for key, value in (part.split("=") for part in options.rstrip(")").split(","))}
    keywords["observation"] = {"layout": "flat", "with_mask": True, "mask_dtype": "bool"}
    env = GymEnv(f"stoneworks/{name.capitalize()}-v0", categorical_action_encoding=True, **keywords)
    rollout = env.rollout(1000, choose("action_mask"))
    assert rollout["next", "done"][-1]


def test_every_game_is_wrapped_as_pettingzoos(game: str) -> None:
    inner = BoardGameEnv(game, observation={"layout": "flat"})
    env = PettingZooWrapper(inner, use_mask=True, categorical_actions=True, group_map=None)
    data = env.reset()
    for _ in range(10):
        for group in env.group_map:
            mask = data[group, "action_mask"]
            data[group, "action"] = MaskedCategorical(logits=torch.zeros(mask.shape), mask=mask).sample()
        step, data = env.step_and_maybe_reset(data)
        assert torch.isfinite(step["next", "player_0", "reward"]).all()
