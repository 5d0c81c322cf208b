"""The vector environment as MaskablePPO sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback

from example_modules import example
from game_play import scattered_action
from stoneworks.envs import ObservationFormat, SelfPlayVectorEnv, SingleAgentEnv, VectorEnv
from stoneworks.integrations.sb3 import SB3VecEnv, SelfPlayMaskablePPO
from stoneworks.models.network import Architecture
from stoneworks.training.ppo.sb3_policy import BoardPolicy
from tiny_runs import assert_equal_tensors


def make_env(num_games: int = 4, game: str = "vadus(size=2)", **arguments: Any) -> SB3VecEnv:
    return SB3VecEnv(VectorEnv(num_games, game, **arguments))


def test_spaces_masks_and_attributes_are_those_of_the_games() -> None:
    env = make_env()
    assert env.num_envs == 4
    assert env.observation_space == spaces.Box(0, 1, (6, 3, 3), np.float32)
    assert env.action_space == spaces.Discrete(10)
    env.seed(3)
    observations = env.reset()
    assert observations.shape == (4, 6, 3, 3)
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    np.testing.assert_array_equal(masks, env.games.action_masks())
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[2, 0]), masks[[2, 0]])
    assert env.get_attr("num_envs", indices=1) == [4]
    assert not env.has_attr("no_such_attribute")
    env.set_attr("illegal_action", "raise")
    assert env.get_attr("illegal_action") == ["raise"] * 4
    with pytest.raises(ValueError, match="indices must be None"):
        env.set_attr("illegal_action", "lose", indices=[0])


def test_ended_games_have_return_length_and_last_observation() -> None:
    env = make_env(3, seat="alternate", opponent=scattered_action)
    plain = VectorEnv(3, "vadus(size=2)", seat="alternate", opponent=scattered_action)
    env.seed(1)
    env.reset()
    plain.reset(seed=1)
    lengths = np.zeros(3, int)
    num_ended = 0
    for _ in range(40):
        actions = env.games.action_masks().argmax(1)
        observations, rewards, dones, infos = env.step(actions)
        expected = plain.step(actions)
        lengths += 1
        np.testing.assert_array_equal(observations, expected[0])
        np.testing.assert_array_equal(rewards, expected[1])
        assert rewards.dtype == np.float32
        np.testing.assert_array_equal(dones, expected[2])
        for row in range(3):
            if not dones[row]:
                assert infos[row] == {}
                continue
            num_ended += 1
            assert infos[row]["episode"] == {"r": rewards[row], "l": lengths[row]}
            assert infos[row]["TimeLimit.truncated"] is False
            assert infos[row]["seat"] == expected[4]["final_info"]["seat"][row]
            assert infos[row]["opponent"] == "function"
            np.testing.assert_array_equal(infos[row]["terminal_observation"], expected[4]["final_obs"][row])
            lengths[row] = 0
    assert num_ended > 3


def test_the_policy_agrees_with_sb3_contribs_distributions() -> None:
    """Log probabilities and entropies are those of MaskableCategorical."""
    env = make_env(6, "laido(size=3)")
    policy = {"architecture": Architecture.of_game(env.games.game, channels=4, blocks=1)}
    model = MaskablePPO(BoardPolicy, env, n_steps=24, batch_size=32, seed=1, device="cpu", policy_kwargs=policy)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
        observations = torch.from_numpy(env.reset())
        masks = get_action_masks(env)
        actions, values, log_probabilities = model.policy(observations, action_masks=masks)
        again = model.policy.evaluate_actions(observations, actions, action_masks=masks)
        distribution = model.policy.get_distribution(observations, action_masks=masks)
    assert masks[np.arange(6), actions.numpy()].all()
    torch.testing.assert_close(log_probabilities, distribution.log_prob(actions))
    torch.testing.assert_close(again[1], distribution.log_prob(actions))
    torch.testing.assert_close(again[2], distribution.entropy())
    torch.testing.assert_close(again[0], values)
    torch.testing.assert_close(model.policy.predict_values(observations), values)
    assert values.shape == (6, 1)
    predicted, _ = model.predict(observations.numpy(), action_masks=masks, deterministic=True)
    assert predicted.tolist() == distribution.mode().tolist()
    assert model.policy(observations, deterministic=True, action_masks=masks)[0].tolist() == predicted.tolist()
    # A single legal action has probability 1 and entropy 0.
    masks = np.arange(masks.shape[1])[None].repeat(6, axis=0) == 7
    actions, _, log_probabilities = model.policy(observations, action_masks=masks)
    entropies = model.policy.evaluate_actions(observations, actions, action_masks=masks)[2]
    assert [actions.tolist(), log_probabilities.tolist(), entropies.tolist()] == [[7] * 6, [0] * 6, [0] * 6]


def test_self_play_learns_from_each_players_own_rewards_and_its_model_is_saved_and_loaded(tmp_path: Path) -> None:
    env = SB3VecEnv(SelfPlayVectorEnv(8, "vadus(size=2)", observation={"layout": "flat"}))
    model = SelfPlayMaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, gamma=1.0, gae_lambda=1.0, seed=1)
    collected = _SelfPlayed()
    model.learn(256, callback=collected)
    buffer = model.rollout_buffer
    players, rewards, ended = (np.array(column) for column in zip(*collected.steps, strict=True))
    assert ended.sum() > 10
    np.testing.assert_array_equal(collected.players, players)
    for row in range(8):
        last = max(np.flatnonzero(ended[:, row]))
        for step in range(last + 1):
            end = step + int(ended[step:, row].argmax())
            result = rewards[end, row] * (1 if players[end, row] == players[step, row] else -1)
            assert collected.returns[step, row] == pytest.approx(result, abs=1e-5)
    assert buffer.full
    model.save(tmp_path / "model")
    loaded = SelfPlayMaskablePPO.load(tmp_path / "model", env=env)
    env.seed(0)
    observations, masks = env.reset(), np.stack(env.env_method("action_masks"))
    actions, again = (one.predict(observations, deterministic=True, action_masks=masks)[0] for one in (model, loaded))
    np.testing.assert_array_equal(actions, again)
    assert_equal_tensors(loaded.policy.state_dict(), model.policy.state_dict())
    other = SB3VecEnv(SelfPlayVectorEnv(8, "vadus(size=2)", observation={"layout": "flat"}))
    loaded.set_env(other)
    assert loaded.rollout_buffer.env is other
    alone = SelfPlayMaskablePPO.load(tmp_path / "model")
    alone.set_env(other)
    assert alone.rollout_buffer.env is other
    loaded.learn(256)
    changed = loaded.policy.state_dict()
    assert any(not torch.equal(tensor, changed[name]) for name, tensor in model.policy.state_dict().items())


class _SelfPlayed(BaseCallback):
    """Keeps what happened, and the buffer's players and returns before training shuffles them."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.players = self.returns = np.zeros(0)

    def _on_step(self) -> bool:
        movers = self.training_env.get_attr("movers", 0)[0]
        self.steps.append((movers, self.locals["rewards"].copy(), self.locals["dones"].copy()))
        return True

    def _on_rollout_end(self) -> None:
        buffer = self.model.rollout_buffer  # type: ignore[attr-defined]
        self.players, self.returns = buffer.players.copy(), buffer.returns.copy()


def test_invalid_environments_are_rejected() -> None:
    with pytest.raises(ValueError, match="autoreset_mode must be SAME_STEP, got NEXT_STEP"):
        SB3VecEnv(VectorEnv(2, "vadus(size=2)", autoreset_mode="NEXT_STEP"))
    with pytest.raises(ValueError, match="must be an SB3VecEnv over a SelfPlayVectorEnv"):
        SelfPlayMaskablePPO("MlpPolicy", make_env())
    inside = SelfPlayVectorEnv(2, "vadus(size=2)", observation={"with_mask": True})
    with pytest.raises(ValueError, match="with_mask=False"):
        SelfPlayMaskablePPO("MultiInputPolicy", SB3VecEnv(inside))
    env = SB3VecEnv(SelfPlayVectorEnv(2, "vadus(size=2)", observation={"layout": "flat"}))
    model = SelfPlayMaskablePPO("MlpPolicy", env)
    for refused in (make_env(), SingleAgentEnv("vadus(size=2)"), env.games):
        with pytest.raises(ValueError, match="must be an SB3VecEnv over a SelfPlayVectorEnv"):
            model.set_env(refused)
        assert model.env is model.rollout_buffer.env is env


def test_truncated_games_of_self_play_are_draws_and_not_bootstrapped() -> None:
    """sb3-contrib would add the value of the last observation to the reward."""
    game = "trugo(max_turns=6,radius=3,tiles=6)"
    found: dict[type, list[tuple[bool, float]]] = {}
    for games in (SelfPlayVectorEnv(4, game), VectorEnv(4, game, opponent="random")):
        env = SB3VecEnv(games)
        env.seed(0)
        env.reset()
        flags = found[type(games)] = []
        generator = np.random.default_rng(0)
        for _ in range(200):
            masks = np.stack(env.env_method("action_masks"))
            _, rewards, _, infos = env.step((masks * generator.random(masks.shape)).argmax(axis=1))
            for info, reward in zip(infos, rewards, strict=True):
                flags += [(info["TimeLimit.truncated"], float(reward))] if "episode" in info else []
    assert (False, 0.0) in found[SelfPlayVectorEnv]
    assert not any(truncated for truncated, _ in found[SelfPlayVectorEnv])
    assert any(truncated for truncated, _ in found[VectorEnv])


def test_opponents_that_win_get_more_games_and_copies_join_them() -> None:
    module = example("prioritized_opponents")
    games = VectorEnv(
        8, "vadus(size=2)", opponent={"random": 1, "greedy": 1}, observation=ObservationFormat(layout="flat")
    )
    opponents = module.PrioritizedOpponents(games, rollouts_per_copy=2)
    opponents.scores["random"] = 1.0
    model = MaskablePPO("MlpPolicy", SB3VecEnv(games), n_steps=32, batch_size=64, gamma=1.0, seed=1)
    model.learn(8 * 32 * 4, callback=opponents)
    assert set(opponents.scores) == {"random", "greedy", "copy 2", "copy 4"}
    assert opponents.scores["random"] != 1.0 or opponents.scores["greedy"] != 0.5, "results were counted"
    assert {"greedy", "copy 2"} & set(games.opponent_names)
    opponents.games = Mock()
    opponents.scores = {"random": 0.9, "greedy": 0.1}
    opponents._on_rollout_end()
    ((shares, _),) = (call.args for call in opponents.games.set_opponents.mock_calls)
    assert shares["greedy"] > shares["random"]
