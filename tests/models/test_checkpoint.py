"""Checkpoints: what was saved comes back, and what does not fit is refused by name."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import save

from game_play import changed, read_test_data
from random_networks import random_network, save_network
from stoneworks.envs.rules import load_game
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint, load_training_state, recover
from stoneworks.models.description import PlaySettings
from stoneworks.models.network import Architecture, BoardNetwork

GAME = load_game("laido", size=3)
PLAY = PlaySettings(discount=0.5, guide="playouts", guide_weight=0.25, guide_playouts=3)


def some_network(seed: int = 0, game: str = "laido(size=3)") -> BoardNetwork:
    return random_network(game, seed=seed, channels=4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole checkpoint."""
    network, training_state = some_network(), {"x": torch.arange(3)}
    return save_network(
        tmp_path / "agent", GAME, network, training={"frames": 7}, play=PLAY, training_state=training_state
    )


def change(folder: Path, path: str, value: Any) -> None:
    file = folder / "checkpoint.json"
    file.write_text(json.dumps(changed(json.loads(file.read_text()), path, value)))


def replace_weights(folder: Path, content: bytes) -> None:
    """Exchange the file of the weights and make the hash fit."""
    (folder / "model.safetensors").write_bytes(content)
    change(folder, "files/model.safetensors/sha256", hashlib.sha256(content).hexdigest())


def test_a_saved_checkpoint_is_restored(folder: Path) -> None:
    loaded = load_checkpoint(folder, GAME)
    assert loaded.game == GAME
    assert loaded.training == {"frames": 7}
    assert loaded.play == PLAY
    assert loaded.libraries["torch"] == metadata.version("torch")
    expected = some_network().state_dict()
    assert loaded.network.state_dict().keys() == expected.keys()
    for name, tensor in loaded.network.state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    state = load_training_state(folder)
    assert list(state) == ["x"]
    assert torch.equal(state["x"], torch.arange(3))


def test_the_json_file_describes_the_checkpoint(folder: Path) -> None:
    description = json.loads((folder / "checkpoint.json").read_text())
    assert description["game"] == "laido(size=3)"
    assert description["environment_version"] == GAME.version
    assert description["observation_planes"] == list(GAME.observation_planes)
    assert description["num_actions"] == GAME.num_actions
    content = (folder / "model.safetensors").read_bytes()
    assert description["files"]["model.safetensors"] == {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def test_another_size_of_the_board_is_allowed_and_other_rules_and_games_are_not(folder: Path) -> None:
    assert load_checkpoint(folder, load_game("laido", size=9)).game == GAME
    with pytest.raises(CheckpointError, match="pie_rule must be True, as in training, got False"):
        load_checkpoint(folder, load_game("laido", size=3, pie_rule=False))
    with pytest.raises(CheckpointError, match="of laido cannot play vadus"):
        load_checkpoint(folder, load_game("vadus", size=3))


@pytest.mark.parametrize(("path", "value", "message"), read_test_data("damaged_descriptions.yaml")["checkpoint"])
def test_a_description_that_does_not_fit_is_refused(folder: Path, path: str, value: Any, message: str) -> None:
    change(folder, path, value)
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(folder, GAME)


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-1], lambda content: content[:-1] + b"\x00", lambda content: b""]
)
def test_damaged_weights_are_refused(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    file = folder / "model.safetensors"
    content = file.read_bytes()
    changed = damage(content)
    file.write_bytes(changed if changed != content else content[:-1] + b"\x01")
    with pytest.raises(CheckpointError, match=r"model\.safetensors is damaged"):
        load_checkpoint(folder)


def test_weights_of_another_kind_are_refused(folder: Path) -> None:
    weights = {name: torch.empty(tensor.shape).copy_(tensor) for name, tensor in some_network().state_dict().items()}
    for content, message in (
        (b"PK\x03\x04", "not a safetensors file"),
        (save({**weights, "value.bias": torch.full((1,), torch.nan)}), r"value\.bias have values that are not finite"),
        (save({**weights, "value.bias": weights["value.bias"].double()}), r"must be float32\[1\] .*, got float64\[1\]"),
        (save({**weights, "extra": torch.zeros(1)}), r"extra must be none by its architecture, got float32\[1\]"),
    ):
        replace_weights(folder, content)
        with pytest.raises(CheckpointError, match=message):
            load_checkpoint(folder)


def test_missing_files_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"nothing is not a checkpoint: checkpoint\.json is missing"):
        load_checkpoint(tmp_path / "nothing")
    with pytest.raises(CheckpointError, match=r"checkpoint\.json is missing; there is one in .*agent"):
        load_checkpoint(tmp_path)
    (folder / "training.safetensors").unlink()
    load_checkpoint(folder)
    with pytest.raises(CheckpointError, match=r"incomplete: training\.safetensors is missing"):
        load_training_state(folder)


def test_a_checkpoint_without_training_state_is_reported(tmp_path: Path) -> None:
    save_network(tmp_path / "agent", GAME, some_network())
    with pytest.raises(CheckpointError, match=r"has no training\.safetensors"):
        load_training_state(tmp_path / "agent")


def test_saving_replaces_a_checkpoint_whole(folder: Path) -> None:
    save_network(folder, GAME, some_network(1), training={"frames": 8})
    assert sorted(file.name for file in folder.iterdir()) == ["checkpoint.json", "model.safetensors"]
    assert [file.name for file in folder.parent.iterdir()] == ["agent"]
    loaded = load_checkpoint(folder)
    assert loaded.training == {"frames": 8}
    assert torch.equal(loaded.network.stem.weight, some_network(1).stem.weight)


@pytest.mark.parametrize("training", [{"x": object()}, {"x": float("nan")}, {}])
def test_a_failed_save_leaves_everything_as_it_was(
    folder: Path, training: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no JSON, or a disk that fails."""
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if target == folder and self.name != ".agent.old":
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(CheckpointError if training else OSError, match="JSON" if training else "no"):
        save_network(folder, GAME, some_network(1), training=training)
    assert load_checkpoint(folder).training == {"frames": 7}
    assert [file.name for file in folder.parent.iterdir()] == ["agent"]


def test_a_replacement_that_was_cut_off_is_recovered(folder: Path) -> None:
    folder.rename(folder.with_name(".agent.old"))
    recover(folder)
    assert load_checkpoint(folder).training == {"frames": 7}
    recover(folder)
    assert load_checkpoint(folder).training == {"frames": 7}


def test_nothing_but_a_checkpoint_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    (tmp_path / "file").write_text("x")
    for name in ("thesis", "file"):
        with pytest.raises(CheckpointError, match=f"{name} must be a new or empty folder or a checkpoint"):
            save_network(tmp_path / name, GAME, some_network())
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


def test_a_network_of_another_game_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"network for laido.* must be"):
        save_network(tmp_path / "agent", GAME, some_network(game="vadus(size=3)"))
    assert not list(tmp_path.iterdir())


def test_finite_weights_with_non_finite_outputs_are_rejected(tmp_path: Path) -> None:
    network = some_network()
    with torch.no_grad():
        network.stem.weight.fill_(3e38)
    save_network(tmp_path / "checkpoint", GAME, network)
    with pytest.raises(CheckpointError, match="values that are not finite"):
        load_checkpoint(tmp_path / "checkpoint")


def test_weights_that_are_a_fifo_are_rejected_at_once(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"model\.safetensors is not a regular file"):
        load_checkpoint(folder)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[]", b'{"a":' * 100_000, b'{"a": NaN}'])
def test_a_description_that_is_no_json_object_is_refused(folder: Path, content: bytes) -> None:
    (folder / "checkpoint.json").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"checkpoint\.json (is no|must be)"):
        load_checkpoint(folder)


@pytest.mark.parametrize(("channels", "blocks"), [(100_000, 1), (8, 10**6), (1024, 100)])
def test_a_network_that_would_use_up_the_memory_is_refused_at_once(channels: int, blocks: int) -> None:
    with pytest.raises(ValueError, match=r"channels must be|blocks must be"):
        Architecture.of_game(GAME, channels=channels, blocks=blocks)
