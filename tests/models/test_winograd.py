"""The compiled evaluation of networks against PyTorch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

import torch

from random_networks import random_network
from stoneworks.envs.rules import Batch, Game, load_game
from stoneworks.models.evaluator import NetworkEvaluator, make_evaluator
from stoneworks.models.network import BoardNetwork, WinDrawLossNetwork
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.models.winograd import WinogradEvaluator

CPU = torch.device("cpu")


def network_of(game: Game, **hyperparameters: object) -> BoardNetwork:
    return random_network(game, 0.03, seed=5, **{"kind": "win_draw_loss_network", **hyperparameters})


def planes_of(game: Game, number: int, features: bool = False) -> npt.NDArray[np.float32]:
    batch = Batch(game, number, seed=1, auto_reset=True)
    for _ in range(7):
        batch.step(batch.random_actions())
    return NetworkInputs(game, features).of_records(batch.states.copy())[0]


def compiled(network: BoardNetwork) -> WinogradEvaluator:
    evaluator = make_evaluator(network, device=CPU)
    assert isinstance(evaluator, WinogradEvaluator)
    return evaluator


@pytest.mark.parametrize(
    ("game_name", "hyperparameters"),
    [
        ("vadus(size=2)", {"channels": 16, "blocks": 1}),
        ("vadus(size=5)", {"channels": 32, "blocks": 4, "features": True}),
        ("laido(size=5)", {"channels": 8, "blocks": 2}),
        ("taugo(size=8)", {"channels": 40, "blocks": 2, "features": True}),
        ("taigo(radius=5)", {"channels": 24, "blocks": 0}),
        ("trugo(radius=5,tiles=18)", {"channels": 48, "blocks": 1, "kind": "scalar_value_network"}),
    ],
)
def test_outputs_are_those_of_pytorch(game_name: str, hyperparameters: dict[str, object]) -> None:
    game = load_game(game_name)
    network = network_of(game, **hyperparameters)
    planes = planes_of(game, 21, bool(hyperparameters.get("features")))
    logits, values = compiled(network)(planes)
    expected_logits, expected_values = NetworkEvaluator(network, device=CPU, dtype=torch.float32)(planes)
    assert logits.shape == (21, game.num_actions)
    np.testing.assert_allclose(logits, expected_logits, atol=1e-4 * max(1.0, float(np.abs(expected_logits).max())))
    np.testing.assert_allclose(values, expected_values, atol=1e-4)
    assert np.ptp(values) > 1e-4


def test_a_position_has_the_same_outputs_in_any_batch() -> None:
    game = load_game("vadus(size=4)")
    evaluate, planes = compiled(network_of(game, channels=32, blocks=2)), planes_of(game, 40)
    logits, values = evaluate(planes)
    for first, last in ((0, 1), (17, 18), (5, 12), (20, 40)):
        some_logits, some_values = evaluate(planes[first:last])
        np.testing.assert_array_equal(some_logits, logits[first:last])
        np.testing.assert_array_equal(some_values, values[first:last])


def test_positions_on_different_boards_do_not_disturb_each_other() -> None:
    game = load_game("vadus(size=4)")
    evaluate, planes = compiled(network_of(game, channels=16, blocks=2)), planes_of(game, 12)
    board = game.observation_planes.index(game.board_plane)
    planes[6:, board, :3] = 0
    logits, _ = evaluate(planes)
    alone, _ = evaluate(planes[6:])
    np.testing.assert_array_equal(logits[6:], alone)


def test_weights_are_replaced() -> None:
    game = load_game("vadus(size=4)")
    network, planes = network_of(game, channels=16, blocks=1), planes_of(game, 3)
    evaluate = compiled(network)
    before, _ = evaluate(planes)
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(1.5)
    np.testing.assert_array_equal(evaluate(planes)[0], before)
    evaluate.load_weights(network.playing_state_dict())
    after, _ = evaluate(planes)
    np.testing.assert_array_equal(after, compiled(network)(planes)[0])
    assert not np.allclose(after, before)


def test_damaged_weights_give_non_finite_outputs() -> None:
    game = load_game("vadus(size=4)")
    network = network_of(game, channels=16, blocks=1)
    with torch.no_grad():
        network.blocks[0].second.weight[3, 4, 1, 1] = torch.nan  # type: ignore[union-attr, index]
    logits, values = compiled(network)(planes_of(game, 2))
    assert not np.isfinite(logits).all()
    assert not np.isfinite(values).any()


def test_other_networks_and_dtypes_are_evaluated_by_pytorch() -> None:
    class Other(WinDrawLossNetwork):
        pass

    game = load_game("vadus(size=4)")
    network = network_of(game, channels=16, blocks=1)
    assert isinstance(make_evaluator(network, device=CPU, dtype=torch.bfloat16), NetworkEvaluator)
    assert isinstance(make_evaluator(Other(network.architecture), device=CPU), NetworkEvaluator)
