"""Networks that see features: checkpoints, agents, training batches, and the setting in configurations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from game_play import random_state

pytest.importorskip("torch")

from random_networks import random_network, save_network
from stoneworks.envs.rules import Batch, Game, load_game
from stoneworks.models import load_bot
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.training.alphazero.positions import BatchMaker, make_positions
from stoneworks.training.runs import algorithms
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.config_files import load_config

GAMES = ("vadus(size=4)", "laido(size=4)", "taugo(size=5)", "taigo(radius=4,tiles=20)", "trugo(radius=4,tiles=18)")


def save(folder: Path, name: str) -> Game:
    network = random_network(name, kind="win_draw_loss_network", channels=4, features=True)
    assert network.features
    save_network(folder, name, network)
    return load_game(name)


@pytest.mark.parametrize("name", GAMES)
def test_agents_with_features_play(name: str, tmp_path: Path) -> None:
    game = save(tmp_path / "agent", name)
    for bot in (load_bot(str(tmp_path / "agent"), game, 0), load_bot(f"{tmp_path / 'agent'}@4", game, 0)):
        state = random_state(game, 5, 3)
        single = bot.step(state)
        assert single in state.legal_actions()
        batch = Batch(game, 2)
        actions = bot.step_batch(batch, np.arange(2))
        assert batch.action_masks[np.arange(2), actions].all()


def test_a_checkpoint_with_other_features_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "agent", "vadus(size=3)")
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
