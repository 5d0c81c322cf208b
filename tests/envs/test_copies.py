"""Copies of environments, and what they do after an opponent's error."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from game_play import COPIES
from stoneworks.envs import SingleAgentEnv, VectorEnv
from stoneworks.envs.rules import NO_ACTION, IllegalActionError, State


def first_legal(masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=-1)


VECTORS = [
    partial(VectorEnv, 4, "vadus(size=3)", opponent=opponent, num_threads=2)
    for opponent in ("random", "mcts:3", "mcts:4,parallel=root,threads=2", {"random": 1, "greedy": 1})
]


@pytest.mark.parametrize("make_copy", COPIES, ids=["deepcopy", "pickle"])
@pytest.mark.parametrize(
    ("make", "num_steps"),
    [
        (partial(SingleAgentEnv, "taugo(size=3)"), 4),
        pytest.param(partial(SingleAgentEnv, "vadus(size=3)", opponent="vadus@4"), 4, marks=pytest.mark.needs("torch")),
        *((make, 12) for make in VECTORS),
    ],
)
def test_a_copy_continues_identically_and_independently(make: Any, num_steps: int, make_copy: Any) -> None:
    env = make()
    env.reset(seed=1)
    env.step(first_legal(env.action_masks()))
    twin = make_copy(env)
    before = env.action_masks()
    steps = [twin.step(first_legal(twin.action_masks()))[:4] for _ in range(num_steps)]
    assert (env.action_masks() == before).all()
    for expected in steps:
        for one, other in zip(env.step(first_legal(env.action_masks()))[:4], expected, strict=True):
            np.testing.assert_array_equal(one, other)


def failing_once() -> Callable[[State], int]:
    """Return an opponent that raises an error on its second action, and plays on after that."""
    asked: list[State] = []

    def choose(state: State) -> int:
        asked.append(state)
        if len(asked) == 2:
            raise RuntimeError("out of order")
        return state.legal_actions()[0]

    return choose


def test_after_an_opponents_error_the_learner_cannot_act_for_it() -> None:
    for env, action in (
        (SingleAgentEnv("vadus(size=3)", opponent=failing_once(), seat=0), 9),
        (VectorEnv(2, "vadus(size=3)", opponent=failing_once(), seat=0), [9, 9]),
    ):
        env.reset(seed=1)
        with pytest.raises(RuntimeError, match="out of order"):
            env.step(action)
        assert not (isinstance(env, SingleAgentEnv) and env.action_masks().any())
        with pytest.raises(ResetNeeded):
            env.step(action)
        env.reset()
        env.step(action)


@pytest.mark.parametrize("answer", [0, NO_ACTION, 2**64 - 1, 1000, 1.5, 12.0, True, "a1", None])
@pytest.mark.parametrize("function", [False, True])
def test_an_illegal_answer_of_an_opponent_is_an_error_that_names_it(answer: Any, function: bool) -> None:
    """A non-integer answer is never converted."""
    opponent: Any = SimpleNamespace(name="answering", step=lambda state: answer, restart=lambda: None)
    if function:
        opponent = opponent.step
    single = SingleAgentEnv("vadus(size=3)", opponent=opponent, seat=1)
    with pytest.raises(IllegalActionError, match="opponent"):
        single.reset(seed=1)
    with pytest.raises(ResetNeeded):
        single.step(1)
    for num_envs in (1, 3):
        with pytest.raises(IllegalActionError, match="opponent"):
            VectorEnv(num_envs, "vadus(size=3)", opponent=opponent, seat=1).reset(seed=1)
