"""Networks as searches ask them, by PyTorch and compiled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

import torch

from game_play import random_batch
from random_networks import random_network
from stoneworks.envs.rules import Game, load_game
from stoneworks.models.inference.network_inference import (
    Inference,
    TorchInference,
    fastest_device,
    fastest_dtype,
    make_inference,
)
from stoneworks.models.inference.winograd import WinogradInference
from stoneworks.models.network import BoardNetwork, WinDrawLossNetwork
from stoneworks.models.network_inputs import NetworkInputs

CPU = torch.device("cpu")
GAME = load_game("vadus(size=4)")


def network_of(game: Game = GAME, **hyperparameters: object) -> BoardNetwork:
    described = {"kind": "win_draw_loss_network", "channels": 16, "blocks": 2, **hyperparameters}
    return random_network(game, 0.03, seed=5, **described)


def planes_of(game: Game = GAME, number: int = 30, features: bool = False) -> npt.NDArray[np.float32]:
    return NetworkInputs(game, features).of_records(random_batch(game, number, 7, seed=1).states.copy())[0]


def compiled(network: BoardNetwork) -> Inference:
    inference = make_inference(network, device=CPU)
    assert isinstance(inference, WinogradInference)
    return inference


def by_torch(network: BoardNetwork) -> Inference:
    return TorchInference(network, device=CPU, dtype=torch.float32)


MakeInference = Callable[[BoardNetwork], Inference]
BOTH = pytest.mark.parametrize("make", [compiled, by_torch])


@BOTH
@pytest.mark.parametrize(
    ("game_name", "hyperparameters"),
    [
        ("vadus(size=2)", {"blocks": 1}),
        ("vadus(size=5)", {"channels": 32, "blocks": 4, "features": True}),
        ("laido(size=5)", {"channels": 8}),
        ("taugo(size=8)", {"channels": 40, "features": True}),
        ("taigo(radius=5)", {"channels": 24, "blocks": 0}),
        ("trugo(radius=5,tiles=18)", {"channels": 48, "blocks": 1, "kind": "scalar_value_network"}),
    ],
)
def test_outputs_are_the_networks(make: MakeInference, game_name: str, hyperparameters: dict[str, object]) -> None:
    game = load_game(game_name)
    network = network_of(game, **hyperparameters)
    planes = planes_of(game, 21, network.features)
    logits, values = make(network)(planes)
    with torch.no_grad():
        expected_logits, expected_values = (outputs.numpy() for outputs in network(torch.from_numpy(planes)))
    assert (logits.shape, values.shape) == ((21, game.num_actions), (21,))
    np.testing.assert_allclose(logits, expected_logits, atol=1e-4 * max(1.0, float(np.abs(expected_logits).max())))
    np.testing.assert_allclose(values, expected_values, atol=1e-4)
    assert np.ptp(values) > 1e-4


def test_a_position_has_the_same_outputs_in_any_batch_and_close_ones_in_bfloat16() -> None:
    evaluate, planes = compiled(network_of(channels=32)), planes_of(number=40)
    planes[20:, GAME.observation_planes.index(GAME.board_plane), :3] = 0
    logits, values = evaluate(planes)
    for first, last in ((0, 1), (17, 18), (5, 12), (20, 40)):
        some_logits, some_values = evaluate(planes[first:last])
        np.testing.assert_array_equal(some_logits, logits[first:last])
        np.testing.assert_array_equal(some_values, values[first:last])
    network, planes = network_of(), planes_of()
    logits, values = TorchInference(network, device=CPU, dtype=torch.bfloat16)(planes)
    exact_logits, exact_values = by_torch(network)(planes)
    assert logits.dtype == values.dtype == np.float32
    assert np.abs(logits - exact_logits).max() < 0.1 * max(1.0, exact_logits.std())
    assert np.abs(values - exact_values).max() < 0.03
    assert (logits != exact_logits).any()


@BOTH
def test_another_number_of_planes_is_refused(make: MakeInference) -> None:
    planes = planes_of()
    for number in (1, planes.shape[1] + 1):
        with pytest.raises((ValueError, RuntimeError), match=rf"\b{number}\b"):
            make(network_of())(np.resize(planes, (2, number, *planes.shape[2:])))


@BOTH
def test_weights_are_copied_and_replaced_on_request(make: MakeInference) -> None:
    network, planes = network_of(), planes_of()
    evaluate = make(network)
    before, _ = evaluate(planes)
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(1.5)
    np.testing.assert_array_equal(evaluate(planes)[0], before)
    evaluate.load_weights(network.playing_state_dict())
    after, _ = evaluate(planes)
    np.testing.assert_array_equal(after, make(network)(planes)[0])
    assert not np.allclose(after, before)
    with torch.no_grad():  # damaged weights give non-finite outputs
        network.blocks[0].second.weight[3, 4, 1, 1] = torch.nan  # type: ignore[union-attr, index]
    logits, values = make(network)(planes)
    assert not np.isfinite(logits).all()
    assert not np.isfinite(values).any()


def test_other_networks_dtypes_and_devices_are_evaluated_by_pytorch() -> None:
    class Other(WinDrawLossNetwork):
        pass

    network, device = network_of(), fastest_device()
    assert isinstance(make_inference(network, device=CPU, dtype=torch.bfloat16), TorchInference)
    assert isinstance(make_inference(Other(network.architecture), device=CPU), TorchInference)
    inference = TorchInference(network)
    assert (inference.device, inference.dtype) == (device, fastest_dtype(device))
