"""Any sequence of what a user can do with an AEC environment, compared after every step with the rules core."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from game_play import COPIES
from stoneworks.envs.aec import BoardGameEnv
from stoneworks.envs.rules import IllegalActionError, State, load_game
from stoneworks.envs.rules.games import small_games

AGENTS = ("player_0", "player_1")


class Environment(RuleBasedStateMachine):
    """An environment beside the state that it must show."""

    def __init__(self, game: str, illegal_action: str) -> None:
        super().__init__()
        self.env = BoardGameEnv(game, illegal_action=illegal_action)
        self.illegal_action = illegal_action
        self.state: State | None = None
        self.loser: int | None = None

    @initialize()
    def not_yet_reset(self) -> None:
        with pytest.raises(ResetNeeded):
            self.env.step(0)
        with pytest.raises(ResetNeeded):
            self.env.observe("player_0")
        self.reset(None)

    @rule(seed=st.none() | st.integers(0, 2**32))
    def reset(self, seed: int | None) -> None:
        self.env.reset(seed=seed)
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
    @rule(action=st.sampled_from([-1, 10**6]))
    def step_with_an_index_that_no_action_has(self, action: int) -> None:
        with pytest.raises(IllegalActionError):
            self.env.step(action)

    @precondition(lambda self: self.over and self.env.agents)
    @rule()
    def step_with_none_after_the_end(self) -> None:
        agent = self.env.agent_selection
        self.env.step(None)
        assert agent not in self.env.agents

    @precondition(lambda self: not self.env.agents)
    @rule()
    def step_without_agents(self) -> None:
        with pytest.raises(ResetNeeded):
            self.env.step(None)

    @rule(way=st.sampled_from(COPIES))
    def go_on_with_a_copy(self, way) -> None:
        self.env = way(self.env)

    @invariant()
    def the_environment_shows_the_state(self) -> None:
        if self.state is None:
            return
        env, state = self.env, self.state
        assert env.game_state == state
        assert env.state_space.contains(env.state())
        np.testing.assert_array_equal(env.state(), state.observation_tensor(0))
        for player, agent in enumerate(AGENTS):
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            np.testing.assert_array_equal(observation["observation"], state.observation_tensor(player))
            mask = np.zeros_like(observation["action_mask"]) if self.over else state.legal_actions_mask(player)
            np.testing.assert_array_equal(observation["action_mask"], mask)
        if not env.agents:
            return
        if self.over:
            returns = state.returns() if self.loser is None else [1 - 2 * (player == self.loser) for player in (0, 1)]
            for player, agent in enumerate(AGENTS):
                if agent in env.agents:
                    assert env.terminations[agent] != env.truncations[agent]
                    assert env._cumulative_rewards[agent] == returns[player]
        else:
            assert env.agents == list(AGENTS)
            assert env.agent_selection == AGENTS[state.current_player()]
            assert not any((*env.rewards.values(), *env.terminations.values(), *env.truncations.values()))


@pytest.mark.parametrize("illegal_action", ["lose", "raise"])
@pytest.mark.parametrize("game", small_games())
def test_any_sequence_of_uses_shows_the_state(game: str, illegal_action: str) -> None:
    run_state_machine_as_test(
        lambda: Environment(game, illegal_action),
        settings=settings(
            max_examples=10,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
