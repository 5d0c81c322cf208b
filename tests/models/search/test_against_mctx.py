"""The Gumbel search beside mctx's: the same tree, the same visits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mctx")

import jax
import mctx

from made_up_network import WithNoise
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.models.search.gumbel import Gumbel, visits_to_consider
from stoneworks.models.search.network_search import NetworkSearch, SearchSettings


@pytest.mark.parametrize("num_simulations", [1, 2, 7, 16, 32, 50, 200])
def test_the_schedule_is_that_of_mctx(num_simulations: int) -> None:
    from mctx._src.seq_halving import get_sequence_of_considered_visits

    for num_considered in range(25):
        expected = get_sequence_of_considered_visits(num_considered, num_simulations)
        assert visits_to_consider(num_considered, num_simulations).tolist() == list(expected)


class Table:
    """All positions of a small game by number, each with made-up logits and a made-up value for its player to move.

    mctx sees the game as this table: the result of an action is a reward of the player to move, and the discount is 1 if
    the same player moves again, -1 if the other one does, and 0 at the end of the game.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.numbers: dict[bytes, int] = {}
        self.states: list[State] = []
        self._number(game.new_initial_state())
        transitions = []
        for state in self.states:  # which grows meanwhile
            row = np.zeros((game.num_actions, 3))
            for action in [] if state.is_terminal() else state.legal_actions():
                child = state.child(action)
                same = child.current_player() == state.current_player()
                discount = 0 if child.is_terminal() else 1 if same else -1
                row[action] = self._number(child), child.returns()[state.current_player()], discount
            transitions.append(row)
        self.children = np.array(transitions, np.int32)[:, :, 0]
        self.rewards, self.discounts = np.moveaxis(np.array(transitions, np.float32), 2, 0)[1:]
        self.masks = np.array([state.legal_actions_mask() for state in self.states]) != 0
        rng = np.random.default_rng(0)
        logits = rng.normal(size=self.masks.shape).astype(np.float32)
        self.logits = np.where(self.masks, logits, np.float32(-1e9))
        going_on = self.masks.any(axis=1)
        self.values = np.where(going_on, rng.uniform(-1, 1, len(self.states)), 0).astype(np.float32)
        self._of_observation: dict[bytes, list[int]] = {}
        for number in np.flatnonzero(going_on):
            key = self.states[number].observation_tensor().tobytes()
            self._of_observation.setdefault(key, []).append(int(number))
        for numbers in self._of_observation.values():  # positions that look alike have answers alike
            self.logits[numbers] = np.where(self.masks[numbers], logits[numbers[0]], np.float32(-1e9))
            self.values[numbers] = self.values[numbers[0]]

    def _number(self, state: State) -> int:
        key = state.record.tobytes()
        if key not in self.numbers:
            self.numbers[key] = len(self.states)
            self.states.append(state)
        return self.numbers[key]

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = [self._of_observation[position.tobytes()][0] for position in planes]
        return self.logits[numbers], self.values[numbers]

    def search_with_mctx(self, roots: np.ndarray, settings: Gumbel, num_simulations: int) -> Any:
        children, rewards, discounts, logits, values = map(
            jax.numpy.asarray, (self.children, self.rewards, self.discounts, self.logits, self.values)
        )

        def step(params: Any, key: Any, actions: Any, numbers: Any) -> Any:
            taken, reached = (numbers, actions), children[numbers, actions]
            answers = {"prior_logits": logits[reached], "value": values[reached]}
            return mctx.RecurrentFnOutput(reward=rewards[taken], discount=discounts[taken], **answers), reached

        scale = {"value_scale": settings.value_scale, "maxvisit_init": settings.visit_offset, "rescale_values": False}
        root = mctx.RootFnOutput(prior_logits=logits[roots], value=values[roots], embedding=jax.numpy.asarray(roots))
        return mctx.gumbel_muzero_policy(
            None,
            jax.random.PRNGKey(num_simulations),
            root,
            step,
            num_simulations,
            invalid_actions=jax.numpy.asarray(~self.masks[roots]),
            qtransform=partial(mctx.qtransform_completed_by_mix_value, **scale),
            max_num_considered_actions=settings.max_considered,
            gumbel_scale=settings.gumbel_scale,
        )


@pytest.fixture(scope="module")
def table() -> Table:
    return Table(load_game("vadus(size=2)"))


@pytest.mark.parametrize(
    ("settings", "num_simulations"),
    [
        (Gumbel(max_considered=4, value_scale=0.1), 21),
        pytest.param(Gumbel(max_considered=16, value_scale=0.1, gumbel_scale=0), 32, marks=pytest.mark.slow),
        pytest.param(Gumbel(max_considered=5, value_scale=0.02, visit_offset=20), 100, marks=pytest.mark.slow),
        pytest.param(Gumbel(max_considered=8, value_scale=0.1), 3, marks=pytest.mark.slow),
    ],
)
def test_the_whole_search_is_that_of_mctx(table: Table, settings: Gumbel, num_simulations: int) -> None:
    """In Vadus a player acts twice in a row, and games end in every way within the reach of the search."""
    going_on = np.flatnonzero(table.masks.any(axis=1))
    others = np.random.default_rng(1).choice(going_on, 44, replace=False)
    roots = np.concatenate([going_on[:20], others]).astype(np.int32)
    theirs = table.search_with_mctx(roots, settings, num_simulations)
    ours = WithNoise(settings, np.array(theirs.search_tree.extra_data.root_gumbel, np.float32))
    searching = NetworkSearch(
        table.game, table.evaluate, SearchSettings(ours, solve=False), max_games=64, max_simulations=num_simulations
    )
    records = np.array([table.states[root].record for root in roots], table.game.state_dtype)
    result = searching.run(records, num_simulations, np.random.default_rng(0))
    summary = theirs.search_tree.summary()
    np.testing.assert_array_equal(result.visits, np.asarray(summary.visit_counts))
    np.testing.assert_array_equal(result.actions, np.asarray(theirs.action))
    priors = np.exp(table.logits[roots] - table.logits[roots].max(axis=1, keepdims=True))
    visits, weights = np.asarray(summary.visit_counts), np.asarray(theirs.action_weights)
    of_visited, num_visits = priors * (visits > 0), visits.sum(axis=1)
    means = (of_visited * summary.qvalues).sum(axis=1) / of_visited.sum(axis=1)
    mixed = (table.values[roots] + num_visits * means) / (1 + num_visits)
    completed = np.where(visits > 0, summary.qvalues, mixed[:, None])
    np.testing.assert_allclose(result.values, (weights * completed).sum(axis=1), atol=1e-4)
    np.testing.assert_allclose(result.policies, np.asarray(theirs.action_weights), atol=1e-4)
