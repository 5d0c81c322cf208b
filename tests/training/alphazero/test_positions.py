"""Positions to learn from: nothing of a policy that matters is lost, and images under symmetries fit together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

import torch

from game_play import random_states
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.games import small_games
from stoneworks.training.alphazero.positions import NUM_POLICY_ENTRIES, BatchMaker, make_positions, position_dtype


def random_policies(states: list[State], sharpness: float = 3.0) -> npt.NDArray[np.float32]:
    masks = np.array([state.legal_actions_mask() for state in states])
    weights = masks * np.exp(sharpness * np.random.default_rng(0).normal(size=masks.shape))
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def positions_of(game: Game, states: list[State], policies: npt.NDArray[np.float32]) -> npt.NDArray[np.void]:
    records = np.array([state.record for state in states], game.state_dtype)
    return make_positions(game, records, policies, np.linspace(-1, 1, len(states), dtype=np.float32))


def dense(actions: npt.NDArray[Any], probabilities: npt.NDArray[Any], num_actions: int) -> npt.NDArray[np.float32]:
    """The kept policies as rows of all actions."""
    policies = np.zeros((len(actions), num_actions), np.float32)
    for row in range(len(actions)):
        np.add.at(policies[row], actions[row], probabilities[row])
    return policies


@pytest.mark.parametrize("game_name", small_games())
def test_the_greatest_entries_of_a_policy_come_back(game_name: str) -> None:
    game = load_game(game_name)
    states = random_states(game, 30, 0)
    policies = random_policies(states)
    positions = positions_of(game, states, policies)
    assert positions.dtype == position_dtype(game)
    np.testing.assert_array_equal(positions["value"], np.linspace(-1, 1, 30, dtype=np.float32))
    for row, state in enumerate(states):
        assert State.from_record(game, positions["state"][row]) == state
        probabilities = positions["probabilities"][row]
        np.testing.assert_array_equal(probabilities, np.sort(policies[row])[::-1][: len(probabilities)])
        there = probabilities > 0
        np.testing.assert_array_equal(policies[row, positions["actions"][row, there]], probabilities[there])
        assert len(set(positions["actions"][row, there].tolist())) == there.sum()
        assert (positions["actions"][row, ~there] == 0).all()


def test_of_a_policy_of_many_actions_the_rest_is_what_is_missing() -> None:
    large = load_game("vadus(size=5)")
    policies = random_policies([large.new_initial_state()], sharpness=0.5)
    positions = positions_of(large, [large.new_initial_state()], policies)
    assert positions["actions"].shape[1] == NUM_POLICY_ENTRIES
    left_out = np.sort(policies[0])[:-NUM_POLICY_ENTRIES].sum()
    assert left_out > 0.1
    assert 1 - positions["probabilities"].sum() == pytest.approx(left_out, abs=1e-6)


class Always:
    """A generator that draws one number."""

    def __init__(self, number: int) -> None:
        self._number = number

    def integers(self, high: int, size: int) -> npt.NDArray[np.int64]:
        assert 0 <= self._number < high
        return np.full(size, self._number)


@pytest.mark.parametrize("game_name", small_games())
def test_the_image_of_a_batch_is_the_batch_of_the_image(game_name: str) -> None:
    """Under every symmetry: observation, mask and policy are those of the game played with the images of the actions."""
    game = load_game(game_name)
    maker = BatchMaker(game)
    states = random_states(game, 6, 2)
    policies = random_policies(states)
    positions = positions_of(game, states, policies)
    assert len(game.symmetries) > 1
    kept = dense(positions["actions"], positions["probabilities"], game.num_actions)
    for number, symmetry in enumerate(game.symmetries):
        batch = maker.make(positions, Always(number))  # type: ignore[arg-type]
        assert (batch.legal.dtype, batch.actions.dtype) == (torch.bool, torch.int64)
        images = dense(batch.actions.numpy(), batch.probabilities.numpy(), game.num_actions)
        for row, state in enumerate(states):
            expected = symmetry.of_observation(state.observation_tensor())
            np.testing.assert_array_equal(batch.observations[row].numpy(), expected)
            mask = symmetry.of_policy(state.legal_actions_mask())
            np.testing.assert_array_equal(batch.legal[row].numpy(), mask.astype(bool))
            np.testing.assert_allclose(images[row], symmetry.of_policy(kept[row]), atol=1e-7)
    unturned, first = maker.make(positions, None), maker.make(positions, Always(0))  # type: ignore[arg-type]
    assert torch.equal(unturned.observations, first.observations)
    assert torch.equal(unturned.actions, first.actions)


def test_symmetries_are_drawn_for_each_position() -> None:
    game = load_game("vadus(size=3)")
    state = random_states(game, 1, 0)[0]
    state.apply_action(state.legal_actions()[0])
    positions = positions_of(game, [state] * 200, random_policies([state] * 200))
    batch = BatchMaker(game).make(positions, np.random.default_rng(0))
    seen = {row.numpy().tobytes() for row in batch.observations}
    allowed = {symmetry.of_observation(state.observation_tensor()).tobytes() for symmetry in game.symmetries}
    assert seen == allowed
    assert len(seen) > 1


def three_positions(value: Any) -> tuple[Game, npt.NDArray[np.void]]:
    """A win, a draw and a loss, with values of a search."""
    game = load_game("vadus(size=2)")
    states = random_states(game, 3, 0)
    positions = positions_of(game, states, random_policies(states))
    positions["result"] = [1, 0, -1]
    positions["value"] = value
    return game, positions


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_search_has_its_share_of_the_outcomes_of_the_player_to_act(share: float) -> None:
    game, positions = three_positions([0.5, -1.0, 0.0])
    outcomes = BatchMaker(game, share).make(positions, None).outcomes.numpy()
    np.testing.assert_allclose(outcomes.sum(axis=1), 1, rtol=1e-6)
    expected = (1 - share) * np.array([1, 0, -1]) + share * np.array([0.5, -1.0, 0.0])
    np.testing.assert_allclose(outcomes[:, 0] - outcomes[:, 2], expected, atol=1e-6)
    assert outcomes.dtype == np.float32


def test_results_are_discounted_by_the_actions_to_the_end_and_the_rest_counts_as_a_draw() -> None:
    game, positions = three_positions(0.5)
    positions["actions_left"] = [1, 5, 3]
    outcomes = BatchMaker(game).make(positions, None, 0.9).outcomes.numpy()
    np.testing.assert_allclose(outcomes, [[0.9, 0.1, 0], [0, 1, 0], [0, 1 - 0.9**3, 0.9**3]], atol=1e-6)
    shared = BatchMaker(game, 0.25).make(positions, None, 0.9).outcomes.numpy()
    np.testing.assert_allclose(shared, 0.75 * outcomes + 0.25 * np.array([0.75, 0, 0.25]), atol=1e-6)
