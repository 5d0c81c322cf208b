"""The mask as a part of the observation, under the keys and with the dtype that a library wants; and bad arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from stoneworks.envs import BoardGameEnv, SelfPlayVectorEnv, SingleAgentEnv, VectorEnv, vadus_v0
from stoneworks.envs.observation_format import MASK_DTYPES, MASK_KEYS, OBSERVATION_KEYS, ObservationFormat
from stoneworks.envs.rules import load_game

GAME = "vadus(size=2)"


@pytest.mark.parametrize("mask_dtype", MASK_DTYPES)
@pytest.mark.parametrize("mask_key", MASK_KEYS)
@pytest.mark.parametrize("key", OBSERVATION_KEYS)
def test_every_environment_has_the_keys_and_the_dtype(key: str, mask_key: str, mask_dtype: str) -> None:
    form = ObservationFormat("flat", with_mask=True, key=key, mask_key=mask_key, mask_dtype=mask_dtype)
    aec = vadus_v0.env(size=2, observation=form)
    aec.reset()
    single = SingleAgentEnv(GAME, observation=form, seat=0)
    one, single_info = single.reset(seed=1)
    expected = {key: spaces.Box(0, 1, (54,), np.float32), mask_key: spaces.Box(0, 1, (10,), mask_dtype)}
    for space, observation in (
        (aec.observation_space("player_0"), aec.observe("player_0")),
        (aec.observation_space("player_1"), aec.observe("player_1")),
        (single.observation_space, one),
    ):
        assert space == spaces.Dict(expected)
        assert space.contains(observation)
    assert single_info["action_mask"].dtype == mask_dtype
    np.testing.assert_array_equal(one[key], aec.observe("player_0")[key])
    np.testing.assert_array_equal(one[mask_key], aec.observe("player_0")[mask_key])
    for kind in (VectorEnv, SelfPlayVectorEnv):
        many = kind(3, GAME, observation=form)
        assert many.single_observation_space == spaces.Dict(expected)
        observations, info = many.reset(seed=1)
        for _ in range(30):
            assert many.observation_space.contains(observations)
            assert info["action_mask"].dtype == mask_dtype
            np.testing.assert_array_equal(observations[mask_key], info["action_mask"])
            observations, _, _, _, info = many.step(info["action_mask"].argmax(1))
            for last in info.get("final_obs", ()):
                assert last is None or many.single_observation_space.contains(last)
                assert last is None or not last[mask_key].any()


EVERY = (SingleAgentEnv, VectorEnv, SelfPlayVectorEnv, BoardGameEnv)
LEARNERS = EVERY[:2]


@pytest.mark.parametrize(
    ("kinds", "arguments", "message"),
    [
        (EVERY, {"observation": {"layout": "WHC"}}, "layout must be one of CHW, HWC, flat, got 'WHC'"),
        (EVERY, {"observation": {"dtype": "float8"}}, "dtype must be one of float16, .*, got 'float8'"),
        (EVERY, {"game": "taigo", "observation": {"dtype": "uint8"}}, "dtype of planes of taigo .* got 'uint8'"),
        (EVERY, {"observation": {"key": "board"}}, "key must be one of observation, observations, obs, got 'board'"),
        (EVERY, {"observation": {"with_mask": 1}}, "with_mask must be one of False, True, got 1"),
        (EVERY, {"observation": {"format": 1}}, "observation must be .* a mapping of some of layout, .*format"),
        (EVERY, {"illegal_action": "ignore"}, "illegal_action must be one of lose, raise, got 'ignore'"),
        (EVERY, {"game": "vadus", "size": 1}, "size"),
        (EVERY[1:3], {"game": load_game("vadus"), "size": 3}, "options must be empty"),
        (EVERY[:3], {"frameskip": 4}, "frameskip must be 1, got 4"),
        *((EVERY[1:3], {"autoreset_mode": mode}, "must be one of .* got") for mode in ("often", None, 1, ["DISABLED"])),
        ((BoardGameEnv, SingleAgentEnv), {"render_mode": "video"}, "video"),
        (LEARNERS, {"seat": 2}, "seat must be one of .*, got 2"),
        (LEARNERS, {"opponent": "nobody"}, "unknown bot 'nobody'"),
        ([VectorEnv], {"opponent": {"random": 0, "greedy": 0}}, "must not all be 0"),
    ],
)
def test_a_bad_argument_is_named_with_what_is_allowed(kinds: Any, arguments: dict[str, Any], message: str) -> None:
    for kind in kinds:
        with pytest.raises(ValueError, match=message):
            kind(**{"game": GAME, **arguments})
