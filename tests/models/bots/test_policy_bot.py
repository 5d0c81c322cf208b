"""The bot that plays a network's policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from game_play import random_state
from random_networks import random_network, save_network
from stoneworks.envs.rules import Batch, State, load_game
from stoneworks.models import load_bot
from stoneworks.models.bots.policy_bot import PolicyBot

GAME = load_game("laido", size=3)
#: A network with a policy that is far from uniform.
NETWORK = random_network(GAME, 0.12, seed=2)


def expected_policy(state: State) -> np.ndarray:
    """The softmax of the logits over the legal actions, in double precision."""
    with torch.no_grad():
        logits = NETWORK(torch.from_numpy(state.observation_tensor()[None]))[0][0].double().numpy()
    weights = np.exp(logits) * state.legal_actions_mask()
    return weights / weights.sum()


def test_actions_are_drawn_from_the_softmax_over_the_legal_actions() -> None:
    state = random_state(GAME, 4, 0)
    policy, action = PolicyBot(NETWORK, GAME, seed=1).step_with_policy(state)
    assert action in state.legal_actions()
    assert [index for index, _ in policy] == state.legal_actions()
    expected = expected_policy(state)
    assert 0.05 < expected.max() < 0.7, "neither uniform nor certain, or else this shows little"
    np.testing.assert_allclose([probability for _, probability in policy], expected[state.legal_actions()], rtol=1e-5)
    batch, rows = Batch(GAME, 20_000), np.arange(20_000)
    batch.load(rows, np.repeat(state.record, 20_000))
    actions = PolicyBot(NETWORK, GAME, seed=1).step_batch(batch, rows)
    bot = PolicyBot(NETWORK, GAME, seed=2)
    bot.reseed(1)
    assert bot.step_batch(batch, rows).tolist() == actions.tolist()
    np.testing.assert_allclose(np.bincount(actions, minlength=GAME.num_actions) / 20_000, expected, atol=0.015)


def test_a_deterministic_bot_plays_the_most_probable_action() -> None:
    bot = PolicyBot(NETWORK, GAME, deterministic=True)
    state = GAME.new_initial_state()
    while not state.is_terminal():
        action = bot.step(state)
        assert action == expected_policy(state).argmax()
        state.apply_action(action)


def test_load_bot_plays_a_checkpoint_also_on_another_size(tmp_path: Path) -> None:
    name = str(save_network(tmp_path / "agent", GAME, NETWORK))
    state, larger = random_state(GAME, 4, 0), random_state("laido(size=5)", 2, 0)
    loaded, bot = load_bot(name, GAME, seed=4), PolicyBot(NETWORK, GAME, seed=4)
    assert loaded.name == name
    assert [loaded.step(state) for _ in range(30)] == [bot.step(state) for _ in range(30)]
    assert load_bot(name, larger.get_game()).step(larger) in larger.legal_actions()
