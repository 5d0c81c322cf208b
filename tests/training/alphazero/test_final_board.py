"""The final board as a training target: its storage, its symmetries, and the head, which checkpoints leave out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

import torch

from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.games import small_games
from stoneworks.models.architecture import Architecture
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint
from stoneworks.models.network import BoardNetwork, make_network
from stoneworks.training.alphazero.config import LearnerConfig, has_final_board
from stoneworks.training.alphazero.final_board import final_board, final_board_loss
from stoneworks.training.alphazero.learner import Learner
from stoneworks.training.alphazero.positions import BatchMaker, check_positions
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.run import train_run
from tiny_runs import alphazero, self_played, stopped

GAMES = [name for name in small_games() if has_final_board(load_game(name))]
CPU = torch.device("cpu")


def some_positions(game: Game) -> npt.NDArray[np.void]:
    return np.concatenate([played.positions for played in self_played(alphazero(game=str(game)), 8)])


def planes_of_stones(game: Game) -> list[int]:
    return [game.observation_planes.index(name) for name in ("own_stones", "opponent_stones")]


@pytest.mark.parametrize("name", GAMES)
def test_positions_have_the_board_at_the_end_of_their_game(name: str) -> None:
    game = load_game(name)
    different = 0
    for played in self_played(alphazero(game=name), 8):
        state = game.new_initial_state()
        for action in played.actions:
            state.apply_action(action)
        for position in played.positions:
            player = int(position["state"]["current_player"])
            own, opponent = (state.observation_tensor(player)[plane] for plane in planes_of_stones(game))
            np.testing.assert_array_equal(position["final_board"].reshape(own.shape), own - opponent)
            different += (final_board(game, position["state"], player) != position["final_board"]).any()
    assert different > 0, "it is not the board of the position itself"
    assert {load_game(name).name for name in GAMES} == {"vadus", "laido", "taugo"}


@pytest.mark.parametrize("name", GAMES)
def test_the_target_is_turned_with_the_position(name: str) -> None:
    """A position at the end of a game looks as its target does, under every symmetry."""
    game = load_game(name)
    positions = some_positions(game)[:20]
    for position in positions:
        player = int(position["state"]["current_player"])
        position["final_board"] = final_board(game, position["state"], player)
    batch = BatchMaker(game, final_boards=True).make(positions, np.random.default_rng(0))
    assert batch.final_boards is not None
    own, opponent = (batch.observations[:, plane] for plane in planes_of_stones(game))
    assert torch.equal(batch.final_boards, (own - opponent).flatten(1).long())
    assert batch.final_boards.abs().sum() > 0


def test_a_value_out_of_range_is_refused() -> None:
    game = load_game("vadus(size=2)")
    positions = some_positions(game)
    check_positions(game, positions)
    positions["final_board"][3, 5] = 3
    with pytest.raises(ValueError, match="position 3 is not valid: its final_board is out of range"):
        check_positions(game, positions)


def test_the_loss_is_the_mean_cross_entropy_of_the_cells_of_the_board() -> None:
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(2, 3, 5))
    owners = generator.integers(-1, 2, size=(2, 5))
    on_board = np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 0]])
    terms = [
        np.log(np.exp(logits[row, :, cell]).sum()) - logits[row, 1 - owners[row, cell], cell]
        for row, cell in np.argwhere(on_board)
    ]
    loss = final_board_loss(torch.from_numpy(logits), torch.from_numpy(owners), torch.from_numpy(on_board))
    assert loss.item() == pytest.approx(np.mean(terms))


def make_learner(game: Game, weight: float) -> Learner:
    torch.manual_seed(0)
    network = make_network(Architecture.of_game(game, channels=16, blocks=1, kind="win_draw_loss_network"))
    settings = LearnerConfig(learning_rate=1e-2, final_board_weight=weight)
    return Learner(network, settings, CPU, torch.float32)


def test_the_head_learns_the_target_and_only_with_a_weight() -> None:
    game = load_game("vadus(size=2)")
    batch = BatchMaker(game, final_boards=True).make(some_positions(game)[:8], None)
    learner = make_learner(game, weight=1.0)
    first = learner.step(batch, 0)
    assert first.final_board == pytest.approx(np.log(3)), "the head begins with equal probabilities"
    for _ in range(150):
        last = learner.step(batch, 0)
    assert last.final_board < 0.3
    assert make_learner(game, weight=0.0).step(batch, 0).final_board == 0
    assert not any("final_board" in name for name in learner.acting_network.playing_state_dict())


def test_what_has_no_final_board_is_refused() -> None:
    network = BoardNetwork(Architecture.of_game(load_game("vadus(size=2)"), channels=4, blocks=1))
    with pytest.raises(ConfigError, match=r"final_board_weight must be 0 for .* got 0\.5"):
        Learner(network, LearnerConfig(final_board_weight=0.5), CPU, torch.float32)
    for game in ("taigo(radius=4)", "trugo(tiles=18,radius=5)"):
        with pytest.raises(ConfigError, match=r"learner\.final_board_weight must be 0: .* has no planes own_stones"):
            alphazero(game=game, learner={"final_board_weight": 0.5})


def test_a_run_learns_the_target_and_resumes_after_a_stop(tmp_path: Path) -> None:
    config = alphazero(positions=100, positions_per_iteration=40, learner={"min_window": 20, "final_board_weight": 0.5})
    part, seen = stopped(config, tmp_path, 1)
    assert not part.finished
    with pytest.raises(CheckpointError, match=r"auxiliary heads must be those of the checkpoint.*auxiliary\.final"):
        train_run(alphazero(positions=100, positions_per_iteration=40), tmp_path, resume=True)
    assert train_run(config, tmp_path, resume=True, report=seen.append).finished
    losses = [status.metrics["final_board"] for status in seen if "final_board" in status.metrics]
    assert len(losses) > 1
    assert all(0 < loss < 1.2 for loss in losses)
    network = load_checkpoint(tmp_path / "checkpoint", load_game(config.game)).network
    assert not any("final_board" in name for name in network.state_dict())
