"""What an environment hands out is the caller's: it does not change later, and it can be written to."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from handed_out import arrays_in, assert_nothing_changes
from stoneworks.envs.aec import BoardGameEnv
from stoneworks.envs.observation_format import FLOATING_DTYPES, INTEGER_DTYPES, LAYOUTS
from stoneworks.envs.rules import load_game
from stoneworks.envs.self_play import SelfPlayVectorEnv
from stoneworks.envs.single_agent import SingleAgentEnv
from stoneworks.envs.vector import VectorEnv

GAME = "vadus(size=2)"
Play = Callable[..., Iterator[Any]]


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


def play_masks_inside(observation: Any, **arguments: Any) -> Iterator[Any]:
    with_mask: dict[str, Any] = {"observation": {**observation, "with_mask": True}, **arguments}
    for mode in ("SAME_STEP", "NEXT_STEP"):
        yield from play_vector(autoreset_mode=mode, **with_mask)


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
    pytest.importorskip("stable_baselines3")
    from stoneworks.integrations.sb3 import SB3VecEnv

    for kind, players in ((VectorEnv, "seats"), (SelfPlayVectorEnv, "players")):
        env = SB3VecEnv(kind(3, GAME, **arguments))
        env.seed(1)
        for number in range(3):
            if number == 2 and kind is VectorEnv:
                env.keep_games()
            yield env.reset()
            for _ in range(12):
                actions = np.array(env.env_method("action_masks")).argmax(1)
                yield env.step(actions), env.env_method("action_masks"), env.get_attr(players), env.lengths


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


def play_state(**arguments: Any) -> Iterator[Any]:
    state = load_game(GAME).new_initial_state()
    while not state.is_terminal():
        yield state.observation_tensor(), state.observation_and_mask(1), state.legal_actions_mask()
        state.apply_action(state.legal_actions()[0])


PLAYS = [play_state, play_own_opponent, play_aec, play_single, play_vector, play_masks_inside, play_disabled]
PLAYS += [play_self, play_sb3]


@pytest.mark.parametrize("play", PLAYS)
@pytest.mark.parametrize(
    ("layout", "dtype"),
    [*((layout, "float32") for layout in LAYOUTS), *(("CHW", dtype) for dtype in FLOATING_DTYPES[:1] + INTEGER_DTYPES)],
)
def test_nothing_handed_out_changes_later(play: Play, layout: str, dtype: str) -> None:
    form = {"layout": layout, "dtype": dtype}
    for illegal_action in ("lose", "raise"):
        handed_out = list(play(observation=form, illegal_action=illegal_action))
        assert all(array.flags.writeable for array in arrays_in(handed_out))
        assert_nothing_changes(play(observation=form, illegal_action=illegal_action))


@pytest.mark.parametrize("play", PLAYS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_writing_to_returned_arrays_changes_no_game(play: Play, layout: str) -> None:
    trace = [copy.deepcopy(handed_out) for handed_out in play(observation={"layout": layout})]
    for expected, handed_out in zip(trace, play(observation={"layout": layout}), strict=True):
        for as_it_was, array in zip(arrays_in(expected), arrays_in(handed_out), strict=True):
            np.testing.assert_array_equal(array, as_it_was)
        for array in arrays_in(handed_out):
            array[...] = 0
