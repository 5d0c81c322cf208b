"""The network as a search asks it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from random_networks import random_network
from stoneworks.envs.rules import Batch, load_game
from stoneworks.models.evaluator import NetworkEvaluator, fastest_device, fastest_dtype
from stoneworks.models.network import BoardNetwork

CPU = torch.device("cpu")
GAME = load_game("vadus(size=4)")


@pytest.fixture
def network() -> BoardNetwork:
    return random_network(GAME, 0.05, seed=3, channels=16, blocks=2, kind="win_draw_loss_network")


@pytest.fixture
def planes() -> np.ndarray:
    batch = Batch(GAME, 30, seed=1)
    for _ in range(6):
        batch.step(batch.random_actions())
    return batch.observations.copy()


def test_in_float32_answers_are_the_networks(network: BoardNetwork, planes: np.ndarray) -> None:
    logits, values = NetworkEvaluator(network, device=CPU, dtype=torch.float32)(planes)
    with torch.no_grad():
        expected_logits, expected_values = network(torch.from_numpy(planes))
    np.testing.assert_allclose(logits, expected_logits.numpy(), atol=1e-5)
    np.testing.assert_allclose(values, expected_values.numpy(), atol=1e-5)
    assert (logits.shape, values.shape) == ((30, GAME.num_actions), (30,))
    assert np.ptp(values) > 0.01


def test_in_bfloat16_answers_are_close(network: BoardNetwork, planes: np.ndarray) -> None:
    logits, values = NetworkEvaluator(network, device=CPU, dtype=torch.bfloat16)(planes)
    exact_logits, exact_values = NetworkEvaluator(network, device=CPU, dtype=torch.float32)(planes)
    assert logits.dtype == values.dtype == np.float32
    spread = exact_logits.std()
    assert np.abs(logits - exact_logits).max() < 0.1 * max(1.0, spread)
    assert np.abs(values - exact_values).max() < 0.03
    assert (logits != exact_logits).any()


def test_the_network_is_copied_and_updated_on_request(network: BoardNetwork, planes: np.ndarray) -> None:
    evaluator = NetworkEvaluator(network, device=CPU, dtype=torch.bfloat16)
    before = evaluator(planes)
    with torch.no_grad():
        network.value.bias.add_(torch.tensor([1.0, 0.0, -1.0]))
    np.testing.assert_array_equal(evaluator(planes)[1], before[1])
    assert network.value.bias.dtype == torch.float32
    evaluator.load_weights(network.state_dict())
    after = evaluator(planes)
    np.testing.assert_array_equal(after[0], before[0])
    assert (after[1] > before[1] + 0.1).all()


def test_the_fastest_device_is_an_available_one(network: BoardNetwork, planes: np.ndarray) -> None:
    device = fastest_device()
    assert device.type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert fastest_dtype(device) in (torch.float32, torch.bfloat16)
    evaluator = NetworkEvaluator(network)
    assert (evaluator.device, evaluator.dtype) == (device, fastest_dtype(device))
    assert np.isfinite(evaluator(planes)[1]).all()
