"""What an environment hands out is the caller's: it does not change later, and it can be written to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from handed_out import arrays_in, assert_nothing_changes
from stoneworks.envs import BoardGameEnv, SelfPlayVectorEnv, SingleAgentEnv, VectorEnv
from stoneworks.envs.observation_format import FLOATING_DTYPES, INTEGER_DTYPES, LAYOUTS

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


def play_many(**arguments: Any) -> Iterator[Any]:
    for kind, mode in product((VectorEnv, SelfPlayVectorEnv), AutoresetMode):
        env = kind(3, GAME, autoreset_mode=mode, **arguments)
        yield env.reset(seed=1)
        for _ in range(20):
            masks = env.action_masks()
            step = env.step(masks.argmax(1))
            ended = step[2] | step[3]
            yield step, env.observations(), masks
            yield env.seats if kind is VectorEnv else env.players
            if mode is AutoresetMode.DISABLED and ended.any():
                yield env.reset(options={"reset_mask": ended})


def play_sb3(**arguments: Any) -> Iterator[Any]:
    pytest.importorskip("stable_baselines3")
    from stoneworks.integrations.sb3 import SB3VecEnv

    for kind, players in ((VectorEnv, "seats"), (SelfPlayVectorEnv, "players")):
        env = SB3VecEnv(kind(3, GAME, **arguments))
        env.seed(1)
        for _ in range(2):
            yield env.reset()
            for _ in range(12):
                actions = np.array(env.env_method("action_masks")).argmax(1)
                yield env.step(actions), env.env_method("action_masks"), env.get_attr(players)


def play_own_opponent(**arguments: Any) -> Iterator[Any]:
    """What the policy of the opponent ``self`` is given."""
    given: list[Any] = []

    def choose(observations: Any, masks: np.ndarray) -> np.ndarray:
        given.append((observations, masks))
        return masks.argmax(1)

    for env in (VectorEnv(3, GAME, opponent="self", **arguments), SingleAgentEnv(GAME, opponent="self", **arguments)):
        env.set_policy(choose)
        env.reset(seed=1)
        for _ in range(12):
            yield from given
            given.clear()
            masks = env.action_masks()
            if masks.any():
                env.step(masks.argmax(-1))
            else:
                env.reset()


@pytest.mark.parametrize("play", [play_own_opponent, play_aec, play_single, play_many, play_sb3])
@pytest.mark.parametrize(
    "arguments",
    [
        {"illegal_action": "raise"},
        *({"observation": {"layout": layout, "with_mask": inside}} for layout in LAYOUTS for inside in (False, True)),
        *({"observation": {"dtype": dtype}} for dtype in FLOATING_DTYPES[:1] + INTEGER_DTYPES),
    ],
    ids=str,
)
def test_what_is_handed_out_stays_and_can_be_written_to(play: Callable[..., Any], arguments: dict[str, Any]) -> None:
    trace = assert_nothing_changes(play(**arguments))
    for expected, handed_out in zip(trace, play(**arguments), strict=True):
        for array, as_it_was in zip(arrays_in(handed_out), expected, strict=True):
            np.testing.assert_array_equal(array, as_it_was)
        for array in arrays_in(handed_out):
            array[...] = 0
