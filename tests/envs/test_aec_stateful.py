"""Any sequence of what a user can do with an AEC environment, compared after every step with the rules core."""

from __future__ import annotations

import copy
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from game_play import COPIES
from state_machines import run_machine
from stoneworks.envs.aec import BoardGameEnv
from stoneworks.envs.rules import IllegalActionError, State, load_game

AGENTS = ("player_0", "player_1")
LAYOUTS = {"CHW": lambda planes: planes, "HWC": lambda planes: planes.transpose(1, 2, 0), "flat": np.ravel}


def snapshot(env: BoardGameEnv) -> Any:
    flags = (env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.infos)
    return env.game_state, env.agents.copy(), env.agent_selection, copy.deepcopy(flags)


class Environment(RuleBasedStateMachine):
    """An environment beside the state that it must show, and the last one that was copied, which stays as it is."""

    def __init__(self, game: str, illegal_action: str, layout: str, winners: set[int | None]) -> None:
        super().__init__()
        self.env = BoardGameEnv(game, illegal_action=illegal_action, observation={"layout": layout})
        self.illegal_action, self.layout, self.winners = illegal_action, LAYOUTS[layout], winners
        self.state: State | None = None
        self.loser: int | None = None
        self.copied: tuple[BoardGameEnv, Any] | None = None

    @initialize()
    def not_yet_reset(self) -> None:
        env = self.env
        observe = partial(env.observe, AGENTS[0])
        for call in (
            partial(env.step, 0),
            observe,
            env.last,
            env.state,
            env.render,
            lambda: env.game_state,
            env.agent_iter,
        ):
            with pytest.raises(ResetNeeded, match="reset"):
                call()
        self.reset(None)

    @rule(seed=st.none() | st.integers(0, 2**32))
    def reset(self, seed: int | None) -> None:
        self.env.reset(seed=seed, options={"options": 1})
        self.state = load_game(str(self.env.game)).new_initial_state()
        self.loser = None

    @property
    def over(self) -> bool:
        return self.state is not None and (self.state.is_terminal() or self.loser is not None)

    @precondition(lambda self: not self.over)
    @rule(choices=st.lists(st.integers(0, 2**16), min_size=1, max_size=10))
    def step(self, choices: list[int]) -> None:
        for choice in choices:
            legal = self.state.legal_actions()
            if not legal:
                return
            assert self.env.step(np.int64(legal[choice % len(legal)])) is None
            self.state.apply_action(legal[choice % len(legal)])

    @precondition(lambda self: not self.over)
    @rule(random=st.randoms(use_true_random=False))
    def play_to_the_end(self, random: Random) -> None:
        while not self.over:
            self.step([random.randrange(2**16)])

    @precondition(lambda self: not self.over)
    @rule(choice=st.integers(0, 2**16))
    def step_illegally(self, choice: int) -> None:
        illegal = np.flatnonzero(self.state.legal_actions_mask() == 0)
        if not illegal.size:
            return
        action = int(illegal[choice % illegal.size])
        if self.illegal_action == "raise":
            with pytest.raises(IllegalActionError):
                self.env.step(action)
        else:
            self.env.step(action)
            self.loser = self.state.current_player()

    @precondition(lambda self: not self.over)
    @rule(action=st.sampled_from([-1, 10**6, 2.5, "d4"]))
    def step_with_what_is_no_action(self, action: Any) -> None:
        before = snapshot(self.env)
        with pytest.raises(IllegalActionError, match=str(action)):
            self.env.step(action)
        assert snapshot(self.env) == before

    @precondition(lambda self: self.over and self.env.agents)
    @rule()
    def step_with_none_after_the_end(self) -> None:
        agent = self.env.agent_selection
        with pytest.raises(ValueError, match="None"):
            self.env.step(0)
        self.env.step(None)
        assert agent not in self.env.agents

    @precondition(lambda self: not self.env.agents)
    @rule(action=st.sampled_from([None, 0]))
    def step_without_agents(self, action: int | None) -> None:
        with pytest.raises(ResetNeeded, match="reset"):
            self.env.step(action)
        with pytest.raises(ResetNeeded, match="reset"):
            self.env.last()

    @rule(way=st.sampled_from(COPIES))
    def go_on_with_a_copy(self, way) -> None:
        self.copied, self.env = (self.env, snapshot(self.env)), way(self.env)
        assert snapshot(self.env) == self.copied[1]

    @invariant()
    def the_environment_shows_the_state(self) -> None:
        if self.state is None:
            return
        env, state = self.env, self.state
        assert env.game_state == state
        assert env.state_space.contains(env.state())
        np.testing.assert_array_equal(env.state(), self.layout(state.observation_tensor(0)))
        assert self.copied is None or snapshot(self.copied[0]) == self.copied[1]
        for player, agent in enumerate(AGENTS):
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            np.testing.assert_array_equal(observation["observation"], self.layout(state.observation_tensor(player)))
            mask = np.zeros_like(observation["action_mask"]) if self.over else state.legal_actions_mask(player)
            np.testing.assert_array_equal(observation["action_mask"], mask)
        if self.over:
            returns = state.returns() if self.loser is None else [1 - 2 * (player == self.loser) for player in (0, 1)]
            for player, agent in enumerate(AGENTS):
                if agent in env.agents:
                    assert env.truncations[agent] == state.is_truncated() != env.terminations[agent]
                    assert env._cumulative_rewards[agent] == returns[player]
                    assert env.infos[agent] == {}
            if self.loser is None:
                self.winners.add(state.outcome().winner)
        else:
            assert env.agents == list(AGENTS)
            assert env.agent_selection == AGENTS[state.current_player()]
            assert not any((*env.rewards.values(), *env.terminations.values(), *env.truncations.values()))


@pytest.mark.parametrize("game", ["vadus(size=3)", "laido(size=3)", "trugo(max_turns=7,radius=3,tiles=9)"])
def test_any_sequence_of_uses_shows_the_state(game: str) -> None:
    """In truncated games of Trugo (R9) too."""
    winners: set[int | None] = set()
    for illegal_action, layout in (("lose", "CHW"), ("raise", "HWC"), ("lose", "flat")):
        run_machine(partial(Environment, game, illegal_action, layout, winners), max_examples=10)
    assert winners == {None} if "max_turns=7" in game else len(winners) > 1
