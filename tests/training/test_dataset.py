"""Datasets of runs and records are what was played, and their images what the rules say of images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from game_play import uniform_game
from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.evaluation.records import GameRecord
from stoneworks.models.checkpoint import CheckpointError
from stoneworks.training.dataset import dataset_of_records, dataset_of_run
from stoneworks.training.runs.run import train_run
from tiny_runs import alphazero


def test_a_run_gives_its_replay_buffer(tmp_path: Path) -> None:
    train_run(alphazero(positions=120), tmp_path / "run")
    game = load_game("vadus(size=2)")
    dataset = dataset_of_run(tmp_path / "run" / "positions", game)
    number = len(dataset.planes)
    assert number >= 120
    assert dataset.planes.shape == (number, *game.observation_shape)
    assert not dataset.policies[~dataset.masks].any()
    np.testing.assert_allclose(dataset.policies.sum(1), 1, atol=1e-5)
    assert set(dataset.results.tolist()) == {-1, 0, 1}
    assert (np.abs(dataset.values) <= 1).all()
    assert np.corrcoef(dataset.results, dataset.values)[0, 1] > 0.3
    with pytest.raises(CheckpointError, match="positions of another game"):
        dataset_of_run(tmp_path / "run" / "positions", "laido(size=3)")
    file = next((tmp_path / "run" / "positions").glob("*.npy"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    for damaged in (bytes(content), bytes(content[:-10]), b""):
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=f"{file.name} is damaged"):
            dataset_of_run(tmp_path / "run" / "positions", game)
    with pytest.raises(ValueError, match=r"no \.npy files"):
        dataset_of_run(tmp_path / "run", game)


@pytest.mark.parametrize("name", small_games())
def test_records_give_the_actions_played_and_their_images(name: str) -> None:
    game = load_game(name)
    state = uniform_game(game, np.random.default_rng(1))[-1]
    record = GameRecord.of_state(state, ("one", "other"))
    plain = dataset_of_records([record], game)
    images = dataset_of_records([record], game, all_symmetries=True)
    actions = state.history()
    assert plain.policies.argmax(1).tolist() == actions
    assert plain.masks[np.arange(len(actions)), actions].all()
    assert len(images.planes) == len(actions) * len(game.symmetries)
    assert np.isnan(images.values).all()
    ahead, winner = game.new_initial_state(), record.winner
    ahead_images = [game.initial_image(symmetry) for symmetry in game.symmetries]
    for number, action in enumerate(actions):
        player = ahead.current_player()
        assert plain.results[number] == (0 if winner is None else 1 if winner == player else -1)
        np.testing.assert_array_equal(plain.planes[number], ahead.observation_tensor(player))
        for which, (symmetry, image) in enumerate(zip(game.symmetries, ahead_images, strict=True)):
            row = which * len(actions) + number
            np.testing.assert_array_equal(images.planes[row], image.observation_tensor(player))
            np.testing.assert_array_equal(images.masks[row], image.legal_actions_mask() != 0)
            assert images.policies[row].argmax() == symmetry.actions[action]
            assert images.results[row] == plain.results[number]
            image.apply_action(int(symmetry.actions[action]))
        ahead.apply_action(action)
