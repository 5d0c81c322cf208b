"""The values of the search in the next actions as a training target: a plain sum, learned by a head, refused where none can be."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from stoneworks.envs.rules import load_game
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.training.alphazero.config import LearnerConfig
from stoneworks.training.alphazero.learner import Learner
from stoneworks.training.alphazero.positions import BatchMaker, check_positions
from stoneworks.training.alphazero.self_play import PlayedGame
from stoneworks.training.runs.algorithms import ConfigError
from tiny_runs import alphazero, self_played

GAME = load_game("vadus(size=2)")
CPU = torch.device("cpu")


def plain_targets(played: PlayedGame, at: int) -> list[float]:
    """One action after the other: with the chance 1 / horizon, the value of the last position searched in full counts."""
    positions = played.positions
    index = len(played.actions) - positions["actions_left"].astype(int)
    player = positions["state"]["current_player"]
    targets = []
    for horizon in (6, 16, 50):
        total, remaining = 0.0, 1.0
        for number in range(index[at], len(played.actions)):
            latest = np.flatnonzero(index <= number)[-1]
            sign = 1 if player[latest] == player[at] else -1
            total += remaining / horizon * sign * positions["value"][latest]
            remaining *= 1 - 1 / horizon
        targets.append(total + remaining * positions["result"][at])
    return targets


@pytest.mark.parametrize("name", ["vadus(size=3)", "taugo(size=3)"])
def test_targets_are_averages_of_the_values_of_the_next_actions(name: str) -> None:
    games = self_played(alphazero(game=name, search={"full_search_share": 0.5}), 8)
    compared = 0
    for played in games:
        targets = played.positions["short_term_values"]
        plain = [plain_targets(played, at) for at in range(len(targets))]
        np.testing.assert_allclose(targets, np.reshape(plain, (-1, 3)), atol=1e-5)
        compared += len(targets)
        assert (np.diff(played.positions["actions_left"].astype(int)) <= -1).all()
    assert compared > 20
    gaps = np.concatenate([np.diff(played.positions["actions_left"].astype(int)) for played in games])
    assert (gaps < -1).any(), "some searches are not full"


def test_a_head_learns_the_target_and_is_no_part_of_the_player() -> None:
    positions = np.concatenate([played.positions for played in self_played(alphazero(game=str(GAME)), 8)])[:8]
    batch = BatchMaker(GAME).make(positions, np.random.default_rng(0))
    torch.manual_seed(0)
    network = make_network(Architecture.of_game(GAME, channels=8, blocks=1, kind="win_draw_loss_network"))
    learner = Learner(network, LearnerConfig(learning_rate=1e-2, short_term_value_weight=1.0), CPU, torch.float32)
    first = learner.step(batch, 0)
    assert first.short_term_values == pytest.approx(np.log(2)), "the head begins with chances of one half"
    for _ in range(300):
        last = learner.step(batch, 0)
    chances = (1 + batch.short_term_values.double()) / 2
    entropy = -(torch.xlogy(chances, chances) + torch.xlogy(1 - chances, 1 - chances)).mean().item()
    assert last.short_term_values == pytest.approx(entropy, abs=0.02)
    assert not any("short_term" in name for name in learner.acting_network.playing_state_dict())


def test_a_network_without_auxiliary_heads_and_values_out_of_range_are_refused() -> None:
    architecture = Architecture.of_game(GAME, channels=8, blocks=1, kind="win_draw_loss_network")
    with pytest.raises(ConfigError, match=r"short_term_value_weight must be 0 for .* got 0\.5"):
        Learner(BoardNetwork(architecture), LearnerConfig(short_term_value_weight=0.5), CPU, torch.float32)
    positions = np.concatenate([played.positions for played in self_played(alphazero(game=str(GAME)), 8)])
    check_positions(GAME, positions)
    for wrong in (1.5, np.nan):
        positions["short_term_values"][3, 1] = wrong
        with pytest.raises(ValueError, match="position 3 is not valid: its short_term_values is out of range"):
            check_positions(GAME, positions)
