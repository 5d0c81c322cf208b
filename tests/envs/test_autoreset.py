"""The autoreset modes: the same games, restarted at different times; and Gymnasium's own vector wrappers."""

from __future__ import annotations

import zlib
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

from game_play import scattered_action
from stoneworks.envs import SelfPlayVectorEnv, VectorEnv
from stoneworks.envs.rules import NO_ACTION
from stoneworks.envs.rules.game_registry import small_games


def make(kind: type, game: str, num_envs: int = 3, **arguments: Any) -> Any:
    if kind is VectorEnv:
        arguments |= {"opponent": scattered_action, "seat": "alternate"}
    return kind(num_envs, game, illegal_action="lose", **arguments)


def choose(observation: np.ndarray, mask: np.ndarray) -> int:
    """A choice that depends on the observation alone, now and then an illegal one."""
    number = zlib.crc32(np.ascontiguousarray(observation).tobytes())
    legal = np.flatnonzero(mask)
    return number % len(mask) if number % 7 == 0 else int(legal[number // 7 % len(legal)])


def episodes(env: Any, num_steps: int) -> list[list[list[Any]]]:
    """Return the episodes of each row: what was observed, chosen and rewarded."""
    mode = env.autoreset_mode
    observations, info = env.reset(seed=1)
    rows: list[list[list[Any]]] = [[[]] for _ in range(env.num_envs)]
    ended = np.zeros(env.num_envs, bool)
    for _ in range(num_steps):
        masks = info["action_mask"]
        actions = np.array(
            [NO_ACTION if over else choose(*pair) for over, *pair in zip(ended, observations, masks, strict=True)]
        )
        before = observations
        skipped = ended
        observations, rewards, terminations, truncations, info = env.step(actions)
        ended = terminations | truncations
        for row in range(env.num_envs):
            if skipped[row]:
                assert mode is AutoresetMode.NEXT_STEP
                assert not rewards[row]
                assert not ended[row]
                continue
            step = [before[row].tobytes(), int(actions[row]), float(rewards[row]), bool(terminations[row])]
            if ended[row]:
                last = info["final_obs"][row] if mode is AutoresetMode.SAME_STEP else observations[row]
                step.append(last.tobytes())
                if mode is not AutoresetMode.SAME_STEP:
                    assert info["action_mask"][row].all() == (mode is AutoresetMode.NEXT_STEP)
                    assert info["action_mask"][row].any() == (mode is AutoresetMode.NEXT_STEP)
            rows[row][-1].append(step)
            if ended[row]:
                rows[row].append([])
        if mode is AutoresetMode.DISABLED and ended.any():
            after = observations.copy()
            observations, info = env.reset(options={"reset_mask": ended})
            np.testing.assert_array_equal(observations[~ended], after[~ended])
        if mode is not AutoresetMode.NEXT_STEP:
            ended = np.zeros(env.num_envs, bool)
    return rows


@pytest.mark.parametrize("kind", [VectorEnv, SelfPlayVectorEnv])
@pytest.mark.parametrize("game", small_games())
def test_the_games_are_the_same_in_every_mode(game: str, kind: type) -> None:
    same_step, *others = (episodes(make(kind, game, autoreset_mode=mode), 150) for mode in AutoresetMode)
    num_ended = 0
    for other in others:
        for row, other_row in zip(same_step, other, strict=True):
            num_games = min(len(row), len(other_row)) - 1
            assert row[:num_games] == other_row[:num_games]
            num_ended += num_games
    assert num_ended > 10


@pytest.mark.parametrize("kind", [VectorEnv, SelfPlayVectorEnv])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_mode_is_an_attribute_and_can_be_given_in_any_form(kind: type, mode: AutoresetMode) -> None:
    for given in (mode, mode.name, mode.value):
        env = make(kind, "vadus(size=2)", autoreset_mode=given)
        assert env.autoreset_mode is mode
        assert env.metadata["autoreset_mode"] is mode
    assert kind.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP, "an environment's own metadata"


@pytest.mark.parametrize("kind", [VectorEnv, SelfPlayVectorEnv])
def test_without_autoreset_an_ended_game_must_be_reset(kind: type) -> None:
    env = make(kind, "vadus(size=2)", autoreset_mode="DISABLED")
    _, info = env.reset(seed=1)
    while not (ended := np.logical_or(*env.step(info["action_mask"].argmax(1))[2:4])).any():
        info = {"action_mask": env.action_masks()}
    before = env.observations()
    with pytest.raises(ResetNeeded, match=rf"game {np.flatnonzero(ended)[0]} has ended; call reset"):
        env.step(np.zeros(3, int))
    np.testing.assert_array_equal(env.observations(), before)


@pytest.mark.parametrize("kind", [VectorEnv, SelfPlayVectorEnv])
@pytest.mark.parametrize(
    "mask", [np.zeros(3, bool), np.ones(2, bool), np.ones(3, int), [True, True, True], np.ones((3, 1), bool), None]
)
def test_a_bad_reset_mask_is_refused_and_changes_nothing(kind: type, mask: Any) -> None:
    env = make(kind, "vadus(size=3)")
    env.reset(seed=1)
    env.step(env.action_masks().argmax(1))
    before = env.observations()
    with pytest.raises(ValueError, match=r"options\['reset_mask'\] must"):
        env.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(env.observations(), before)
    with pytest.raises(ResetNeeded):
        make(kind, "vadus(size=3)").reset(options={"reset_mask": np.array([True, False, False])})


@pytest.mark.parametrize("mode", ["NEXT_STEP", "DISABLED"])
@pytest.mark.parametrize(
    "wrap",
    [
        wrappers.FlattenObservation,
        lambda env: wrappers.DtypeObservation(env, np.float64),
        lambda env: wrappers.RescaleObservation(env, np.float32(-1), np.float32(1)),
        lambda env: wrappers.TransformObservation(env, lambda observations: observations * 2, env.observation_space),
        wrappers.RecordEpisodeStatistics,
        wrappers.NormalizeReward,
        lambda env: wrappers.TransformReward(env, lambda rewards: rewards * 2),
    ],
)
def test_the_vector_wrappers_of_gymnasium_work(wrap: Any, mode: str) -> None:
    env = wrap(gymnasium.make_vec("stoneworks.envs:stoneworks/Vadus-v0", num_envs=3, size=2, autoreset_mode=mode))
    observations, info = env.reset(seed=1)
    for _ in range(30):
        assert observations.shape == env.observation_space.shape
        assert observations.dtype == env.observation_space.dtype
        observations, _, terminations, truncations, info = env.step(info["action_mask"].argmax(1))
        ended = terminations | truncations
        if mode == "DISABLED" and ended.any():
            observations, info = env.reset(options={"reset_mask": ended})


@pytest.mark.skipif(
    tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 3), reason="Gymnasium's wrapper counted one step less"
)
def test_episode_statistics_are_those_of_the_games() -> None:
    env = wrappers.RecordEpisodeStatistics(VectorEnv(4, "vadus(size=2)", opponent=scattered_action))
    _, info = env.reset(seed=1)
    lengths = np.zeros(4, int)
    num_ended = 0
    for _ in range(40):
        _, rewards, terminations, truncations, info = env.step(info["action_mask"].argmax(1))
        lengths += 1
        for row in np.flatnonzero(terminations | truncations):
            statistics = info["final_info"]["episode"] if "episode" not in info else info["episode"]
            assert (statistics["r"][row], statistics["l"][row]) == (rewards[row], lengths[row])
            lengths[row] = 0
            num_ended += 1
    assert num_ended > 5
