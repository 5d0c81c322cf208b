"""The network: which output is which action, and that a board is the same in every grid."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stoneworks.envs.rules import Batch, load_game
from stoneworks.models.network import Architecture, BoardNetwork, WinDrawLossNetwork, make_network


def some_network(kind: type[BoardNetwork] = BoardNetwork, **changes: int) -> BoardNetwork:
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
    network = kind(Architecture(**{**sizes, **changes}))
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


@pytest.mark.parametrize("kind", [BoardNetwork, WinDrawLossNetwork])
def test_a_board_gives_the_same_in_a_larger_grid(kind: type[BoardNetwork]) -> None:
    network = some_network(kind).eval()
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


# -- Win, draw and loss ------------------------------------------------------------------------------------------------


def test_the_value_is_the_probability_of_a_win_minus_that_of_a_loss() -> None:
    network = some_network(WinDrawLossNetwork).eval()
    observations = some_observations("vadus(size=3)", 20)
    with torch.no_grad():
        logits, values = network(observations)
        same_logits, outcomes = network.logits_and_value(observations)
    assert outcomes.shape == (20, 3)
    weights = np.exp(outcomes.double().numpy())
    win, draw, loss = (weights / weights.sum(axis=1, keepdims=True)).T
    np.testing.assert_allclose(win + draw + loss, 1)
    np.testing.assert_allclose(values.numpy(), win - loss, atol=1e-6)
    torch.testing.assert_close(logits, same_logits)
    assert np.ptp(values.numpy()) > 0.001


def test_a_sure_win_is_1_a_sure_draw_0_and_a_sure_loss_minus_1() -> None:
    network = some_network(WinDrawLossNetwork).eval()
    for outcome, value in enumerate((1.0, 0.0, -1.0)):
        with torch.no_grad():
            network.value.weight.zero_()
            network.value.bias.copy_(50.0 * torch.nn.functional.one_hot(torch.tensor(outcome), 3))
            assert network(some_observations("vadus(size=3)", 2))[1].tolist() == pytest.approx([value, value])


@pytest.mark.parametrize(("small", "large"), [("vadus(size=3)", "vadus(size=5)"), ("taugo(size=4)", "taugo(size=7)")])
def test_one_set_of_win_draw_loss_weights_plays_two_sizes(small: str, large: str) -> None:
    network = None
    for name in (small, large):
        game = load_game(name)
        other = make_network(Architecture.of_game(game, channels=8, blocks=1, kind="win_draw_loss_network"))
        assert isinstance(other, WinDrawLossNetwork)
        other.load_state_dict((network or other).state_dict())
        network = other
        logits, values = network(some_observations(name, 3))
        assert logits.shape == (3, game.num_actions)
        assert values.shape == (3,)
        assert values.abs().max() <= 1


def test_a_new_win_draw_loss_network_expects_nothing_in_particular() -> None:
    game = load_game("laido", size=5)
    torch.manual_seed(0)
    network = make_network(Architecture.of_game(game, channels=16, blocks=2, kind="win_draw_loss_network"))
    with torch.no_grad():
        assert network(some_observations(str(game), 20))[1].abs().max() < 0.1


def test_networks_of_two_kinds_do_not_take_each_others_weights() -> None:
    game = load_game("vadus(size=2)")
    kinds = ("board_network", "win_draw_loss_network")
    one, other = (make_network(Architecture.of_game(game, channels=4, blocks=1, kind=kind)) for kind in kinds)
    with pytest.raises(RuntimeError, match=r"value\.weight"):
        one.load_state_dict(other.state_dict())
