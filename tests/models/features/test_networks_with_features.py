"""Networks that see features: checkpoints, agents, training batches, and the setting in configurations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from game_play import random_state

pytest.importorskip("torch")

from random_networks import random_network, save_network
from stoneworks.envs.rules import load_game
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.training.alphazero.positions import BatchMaker, make_positions
from stoneworks.training.runs import algorithms
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.config_files import load_config


def test_a_checkpoint_with_other_features_is_refused(tmp_path: Path) -> None:
    save_network(tmp_path / "agent", "vadus(size=3)", random_network("vadus(size=3)", features=True))
    file = tmp_path / "agent" / "checkpoint.json"
    file.write_text(file.read_text().replace("own_arms", "own_legs"))
    with pytest.raises(CheckpointError, match="feature_planes"):
        load_checkpoint(tmp_path / "agent")


def test_training_batches_show_the_features_in_every_orientation() -> None:
    game = load_game("taugo(size=5)")
    states = [random_state(game, 5, seed) for seed in range(8)]
    records = np.array([state.record for state in states], game.state_dtype)
    policies = np.zeros((8, game.num_actions), np.float32)
    policies[:, -1] = 1
    positions = make_positions(game, records, policies, np.zeros(8, np.float32))
    inputs = NetworkInputs(game, True)
    images = {inputs.of_records(records)[0][0].ravel()[np.argsort(image)].tobytes() for image in inputs.symmetry_images}
    maker = BatchMaker(game, features=True)
    seen = {maker.make(positions, np.random.default_rng(seed)).observations[0].numpy().tobytes() for seed in range(40)}
    assert len(seen) > 1
    assert seen <= images


@pytest.mark.parametrize("name", ["vadus-5-ppo", "vadus-5"])
def test_every_algorithm_may_train_with_features_if_the_game_has_some(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_config(name, ["network.features=true"]).network.features
    monkeypatch.setattr(algorithms, "has_features", lambda game: False)
    with pytest.raises(ConfigError, match="features must be false: vadus"):
        load_config(name, ["network.features=true"])
