"""Copies of environments, and what they do after an opponent's error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from game_play import COPIES
from stoneworks.envs.rules import NO_ACTION, IllegalActionError, RecordError, State
from stoneworks.envs.single_agent import SingleAgentEnv
from stoneworks.envs.vector import VectorEnv


def first_legal(masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=-1)


@pytest.mark.parametrize("make_copy", COPIES, ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("opponent", ["random", "mcts:3", {"random": 1, "greedy": 1}], ids=str)
def test_a_copy_of_a_vector_environment_continues_identically_and_independently(
    opponent: Any, make_copy: Callable[[VectorEnv], VectorEnv]
) -> None:
    env = VectorEnv(4, "vadus(size=3)", opponent=opponent, num_threads=2)
    env.reset(seed=1)
    env.step(first_legal(env.action_masks()))
    twin = make_copy(env)
    before = env.observations().copy()
    steps = [twin.step(first_legal(twin.action_masks()))[:4] for _ in range(12)]
    assert (env.observations() == before).all(), "the copy is independent"
    for expected in steps:
        for one, other in zip(env.step(first_legal(env.action_masks()))[:4], expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("make_copy", COPIES, ids=["deepcopy", "pickle"])
def test_a_copy_of_a_single_environment_continues_identically(
    make_copy: Callable[[SingleAgentEnv], SingleAgentEnv],
) -> None:
    env = SingleAgentEnv("taugo(size=3)", opponent="random")
    env.reset(seed=2)
    twin = make_copy(env)
    while env.action_masks().any():
        action = int(first_legal(env.action_masks()))
        np.testing.assert_array_equal(env.step(action)[0], twin.step(action)[0])


class FailingOnce:
    """An opponent that raises an error on its second action, and plays on after that."""

    name = "failing once"

    def __init__(self) -> None:
        self.num_asked = 0

    def step(self, state: State) -> int:
        self.num_asked += 1
        if self.num_asked == 2:
            raise RuntimeError("out of order")
        return state.legal_actions()[0]

    def restart(self) -> None:
        pass


def test_after_an_opponents_error_the_learner_cannot_act_for_it() -> None:
    opponents = {"opponent": FailingOnce(), "seat": 0}
    for env, action in (
        (SingleAgentEnv("vadus(size=3)", **opponents), 9),
        (VectorEnv(2, "vadus(size=3)", **{**opponents, "opponent": FailingOnce()}), [9, 9]),
    ):
        env.reset(seed=1)
        with pytest.raises(RuntimeError, match="out of order"):
            env.step(action)
        assert not (isinstance(env, SingleAgentEnv) and env.action_masks().any())
        with pytest.raises(ResetNeeded):
            env.step(action)
        env.reset()
        env.step(action)


class Answering:
    """An opponent that answers each question with the same."""

    name = "answering"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def step(self, state: State) -> Any:
        return self.answer

    def restart(self) -> None:
        pass


@pytest.mark.parametrize("answer", [0, NO_ACTION, 1000, 1.5, 12.0, True, "a1", None])
@pytest.mark.parametrize("function", [False, True])
def test_an_illegal_answer_of_an_opponent_is_an_error_that_names_it(answer: Any, function: bool) -> None:
    """A non-integer answer is never converted."""
    opponent = (lambda state: answer) if function else Answering(answer)
    single = SingleAgentEnv("vadus(size=3)", opponent=opponent, seat=1)
    with pytest.raises((IllegalActionError, TypeError), match="opponent" if type(answer) is int else None):
        single.reset(seed=1)
    with pytest.raises(ResetNeeded):
        single.step(1)
    for num_envs in (1, 3):
        with pytest.raises((IllegalActionError, TypeError), match="opponent" if type(answer) is int else None):
            VectorEnv(num_envs, "vadus(size=3)", opponent=opponent, seat=1).reset(seed=1)


def test_saved_games_that_were_damaged_are_refused_and_change_nothing() -> None:
    env = VectorEnv(3, "vadus(size=3)", opponent="random")
    env.reset(seed=1)
    saved = env.save_games()
    flipped = saved.positions.copy()
    flipped[1, 20] ^= 64
    for damaged, error in (
        (replace(saved, positions=flipped), RecordError),
        (replace(saved, seats=saved.seats + 2), ValueError),
        (replace(saved, seats=1 - saved.seats), ValueError),
        (replace(saved, num_started=saved.num_started[:2]), ValueError),
        (replace(saved, num_started=saved.num_started - 9), ValueError),
        (replace(saved, opponents=saved.opponents[:2]), ValueError),
    ):
        before = env.save_games()
        with pytest.raises(error):
            env.restore_games(damaged)
        after = env.save_games()
        np.testing.assert_array_equal(after.positions, before.positions)
        np.testing.assert_array_equal(after.seats, before.seats)
    env.restore_games(saved)
    env.step(first_legal(env.action_masks()))
