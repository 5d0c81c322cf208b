"""Self-play at vector speed, compared with the rules; its advantages, compared with a player's own sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from game_play import random_legal
from stoneworks.envs import SelfPlayVectorEnv, SingleAgentEnv, VectorEnv
from stoneworks.envs.advantages import self_play_advantages
from stoneworks.envs.players import PolicyNeededError
from stoneworks.envs.rules import IllegalActionError, load_game
from stoneworks.envs.rules.game_registry import small_games


@pytest.mark.parametrize("game", [*small_games(), "trugo(radius=2,tiles=5)"])
def test_every_row_is_the_player_to_move(game: str) -> None:
    env = SelfPlayVectorEnv(4, game)
    states = [load_game(game).new_initial_state() for _ in range(4)]
    observations, info = env.reset(seed=1)
    generator = np.random.default_rng(1)
    endings = set()
    movers_in_a_row = False
    for _ in range(200):
        for row, state in enumerate(states):
            player = state.current_player()
            assert info["player"][row] == env.players[row] == player
            np.testing.assert_array_equal(observations[row], state.observation_tensor(player))
            np.testing.assert_array_equal(info["action_mask"][row], state.legal_actions_mask())
        movers = env.players
        actions = random_legal(info["action_mask"], generator)
        observations, rewards, terminations, truncations, info = env.step(actions)
        np.testing.assert_array_equal(info["mover"], movers)
        for row, state in enumerate(states):
            mover = state.current_player()
            state.apply_action(int(actions[row]))
            movers_in_a_row |= state.current_player() == mover
            np.testing.assert_array_equal(info["rewards"][row], state.returns())
            assert rewards[row] == state.returns()[mover]
            assert terminations[row] == (state.is_terminal() and not state.is_truncated())
            assert truncations[row] == state.is_truncated()
            if state.is_terminal():
                endings.add((mover, float(rewards[row])))
                np.testing.assert_array_equal(info["final_obs"][row], state.observation_tensor(mover))
                assert info["final_info"]["mover"][row] == mover
                states[row] = load_game(game).new_initial_state()
            elif "final_obs" in info:
                assert info["final_obs"][row] is None
    assert len(endings) > (0 if "max_turns" in game else 1)
    assert movers_in_a_row or game.startswith(("laido", "taigo"))


def test_an_illegal_action_loses_and_the_other_player_wins() -> None:
    env = SelfPlayVectorEnv(2, "vadus(size=3)")
    env.reset(seed=1)
    env.step([9, 9])  # V1: player 1 is to move
    _, rewards, terminations, _, info = env.step([10, 9])
    assert rewards.tolist() == [0, -1]
    assert terminations.tolist() == [False, True]
    np.testing.assert_array_equal(info["rewards"], [[0, 0], [1, -1]])
    assert env.players.tolist() == [1, 0], "a new game, and the old one"
    raising = SelfPlayVectorEnv(1, "vadus(size=3)", illegal_action="raise")
    raising.reset()
    raising.step([9])
    with pytest.raises(IllegalActionError, match="game 0"):
        raising.step([9])


def exact_advantages(rewards: Any, values: Any, players: Any, ended: Any, last: Any, gamma: float) -> list[float]:
    """One row with lambda 1: each player's discounted sum of its own rewards, minus its value."""
    advantages = []
    for start, player in enumerate(players):
        total, discount = 0.0, 1.0
        for step in range(start, len(players)):
            total += discount * rewards[step] * (1 if players[step] == player else -1)
            discount *= gamma
            if ended[step]:
                break
        else:
            total += discount * last[0] * (1 if last[1] == player else -1)
        advantages.append(total - values[start])
    return advantages


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_advantages_with_lambda_1_are_each_players_own_sum_of_rewards(gamma: float) -> None:
    env = SelfPlayVectorEnv(5, "vadus(size=2)")
    _, info = env.reset(seed=1)
    generator = np.random.default_rng(2)
    rewards, players, ended = [], [], []
    for _ in range(40):
        players.append(env.players)
        _, reward, terminations, truncations, info = env.step(random_legal(info["action_mask"], generator))
        rewards.append(reward)
        ended.append(terminations | truncations)
    values = generator.normal(size=(40, 5))
    next_values = generator.normal(size=5)
    advantages, targets = self_play_advantages(
        rewards, values, players, ended, next_values=next_values, next_players=env.players, gamma=gamma, gae_lambda=1.0
    )
    for row in range(5):
        of_row = [np.array(array)[:, row] for array in (rewards, values, players, ended)]
        last = (float(next_values[row]), int(env.players[row]))
        np.testing.assert_allclose(advantages[:, row], exact_advantages(*of_row, last, gamma))
    np.testing.assert_allclose(targets, advantages + values)


def test_advantages_with_lambda_0_look_one_step_ahead() -> None:
    rewards, values, players = np.array([[0, 0, 1, 0], [0.1, 0.2, 0.3, 0.4], [0, 1, 1, 0]])[:, :, None]
    last = {"next_values": [0.5], "next_players": [0], "gamma": 0.5, "gae_lambda": 0.0}
    advantages, _ = self_play_advantages(rewards, values, players.astype(int), rewards > 0, **last)
    expected = [-0.5 * 0.2 - 0.1, 0.5 * 0.3 - 0.2, 1 - 0.3, 0.5 * 0.5 - 0.4]
    np.testing.assert_allclose(advantages[:, 0], expected)


def last_legal(observations: Any, masks: np.ndarray) -> np.ndarray:
    assert masks.dtype == np.bool_
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(1)


@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("layout", ["CHW", "flat"])
def test_the_opponent_self_plays_the_policy_handed_over(layout: str, with_mask: bool) -> None:
    arguments: dict[str, Any] = {"observation": {"layout": layout, "with_mask": with_mask}, "seat": 1}
    many = VectorEnv(2, "vadus(size=3)", opponent="self", **arguments)
    single = SingleAgentEnv("vadus(size=3)", opponent="self", **arguments)
    for env in (many, single):
        with pytest.raises(PolicyNeededError, match="call set_policy"):
            env.reset(seed=1)

        def checked(observations: Any, masks: np.ndarray, env: Any = env) -> np.ndarray:
            space = env.single_observation_space if env is many else env.observation_space
            for row in range(len(masks)):
                part = {key: value[row] for key, value in observations.items()} if with_mask else observations[row]
                assert space.contains(part)
            return last_legal(observations, masks)

        env.set_policy(checked)
    reference = SingleAgentEnv("vadus(size=3)", opponent=lambda state: state.legal_actions()[-1], seat=1)
    reference.reset(seed=1)
    single.reset(seed=1)
    many.reset(seed=1)
    assert many.opponent_names == ["self", "self"]
    while (mask := reference.action_masks()).any():
        np.testing.assert_array_equal(mask, single.action_masks())
        np.testing.assert_array_equal(mask, many.action_masks()[0])
        action = int(mask.argmax())
        reference.step(action)
        single.step(action)
        many.step([action, action])


def test_past_versions_are_opponents_beside_the_current_one() -> None:
    env = VectorEnv(200, "vadus(size=2)", opponent={"self": 1, "random": 1})
    env.set_policy(last_legal)
    past = env.policy_player(lambda observations, masks: masks.argmax(1))
    env.set_opponents({"self": 1, "past": 1}, {"past": past})
    env.reset(seed=1)
    assert 60 < env.opponent_names.count("self") < 140
    assert set(env.opponent_names) == {"self", "past"}
    env = VectorEnv(2, "vadus(size=2)", opponent="self", seat=1)
    for answer in ([0], [0.0, 0.0], None, [[0, 0]]):
        env.set_policy(lambda observations, masks, answer=answer: answer)
        with pytest.raises(ValueError, match="the actions of a policy must be 2 integers"):
            env.reset(seed=1)
