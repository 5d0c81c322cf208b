"""Any sequence of what a user can do with a state, compared after every step with the list of actions that led to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from game_play import COPIES
from state_machines import run_machine
from stoneworks.envs.rules import Game, IllegalActionError, State, load_game
from stoneworks.envs.rules.game_registry import small_games


def serialized(state: State) -> State:
    return state.get_game().deserialize_state(state.serialize())


class StateMachine(RuleBasedStateMachine):
    """Several states of one game side by side; ``actions`` says what each must be."""

    states: Bundle[State] = Bundle("states")

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game
        self.actions: dict[int, list[int]] = {}
        self.alive: list[State] = []

    def keep(self, state: State, actions: list[int]) -> State:
        self.actions[id(state)] = actions
        self.alive.append(state)
        return state

    @rule(target=states)
    def start(self) -> State:
        return self.keep(self.game.new_initial_state(), [])

    @rule(state=states, choices=st.lists(st.integers(0, 2**16), min_size=1, max_size=12))
    def play_legal_actions(self, state: State, choices: list[int]) -> None:
        for choice in choices:
            legal = state.legal_actions()
            if not legal:
                assert state.is_terminal()
                return
            action = legal[choice % len(legal)]
            if choice % 2:
                state.apply_action(action)
            else:
                step = state.try_step(action)
                np.testing.assert_array_equal(step[0], state.observation_tensor())
                np.testing.assert_array_equal(step[1], state.legal_actions_mask())
            self.actions[id(state)].append(action)

    @rule(state=states, choice=st.integers(-3, 2**16))
    def play_an_illegal_action(self, state: State, choice: int) -> None:
        illegal = [*np.flatnonzero(state.legal_actions_mask() == 0).tolist(), -1, self.game.num_actions]
        action = illegal[choice % len(illegal)]
        with pytest.raises(IllegalActionError):
            state.apply_action(action)
        assert not state.try_apply_action(action)
        assert state.try_step(action) is None

    @rule(target=states, state=states, way=st.sampled_from([*COPIES, State.clone, serialized]))
    def copy(self, state: State, way: Callable[[State], State]) -> State:
        return self.keep(way(state), list(self.actions[id(state)]))

    @rule(target=states, state=states)
    def step_to_a_child(self, state: State) -> object:
        actions, legal = self.actions[id(state)], state.legal_actions()
        return self.keep(state.child(legal[-1]), [*actions, legal[-1]]) if legal else multiple()

    @rule(state=consumes(states))
    def forget(self, state: State) -> None:
        self.alive = [other for other in self.alive if other is not state]

    @invariant()
    def every_state_is_what_its_actions_make(self) -> None:
        for state in self.alive:
            actions = self.actions[id(state)]
            replayed = self.game.new_initial_state()
            for action in actions:
                replayed.apply_action(action)
            assert state == replayed
            assert state.history() == actions
            assert len(actions) <= self.game.max_game_length()
            assert state.is_terminal() == (not state.legal_actions())
            assert sum(state.returns()) == 0


@pytest.mark.parametrize("name", small_games())
def test_any_sequence_of_uses_leaves_every_state_right(name: str) -> None:
    run_machine(partial(StateMachine, load_game(name)), max_examples=15)
