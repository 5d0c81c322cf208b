"""The vector environment, compared with the environment of one game, and what only many games have."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from game_play import random_legal, scattered_action
from stoneworks.envs import SingleAgentEnv, VectorEnv
from stoneworks.envs.rules import NO_ACTION, Batch, IllegalActionError, State
from stoneworks.models import Bot, load_bot

#: Won games, and truncated ones (R9).
TRUGO = ("trugo(radius=2,tiles=5)", "trugo(max_turns=6,radius=2,tiles=7)")


class CountingPlayer:
    """Plays scattered actions, and records the games of each call."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def step(self, state: State) -> int:
        raise AssertionError("a player with step_batch gets all of its games at once")

    def step_batch(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        self.asked.append(rows.tolist())
        return np.array([scattered_action(batch.state(row)) for row in rows.tolist()])

    def restart(self) -> None:
        pass


@pytest.mark.parametrize("seat", [0, 1, "alternate"])
@pytest.mark.parametrize("game", ["vadus(size=2)", "laido(size=2)", "taugo(size=3)", "taigo(radius=2)", *TRUGO])
def test_each_game_equals_that_of_the_single_game_environment(game: str, seat: int | str) -> None:
    many = VectorEnv(3, game, opponent=scattered_action, seat=seat)
    observations, info = many.reset(seed=5)
    singles = [SingleAgentEnv(game, opponent=scattered_action, seat=seat) for _ in range(3)]
    expected: list[Any] = []
    for number, single in enumerate(singles):
        single.reset(seed=1)
        if seat == "alternate" and number % 2:
            single.reset()
        expected.append(single._observation(single.game_state))
    generator = np.random.default_rng(0)
    num_ended = 0
    for _ in range(80):
        for number, (observation, single_info) in enumerate(expected):
            np.testing.assert_array_equal(observations[number], observation)
            np.testing.assert_array_equal(info["action_mask"][number], single_info["action_mask"])
            assert many.seats[number] == singles[number].learner_player
        np.testing.assert_array_equal(many.action_masks(), info["action_mask"].astype(bool))
        actions = random_legal(info["action_mask"], generator)
        observations, rewards, terminations, truncations, info = many.step(actions)
        for number, single in enumerate(singles):
            player = single.learner_player
            observation, reward, terminated, truncated, single_info = single.step(int(actions[number]))
            assert (rewards[number], terminations[number], truncations[number]) == (reward, terminated, truncated)
            if terminated or truncated:
                num_ended += 1
                assert info["_final_obs"][number]
                np.testing.assert_array_equal(info["final_obs"][number], observation)
                np.testing.assert_array_equal(info["final_info"]["action_mask"][number], single_info["action_mask"])
                assert info["final_info"]["seat"][number] == player
                observation, single_info = single.reset()
            elif "final_obs" in info:
                assert not info["_final_obs"][number]
                assert info["final_obs"][number] is None
            expected[number] = observation, single_info
    assert num_ended > 3


def test_gymnasium_makes_it_by_name_without_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make_vec("stoneworks.envs:stoneworks/Vadus-v0", num_envs=3, size=2, seat="random")
    assert isinstance(env, VectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    with pytest.raises(ResetNeeded):
        env.step([0, 0, 0])
    _, info = env.reset(seed=1)
    sampled = np.array([env.single_action_space.sample(mask) for mask in info["action_mask"]])
    assert env.observation_space.contains(env.step(sampled)[0])


def test_an_illegal_action_loses_that_game_alone() -> None:
    env = VectorEnv(3, "vadus", size=3, seat=0, opponent=scattered_action)
    env.reset(seed=1)
    _, rewards, terminations, truncations, info = env.step([9, env.game.string_to_action("pass"), 9])
    assert rewards.tolist() == [0, -1, 0]
    assert terminations.tolist() == [False, True, False]
    assert not truncations.any()
    assert info["final_obs"][1][:2].sum() == 0, "the position before the illegal action"
    assert env.observations()[1][:2].sum() == 0, "a new game"
    assert env.observations()[0][0].sum() == 1, "the other games have gone on"


@pytest.mark.parametrize(
    ("action", "illegal_action", "message"),
    [
        (25, "raise", r"\(pass\) is illegal"),
        *((no, how, f"action must be .*got {no}") for no in (-1, 26, NO_ACTION, 10**6) for how in ("lose", "raise")),
    ],
)
def test_an_action_that_is_not_to_lose_raises(action: int, illegal_action: str, message: str) -> None:
    env = VectorEnv(2, "vadus", size=3, seat=0, illegal_action=illegal_action)
    observations, _ = env.reset(seed=1)
    with pytest.raises(IllegalActionError, match=f"game 1: .*{message}"):
        env.step([9, action])
    for actions in ([9], [9, 9, 9], [[9, 9]], [9.0, 9.0], [True, True], "99"):
        with pytest.raises(ValueError, match="actions must be 2 integers"):
            env.step(actions)  # type: ignore[arg-type]
    np.testing.assert_array_equal(env.observations(), observations)


def test_an_opponent_is_called_once_per_round_for_all_of_its_games() -> None:
    player = CountingPlayer()
    env = VectorEnv(4, "vadus", size=3, seat="alternate", opponent=player)
    env.reset(seed=1)
    assert player.asked == [[1, 3]], "games in which the opponent moves first"
    player.asked.clear()
    masks = env.action_masks()
    env.step(masks.argmax(1))  # V1: the learner's turn of one stone is over in games 0 and 2, not in games 1 and 3
    assert player.asked == [[0, 2], [0, 2]]


def test_shares_select_opponents_and_running_games_keep_theirs() -> None:
    first, second, never = CountingPlayer(), CountingPlayer(), CountingPlayer()
    env = VectorEnv(200, "vadus", size=2)
    env.set_opponents({"first": 3, "never": 0, "second": 1}, {"first": first, "second": second, "never": never})
    env.reset(seed=1)
    names = env.opponent_names
    assert 110 < names.count("first") < 190
    assert names.count("first") + names.count("second") == 200
    before = env.np_random.bit_generator.state
    with pytest.raises(ValueError, match="unknown bot 'nobody'"):
        env.set_opponents({"random": 1, "nobody": 1})
    with pytest.raises(ValueError, match="players must each have a share, got none for 'typo'"):
        env.set_opponents({"first": 1}, {"first": first, "typo": second})
    assert env.np_random.bit_generator.state == before
    env.set_opponents({"never": 1}, {"never": never})
    assert env.opponent_names == names
    assert not never.asked
    generator = np.random.default_rng(0)
    ended = np.zeros(200, bool)
    for _ in range(3):
        _, _, terminations, _, info = env.step(random_legal(env.action_masks(), generator))
        for row in np.flatnonzero(terminations & ~ended):
            assert info["final_info"]["opponent"][row] == names[row]
        ended |= terminations
        assert env.opponent_names == ["never" if over else name for name, over in zip(names, ended, strict=True)]
    assert 0 < ended.sum() < 200


def test_opponents_given_by_name_are_closed_when_they_are_no_longer_used(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Bot] = []
    monkeypatch.setattr(Bot, "close", lambda bot: closed.append(bot))
    env = VectorEnv(4, "vadus", size=2)
    env.reset(seed=1)
    assert len(closed) == 1, "seeding replaces the first one"
    env.set_opponents({"greedy": 1})
    assert len(closed) == 1, "its games go on"
    with pytest.raises(ValueError, match="unknown bot"):
        env.set_opponents({"random": 1, "nobody": 1})
    assert len(closed) == 2
    env.reset(seed=2)
    assert len(closed) == 3, "greedy never played"
    given = load_bot("random", env.game)
    env.set_opponents({"given": 1}, {"given": given})
    env.reset()
    env.close()
    assert len({id(bot) for bot in closed}) == len(closed) == 5
    assert given not in closed


def test_equal_seeds_give_equal_games_with_opponents_given_by_name() -> None:
    runs = []
    for _ in range(2):
        env = VectorEnv(8, "vadus", size=3, opponent={"random": 1, "greedy": 1}, seat="random")
        env.reset(seed=11)
        env.step(env.action_masks().argmax(1))
        env.reset(seed=7)
        env.set_opponents({"random": 3, "greedy": 1})
        trace = [env.observations()]
        for _ in range(25):
            trace.append(env.step(env.action_masks().argmax(1))[0])
        runs.append(np.array(trace))
    np.testing.assert_array_equal(runs[0], runs[1])
    env.reset(seed=8)
    env.set_opponents({"random": 3, "greedy": 1})
    other = [env.observations(), *(env.step(env.action_masks().argmax(1))[0] for _ in range(25))]
    assert not np.array_equal(runs[0], np.array(other))


def test_games_that_end_before_the_learner_acts_are_an_error_and_no_endless_loop() -> None:
    game = "trugo(max_turns=1,radius=3)"
    for env, action in ((VectorEnv(2, game, seat=1), np.zeros(2, np.int64)), (SingleAgentEnv(game, seat=1), 0)):
        with pytest.raises(ValueError, match=r"seat must let the learner act: 1000 games of trugo.* in a row .*got 1"):
            env.reset(seed=0)
        with pytest.raises(ResetNeeded):
            env.step(action)
    VectorEnv(2, game, seat=0).reset(seed=0)
    _, info = SingleAgentEnv(game, seat="alternate").reset(seed=0)
    assert info["action_mask"].any()
