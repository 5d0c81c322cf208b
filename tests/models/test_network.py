"""The network: which output is which action, and that a board is the same in every grid."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stoneworks.envs.rules import Batch, load_game
from stoneworks.models.network import Architecture, BoardNetwork


def some_network(**changes: int) -> BoardNetwork:
    """A network none of whose weights is 0."""
    torch.manual_seed(1)
    sizes = {
        "observation_planes": 6,
        "board_plane": 2,
        "action_planes": 3,
        "global_actions": 2,
        "channels": 8,
        "blocks": 2,
    }
    network = BoardNetwork(Architecture(**{**sizes, **changes}))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return network


def some_observations(game: str, number: int) -> torch.Tensor:
    batch = Batch(load_game(game), number, seed=1)
    for _ in range(5):
        batch.step(batch.random_actions())
    return torch.from_numpy(batch.observations.copy())


@pytest.mark.parametrize("name", ["vadus", "laido", "taugo"])
@pytest.mark.parametrize("size", [3, 5, 9])
def test_one_set_of_weights_plays_every_size_of_its_game(name: str, size: int) -> None:
    game = load_game(name, size=size)
    architecture = Architecture.of_game(game, channels=8, blocks=1)
    assert architecture == Architecture.of_game(load_game(name, size=4), channels=8, blocks=1)
    network = BoardNetwork(architecture)
    network.load_state_dict(BoardNetwork(architecture).state_dict())
    logits, values = network(some_observations(str(game), 3))
    assert logits.shape == (3, game.num_actions)
    assert values.shape == (3,)
    assert logits.dtype == values.dtype == torch.float32


def test_outputs_are_in_the_order_of_the_action_index() -> None:
    network = some_network(blocks=0)
    planes, height, width = 3, 5, 7
    observations = torch.zeros(1, 6, height, width)
    observations[:, 2] = 1
    with torch.no_grad():
        network.cell_policy.weight.zero_()
        network.cell_policy.bias.copy_(torch.tensor([100.0, 200.0, 300.0]))
        # The first plane's logit is that of a feature that is greatest at the one cell with an own stone.
        network.stem.weight.zero_()
        network.stem.weight[0, 0, 1, 1] = 1.0
        network.stem.bias.zero_()
        network.cell_policy.weight[:, 0] = 7.0
        network.global_policy.weight.zero_()
        network.global_policy.bias.copy_(torch.tensor([-1.0, -2.0]))
        observations[0, 0, 3, 4] = 1
        logits = network(observations)[0][0]
    assert logits[-2:].tolist() == [-1.0, -2.0]
    board = logits[:-2].reshape(planes, height, width)
    for plane in range(planes):
        expected = torch.full((height, width), 100.0 * (plane + 1))
        expected[3, 4] += 7.0
        torch.testing.assert_close(board[plane], expected)


def test_a_board_gives_the_same_in_a_larger_grid() -> None:
    network = some_network().eval()
    small = some_observations("vadus(size=3)", 4)
    large = torch.zeros(4, 6, 9, 8)
    large[:, :, 2:7, 1:6] = small
    # Constant planes reach as far as the grid does, also off the board.
    large[:, 3:] = small[:, 3:, :1, :1]
    with torch.no_grad():
        logits, values = network(small)
        large_logits, large_values = network(large)
    torch.testing.assert_close(values, large_values)
    torch.testing.assert_close(logits[:, -2:], large_logits[:, -2:])
    on_board = small[0, 2].bool()
    cells = logits[:, :-2].reshape(4, 3, 5, 5)[:, :, on_board]
    large_cells = large_logits[:, :-2].reshape(4, 3, 9, 8)[:, :, 2:7, 1:6][:, :, on_board]
    torch.testing.assert_close(cells, large_cells)


def test_values_are_between_minus_1_and_1() -> None:
    network = some_network()
    with torch.no_grad():
        network.value.weight.mul_(1000)
        values = network(some_observations("vadus(size=3)", 50))[1]
    assert values.abs().max() <= 1
    assert values.abs().max() > 0.9


def test_a_new_network_plays_nearly_at_random_and_expects_a_draw() -> None:
    torch.manual_seed(0)
    game = load_game("laido", size=5)
    network = BoardNetwork(Architecture.of_game(game, channels=16, blocks=2))
    with torch.no_grad():
        logits, values = network(some_observations(str(game), 20))
    assert np.ptp(logits.numpy(), axis=1).max() < 0.3
    assert values.abs().max() < 0.1


def test_every_weight_learns() -> None:
    network = some_network()
    logits, values = network(some_observations("vadus(size=3)", 20))
    (logits.square().mean() + values.square().mean()).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_a_game_without_global_actions_has_a_logit_for_each_action_and_no_layer_for_others() -> None:
    game = load_game("taigo(radius=2)")
    network = BoardNetwork(Architecture.of_game(game, channels=4, blocks=1))
    logits, value = network(torch.rand(3, *game.observation_shape))
    assert logits.shape == (3, game.num_distinct_actions())
    assert value.shape == (3,)
    assert not any(name.startswith("global_policy") for name in network.state_dict())
    assert game.observation_planes[network.architecture.board_plane] == "window"
