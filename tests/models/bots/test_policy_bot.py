"""The bot that plays a network's policy; see also the tests of exported policies, which it plays too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from game_play import random_state
from random_networks import random_network
from stoneworks.envs.rules import Batch, load_game
from stoneworks.models.bots.policy_bot import PolicyBot


def test_actions_are_drawn_with_the_probabilities_of_the_policy() -> None:
    game = load_game("laido(size=3)")
    network, state = random_network(game, 0.12, seed=2), random_state(game, 4, 0)
    policy = dict(PolicyBot(network, game).step_with_policy(state)[0])
    assert 0.05 < max(policy.values()) < 0.7, "neither uniform nor certain, or else this shows little"
    batch, rows = Batch(game, 20_000), np.arange(20_000)
    batch.load(rows, np.repeat(state.record, 20_000))
    actions = PolicyBot(network, game, seed=1).step_batch(batch, rows)
    assert PolicyBot(network, game, seed=1).step_batch(batch, rows).tolist() == actions.tolist()
    shares = np.bincount(actions, minlength=game.num_actions)[list(policy)] / 20_000
    np.testing.assert_allclose(shares, list(policy.values()), atol=0.015)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_output_that_is_not_finite_is_an_error(monkeypatch: pytest.MonkeyPatch, bad: float) -> None:
    game = load_game("laido(size=3)")
    network, state = random_network(game, 0.12, seed=2), random_state(game, 4, 0)
    infer, legal = network.infer, state.legal_actions()
    illegal = [action for action in range(game.num_actions) if action not in legal]

    def step(actions: list[int], value: float, deterministic: bool) -> int:
        def damaged(planes: Any) -> Any:
            logits, values = infer(planes)
            logits[:, actions] = bad
            return logits, values + np.float32(value)

        monkeypatch.setattr(network, "infer", damaged)
        return PolicyBot(network, game, 0, deterministic=deterministic).step(state)

    for deterministic in (False, True):
        for actions, value in ((legal, 0.0), ([], np.nan)):
            with pytest.raises(ValueError, match="the network's output must be finite"):
                step(actions, value, deterministic)
        assert step(illegal, 0.0, deterministic) in legal
