"""The network: which output is which action, and that a board is the same in every grid."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from fresh_runs import run_python
from game_play import random_batch
from stoneworks.documents import Tuple
from stoneworks.envs.rules import load_game
from stoneworks.models import architecture
from stoneworks.models.architecture import NetworkConfig, ResidualConfig, network_config, network_names
from stoneworks.models.checkpoint import load_checkpoint, save_checkpoint
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.registry import RegistrationError


def some_network(kind: str = "scalar_value_network", **changes: int) -> BoardNetwork:
    """A network none of whose weights is 0."""
    torch.manual_seed(1)
    sizes = {"observation_planes": 6, "board_plane": 2, "action_planes": 3, "global_actions": 2}
    hyperparameters = {"channels": 8, "blocks": 2, **changes}
    network = make_network(Architecture(**sizes, config=ResidualConfig(kind=kind, **hyperparameters)))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return network


def some_observations(game: str, number: int) -> torch.Tensor:
    return torch.from_numpy(random_batch(game, number, 5, seed=1).observations.copy())


@pytest.mark.parametrize("kind", network_names())
@pytest.mark.parametrize("name", ["vadus(size=3)", "laido(size=7)", "taugo(size=3)", "taigo(radius=2)"])
def test_a_new_network_has_a_logit_for_each_action_and_plays_nearly_at_random(name: str, kind: str) -> None:
    torch.manual_seed(0)
    game = load_game(name)
    network = make_network(Architecture.of_game(game, channels=16, blocks=2, kind=kind))
    with torch.no_grad():
        logits, values = network(some_observations(name, 20))
    assert (logits.shape, values.shape) == ((20, game.num_actions), (20,))
    assert logits.dtype == values.dtype == torch.float32
    assert np.ptp(logits.numpy(), axis=1).max() < 0.3
    assert values.abs().max() < 0.1
    has_global = any(key.startswith("global_policy") for key in network.state_dict())
    assert has_global == bool(game.global_actions)
    assert game.observation_planes[network.architecture.board_plane] == game.board_plane
    larger = load_game(game.name, **dict.fromkeys(game.size_options, 5))
    assert network.architecture == Architecture.of_game(larger, channels=16, blocks=2, kind=kind)


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


@pytest.mark.parametrize("kind", network_names())
def test_a_board_gives_the_same_in_a_larger_grid(kind: str) -> None:
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


def test_every_weight_learns_and_values_are_between_minus_1_and_1() -> None:
    network = some_network()
    logits, values = network(some_observations("vadus(size=3)", 20))
    (logits.square().mean() + values.square().mean()).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name
    with torch.no_grad():
        network.value.weight.mul_(1000)
        assert 0.9 < network(some_observations("vadus(size=3)", 50))[1].abs().max() <= 1


def test_the_value_is_the_probability_of_a_win_minus_that_of_a_loss() -> None:
    network = some_network("win_draw_loss_network").eval()
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


class LinearConfig(NetworkConfig):
    scales: Tuple[float] = (1.0,)


class LinearNetwork(BoardNetwork):
    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.policy = torch.nn.Conv2d(architecture.observation_planes, architecture.action_planes, 1)
        self.rest = torch.nn.Linear(architecture.observation_planes, architecture.global_actions + 3)

    def logits_and_value(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rest = self.rest(observations.mean((2, 3))) * self.architecture.config.scales[0]
        return torch.cat([self.policy(observations).flatten(1), rest[:, 3:]], 1), rest[:, :3]

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits, outcomes = self.logits_and_value(observations)
        return logits, torch.softmax(outcomes, 1) @ torch.tensor([1.0, 0.0, -1.0])


def test_a_registered_network_is_saved_and_loaded_by_name(tmp_path: Path) -> None:
    architecture.register_network("linear", LinearNetwork, LinearConfig)
    game = load_game("laido(size=3)")
    network = make_network(Architecture.of_game(game, kind="linear", scales=(2.0,)))
    save_checkpoint(tmp_path / "agent", game=game, network=network, training={})
    loaded = load_checkpoint(tmp_path / "agent", load_game("laido(size=4)")).network
    assert isinstance(loaded, LinearNetwork)
    assert loaded.architecture.config == LinearConfig(kind="linear", scales=(2.0,))
    observations = some_observations("laido(size=4)", 2)
    assert torch.equal(loaded(observations)[0], network(observations)[0])
    with pytest.raises(RegistrationError, match="already registered"):
        architecture.register_network("scalar_value_network", LinearNetwork, LinearConfig)
    architecture.register_network("wrong", torch.nn.Linear, LinearConfig)
    with pytest.raises(RegistrationError, match="subclass of BoardNetwork"):
        make_network(Architecture.of_game(load_game("vadus(size=2)"), kind="wrong"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        *(({"kind": kind}, "kind must be one of .*scalar_value_network.*") for kind in ("nothing", ["x"], None)),
        ({"kind": "scalar_value_network", "heads": 3}, "unknown key heads; valid keys: kind, channels, blocks"),
        ({"kind": "scalar_value_network", "channels": 1024, "blocks": 100}, "blocks must be|channels must be"),
    ],
)
def test_hyperparameters_that_are_not_allowed_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        network_config(values)


#: A network in a process forked from one in which it has run.
FORKING = """
import os, signal, warnings
warnings.simplefilter("ignore")
import torch
from stoneworks.envs.rules import load_game
from stoneworks.models.network import Architecture, make_network
torch.set_num_threads(4)
game = load_game("vadus(size=5)")
network = make_network(Architecture.of_game(game, channels=64, blocks=2))
planes = torch.ones(256, *game.observation_shape)
network(planes)
process = os.fork()
if process == 0:
    signal.alarm(600)
    with torch.no_grad():
        network(planes)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_network_runs_after_a_fork() -> None:
    assert run_python(FORKING).strip() == "0"
