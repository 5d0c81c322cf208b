"""The bot that plays a network's policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from random_networks import random_network, save_network
from stoneworks.envs.rules import Batch, Game, State, load_game
from stoneworks.models import load_bot
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.network import BoardNetwork


@pytest.fixture
def game() -> Game:
    return load_game("laido", size=3)


@pytest.fixture
def network(game: Game) -> BoardNetwork:
    """A network with a policy that is far from uniform."""
    return random_network(game, 0.12, seed=2)


def a_position(game: Game, num_actions: int = 4) -> State:
    state = game.new_initial_state()
    for number in range(num_actions):
        state.apply_action(state.legal_actions()[3 * number % 5])
    return state


def expected_policy(network: BoardNetwork, state: State) -> np.ndarray:
    """The softmax of the logits over the legal actions, in double precision."""
    with torch.no_grad():
        logits = network(torch.from_numpy(state.observation_tensor()[None]))[0][0].double().numpy()
    weights = np.exp(logits) * state.legal_actions_mask()
    return weights / weights.sum()


def test_the_policy_is_the_softmax_over_the_legal_actions(game: Game, network: BoardNetwork) -> None:
    state = a_position(game)
    policy, action = PolicyBot(network, game, seed=1).step_with_policy(state)
    assert [index for index, _ in policy] == state.legal_actions()
    assert sum(probability for _, probability in policy) == pytest.approx(1)
    expected = expected_policy(network, state)
    np.testing.assert_allclose([probability for _, probability in policy], expected[state.legal_actions()], rtol=1e-5)
    assert action in state.legal_actions()
    assert 0.05 < expected.max() < 0.7, "neither uniform nor certain, or else this shows little"


def test_actions_are_drawn_from_the_policy(game: Game, network: BoardNetwork) -> None:
    state = a_position(game)
    batch = Batch(game, 20_000)
    batch.load(np.arange(20_000), np.repeat(state.record, 20_000))
    actions = PolicyBot(network, game, seed=1).step_batch(batch, np.arange(20_000))
    bot = PolicyBot(network, game, seed=2)
    bot.reseed(1)
    assert bot.step_batch(batch, np.arange(20_000)).tolist() == actions.tolist()
    frequencies = np.bincount(actions, minlength=game.num_actions) / 20_000
    np.testing.assert_allclose(frequencies, expected_policy(network, state), atol=0.015)


def test_a_deterministic_bot_plays_the_most_probable_action(game: Game, network: BoardNetwork) -> None:
    bot = PolicyBot(network, game, deterministic=True)
    state = game.new_initial_state()
    while not state.is_terminal():
        action = bot.step(state)
        assert action == expected_policy(network, state).argmax()
        state.apply_action(action)


def test_load_bot_plays_a_checkpoint_also_on_another_size(game: Game, network: BoardNetwork, tmp_path: Path) -> None:
    save_network(tmp_path / "agent", game, network)
    state = a_position(game)
    loaded = load_bot(str(tmp_path / "agent"), game, seed=4)
    assert loaded.name == str(tmp_path / "agent")
    assert [loaded.step(state) for _ in range(30)] == [
        bot.step(state) for bot in [PolicyBot(network, game, seed=4)] for _ in range(30)
    ]
    larger = load_game("laido", size=5)
    assert load_bot(str(tmp_path / "agent"), larger).step(a_position(larger)) in a_position(larger).legal_actions()
