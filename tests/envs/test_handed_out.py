"""What an environment hands out is the caller's: it does not change later, and it can be written to."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.aec import BoardGameEnv
from stoneworks.envs.observation_format import FLOATING_DTYPES, INTEGER_DTYPES, LAYOUTS
from stoneworks.envs.self_play import SelfPlayVectorEnv
from stoneworks.envs.single_agent import SingleAgentEnv
from stoneworks.envs.vector import VectorEnv
from stoneworks.integrations.sb3 import SB3VecEnv

GAME = "vadus(size=2)"


def play_aec(**arguments: Any) -> Iterator[Any]:
    env = BoardGameEnv(GAME, **arguments)
    for _ in range(3):
        env.reset()
        while env.agents:
            observation, _, _, _, info = env.last()
            yield observation, info, env.observe("player_0"), env.observe("player_1"), env.state(), env.game_state
            mask = env.observe(env.agent_selection)["action_mask"]
            env.step(int(mask.argmax()) if mask.any() else None)
            yield dict(env.rewards), dict(env.terminations), dict(env.infos)


def play_single(**arguments: Any) -> Iterator[Any]:
    env = SingleAgentEnv(GAME, **arguments)
    for seed in (1, None, 2):
        observation, info = env.reset(seed=seed)
        yield observation, info, env.action_masks(), env.game_state
        while env.action_masks().any():
            step = env.step(int(env.action_masks().argmax()))
            yield step, env.action_masks(), env.game_state


def play_vector(**arguments: Any) -> Iterator[Any]:
    env = VectorEnv(3, GAME, **arguments)
    generator = np.random.default_rng(1)
    for seed in (1, None, 2):
        yield env.reset(seed=seed)
        for _ in range(12):
            masks = env.action_masks()
            actions = (generator.random(masks.shape) * masks).argmax(1)
            yield env.step(actions), env.observations(), masks, env.save_games(), env.opponent_names, env.seats


def play_masks_inside(**arguments: Any) -> Iterator[Any]:
    for mode in ("SAME_STEP", "NEXT_STEP"):
        yield from play_vector(mask_in_observation=True, autoreset_mode=mode, **arguments)


def play_disabled(**arguments: Any) -> Iterator[Any]:
    env = VectorEnv(3, GAME, autoreset_mode="DISABLED", **arguments)
    yield env.reset(seed=1)
    for _ in range(20):
        step = env.step(env.action_masks().argmax(1))
        ended = step[2] | step[3]
        yield step, env.observations(), env.action_masks()
        if ended.any():
            yield env.reset(options={"reset_mask": ended})


def play_self(**arguments: Any) -> Iterator[Any]:
    for mode in ("SAME_STEP", "NEXT_STEP"):
        env = SelfPlayVectorEnv(3, GAME, autoreset_mode=mode, **arguments)
        yield env.reset()
        for _ in range(15):
            yield env.step(env.action_masks().argmax(1)), env.observations(), env.players


def play_sb3(**arguments: Any) -> Iterator[Any]:
    env = SB3VecEnv(VectorEnv(3, GAME, **arguments))
    env.seed(1)
    for number in range(3):
        if number == 2:
            env.keep_games()
        yield env.reset()
        for _ in range(12):
            actions = np.array(env.env_method("action_masks")).argmax(1)
            yield env.step(actions), env.env_method("action_masks"), env.get_attr("seats"), env.lengths


PLAYS = [play_aec, play_single, play_vector, play_masks_inside, play_disabled, play_self, play_sb3]


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Yield every array of numbers in what was handed out."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            for item in value.tolist():
                yield from arrays_in(item)
        else:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays_in(item)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from arrays_in(getattr(value, name))


@pytest.mark.parametrize("play", PLAYS)
@pytest.mark.parametrize("obs_dtype", FLOATING_DTYPES + INTEGER_DTYPES)
@pytest.mark.parametrize("obs_layout", LAYOUTS)
def test_nothing_handed_out_changes_later(play: Callable[..., Iterator[Any]], obs_layout: str, obs_dtype: str) -> None:
    for illegal_action in ("lose", "raise"):
        kept: list[tuple[Any, Any]] = []
        for handed_out in play(obs_layout=obs_layout, obs_dtype=obs_dtype, illegal_action=illegal_action):
            kept.append((handed_out, copy.deepcopy(handed_out)))
        assert len(kept) > 10
        for handed_out, before in kept:
            arrays = list(arrays_in(handed_out))
            assert arrays or isinstance(handed_out[0], dict)
            for array, as_it_was in zip(arrays, arrays_in(before), strict=True):
                np.testing.assert_array_equal(array, as_it_was)
                assert array.flags.writeable


@pytest.mark.parametrize("play", PLAYS)
@pytest.mark.parametrize("obs_layout", LAYOUTS)
def test_writing_to_what_was_handed_out_changes_no_game(play: Callable[..., Iterator[Any]], obs_layout: str) -> None:
    trace = [copy.deepcopy(handed_out) for handed_out in play(obs_layout=obs_layout)]
    for expected, handed_out in zip(trace, play(obs_layout=obs_layout), strict=True):
        for as_it_was, array in zip(arrays_in(expected), arrays_in(handed_out), strict=True):
            np.testing.assert_array_equal(array, as_it_was)
        for array in arrays_in(handed_out):
            array[...] = 0
