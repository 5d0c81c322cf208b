"""Policies and values of many positions at once, from every bot with a network."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from game_play import random_batch
from random_networks import random_network, save_network
from stoneworks.envs.rules import Batch, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.envs.rules.parts import has_features
from stoneworks.models import load_bot
from stoneworks.models.bots.policy_bot import NetworkBot, PolicyBot

GAME = load_game("vadus(size=3)")


def bot_of(name: str, seed: int = 1) -> NetworkBot:
    bot = load_bot(name, GAME, seed)
    assert isinstance(bot, NetworkBot)
    return bot


@pytest.mark.parametrize("search", ["", "@2"])
@pytest.mark.parametrize("name", small_games())
def test_they_are_the_networks(name: str, search: str, tmp_path: Path) -> None:
    game = load_game(name)
    features = has_features(game)
    network = random_network(game, 0.1, seed=3, kind="win_draw_loss_network", features=features)
    folder = save_network(tmp_path / "agent", game, network)
    bot = load_bot(f"{folder}{search}", game, 1)
    assert isinstance(bot, NetworkBot)
    batch = random_batch(game, 300, 1, seed=1)
    logits, policy, value = bot.policy_and_value(batch)
    assert (logits.shape, logits.dtype, policy.dtype) == ((300, game.num_actions), np.float32, np.float64)
    assert value is not None
    assert (value.shape, value.dtype) == ((300,), np.float32)
    np.testing.assert_array_equal(policy > 0, batch.action_masks != 0)
    np.testing.assert_allclose(policy.sum(1), 1)
    legal = batch.action_masks[7] != 0
    expected = np.exp(logits[7].astype(float))[legal]
    np.testing.assert_allclose(policy[7, legal], expected / expected.sum(), rtol=1e-9)
    if not features:
        with torch.no_grad():
            exact = [outputs.numpy() for outputs in network(torch.from_numpy(batch.observations.copy()))]
        np.testing.assert_allclose(logits, exact[0], atol=1e-4)
        np.testing.assert_allclose(value, exact[1], atol=1e-4)
    some = bot.policy_and_value([batch.state(299), batch.state(0)])
    for of_some, of_all in zip(some, (logits, policy, value), strict=True):
        assert of_some is not None
        np.testing.assert_allclose(of_some, of_all[[299, 0]], atol=1e-5)


def test_positions_that_have_none_and_bots_that_have_no_values(tmp_path: Path) -> None:
    folder = save_network(tmp_path / "agent", GAME)
    bot = bot_of(f"{folder}")
    logits, policy, value = bot.policy_and_value([])
    assert (logits.shape, policy.shape) == ((0, GAME.num_actions), (0, GAME.num_actions))
    assert value is not None
    assert value.shape == (0,)
    batch = Batch(GAME, 3)
    while not batch.terminated.any():
        batch.step(batch.random_actions())
    over = int(np.flatnonzero(batch.terminated)[0])
    with pytest.raises(ValueError, match=f"game {over} of the batch is over"):
        bot.policy_and_value(batch)
    with pytest.raises(ValueError, match="the game is over"):
        bot.policy_and_value([batch.state(over)])
    for other in (Batch("vadus(size=2)", 2), [load_game("laido(size=3)").new_initial_state()]):
        with pytest.raises(ValueError, match=r"the position must be of vadus\(size=3\)"):
            bot.policy_and_value(other)
    pytest.importorskip("onnxruntime")
    from stoneworks.models.inference.onnx_export import save_policy

    save_policy(
        tmp_path / "p.onnx",
        torch.nn.Linear(int(np.prod(GAME.observation_shape)), GAME.num_actions),
        GAME,
        selection="sample",
    )
    assert bot_of(f"policy:{tmp_path}/p.onnx").policy_and_value(Batch(GAME, 2)).value is None


@pytest.mark.parametrize("search", ["", "@4"])
def test_they_take_no_random_numbers(search: str, tmp_path: Path) -> None:
    name = f"{save_network(tmp_path / 'agent', GAME)}{search}"
    one, other = bot_of(name), bot_of(name)
    one.policy_and_value(Batch(GAME, 5))
    batch = random_batch(GAME, 50, 2, seed=1)
    np.testing.assert_array_equal(one.step_batch(batch, np.arange(50)), other.step_batch(batch, np.arange(50)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_they_are_computed_on_a_gpu(tmp_path: Path) -> None:
    network = random_network(GAME, 0.1, seed=3, kind="win_draw_loss_network")
    batch = random_batch(GAME, 300, 2, seed=1)
    on_cpu = PolicyBot(network, GAME, 1).policy_and_value(batch)
    on_gpu = PolicyBot(copy.deepcopy(network).cuda(), GAME, 1).policy_and_value(batch)
    np.testing.assert_allclose(on_gpu.logits, on_cpu.logits, atol=2e-3 * np.abs(on_cpu.logits).max())
    searching = bot_of(f"{save_network(tmp_path / 'agent', GAME, network)}@4").policy_and_value(batch)  # in bfloat16
    assert searching.value is not None
    assert on_cpu.value is not None
    np.testing.assert_allclose(searching.value, on_cpu.value, atol=0.05)
