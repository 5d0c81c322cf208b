"""The bot that plays a network's policy; see also the tests of exported policies, which it plays too."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from game_play import random_state
from random_networks import random_network
from stoneworks.envs.rules import Batch, load_game
from stoneworks.models.bots.policy_bot import PolicyBot

GAME = load_game("laido", size=3)
#: A network with a policy that is far from uniform.
NETWORK = random_network(GAME, 0.12, seed=2)


def test_actions_are_drawn_from_the_softmax_over_the_legal_actions() -> None:
    state = random_state(GAME, 4, 0)
    policy, action = PolicyBot(NETWORK, GAME, seed=1).step_with_policy(state)
    assert action in state.legal_actions()
    assert [index for index, _ in policy] == state.legal_actions()
    with torch.no_grad():
        logits = NETWORK(torch.from_numpy(state.observation_tensor()[None]))[0][0].double().numpy()
    weights = np.exp(logits) * state.legal_actions_mask()
    expected = weights / weights.sum()
    assert 0.05 < expected.max() < 0.7, "neither uniform nor certain, or else this shows little"
    np.testing.assert_allclose([probability for _, probability in policy], expected[state.legal_actions()], rtol=1e-5)
    batch, rows = Batch(GAME, 20_000), np.arange(20_000)
    batch.load(rows, np.repeat(state.record, 20_000))
    actions = PolicyBot(NETWORK, GAME, seed=1).step_batch(batch, rows)
    bot = PolicyBot(NETWORK, GAME, seed=2)
    bot.reseed(1)
    assert bot.step_batch(batch, rows).tolist() == actions.tolist()
    np.testing.assert_allclose(np.bincount(actions, minlength=GAME.num_actions) / 20_000, expected, atol=0.015)
