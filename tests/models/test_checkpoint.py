"""Checkpoints: what was saved comes back, and what does not fit is refused by name."""

from __future__ import annotations

import hashlib
import json
import os
import re
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
from stoneworks.models.network import BoardNetwork
from tiny_runs import assert_equal_tensors

GAME = load_game("laido", size=3)
PLAY = PlaySettings(discount=0.5, leaf_values="playouts", leaf_value_weight=0.25, leaf_value_playouts=3)


def some_network(seed: int = 0, game: str = "laido(size=3)") -> BoardNetwork:
    return random_network(game, seed=seed, channels=4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole checkpoint."""
    described = {"training": {"frames": 7}, "play": PLAY, "training_state": {"x": torch.arange(3)}}
    return save_network(tmp_path / "agent", GAME, some_network(), **described)


def change(folder: Path, path: str, value: Any) -> None:
    file = folder / "checkpoint.json"
    file.write_text(json.dumps(changed(json.loads(file.read_text()), path, value)))


def test_a_saved_checkpoint_is_restored(folder: Path) -> None:
    loaded = load_checkpoint(folder, GAME)
    assert (loaded.game, loaded.training, loaded.play) == (GAME, {"frames": 7}, PLAY)
    assert loaded.libraries["torch"] == metadata.version("torch")
    assert_equal_tensors(loaded.network.state_dict(), some_network().state_dict())
    assert_equal_tensors(load_training_state(folder), {"x": torch.arange(3)})


@pytest.mark.parametrize(("path", "value", "message"), read_test_data("damaged_descriptions.yaml")["checkpoint"])
def test_a_description_that_does_not_fit_is_refused(folder: Path, path: str, value: Any, message: str) -> None:
    change(folder, path, value)
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(folder, GAME)


def test_a_network_of_other_features_is_refused(tmp_path: Path) -> None:
    folder = save_network(tmp_path / "agent", "vadus(size=3)", random_network("vadus(size=3)", features=True))
    assert load_checkpoint(folder).network.features
    change(folder, "feature_planes/0", "own_legs")
    with pytest.raises(CheckpointError, match="feature_planes"):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.safetensors", lambda content: content[:-1] + bytes([content[-1] ^ 1]), "is damaged"),
        ("model.safetensors", os.mkfifo, "is not a regular file"),
        ("checkpoint.json", lambda content: b"{", "is no"),
    ],
)
def test_a_damaged_file_is_named(folder: Path, file: str, content: Callable[..., Any], message: str) -> None:
    path = folder / file
    if content is os.mkfifo:
        path.unlink()
        os.mkfifo(path)
    else:
        path.write_bytes(content(path.read_bytes()))
    with pytest.raises(CheckpointError, match=f"{re.escape(file)} {message}"):
        load_checkpoint(folder)


WEIGHTS = {name: torch.empty(tensor.shape).copy_(tensor) for name, tensor in some_network().state_dict().items()}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (None, "not a safetensors file"),
        ({"value.bias": torch.full((1,), torch.nan)}, r"value\.bias have values that are not finite"),
        ({"stem.weight": torch.full_like(WEIGHTS["stem.weight"], 3e38)}, "values that are not finite"),
        ({"value.bias": WEIGHTS["value.bias"].double()}, r"must be float32\[1\] .*, got float64\[1\]"),
        ({"extra": torch.zeros(1)}, r"extra must be none by its architecture, got float32\[1\]"),
    ],
)
def test_weights_of_another_kind_are_refused(folder: Path, weights: Any, message: str) -> None:
    content = b"PK\x03\x04" if weights is None else save(WEIGHTS | weights)
    (folder / "model.safetensors").write_bytes(content)
    change(folder, "files/model.safetensors/sha256", hashlib.sha256(content).hexdigest())
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
    save_network(folder, GAME, some_network())
    with pytest.raises(CheckpointError, match=r"has no training\.safetensors"):
        load_training_state(folder)


def test_saving_replaces_a_checkpoint_whole_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    save_network(folder, GAME, some_network(1), training={"frames": 8})
    assert sorted(file.name for file in folder.iterdir()) == ["checkpoint.json", "model.safetensors"]
    assert [file.name for file in folder.parent.iterdir()] == ["agent"]
    folder.rename(folder.with_name(".agent.old"))  # as where a replacement was cut off
    for _ in range(2):
        recover(folder)
        loaded = load_checkpoint(folder)
        assert loaded.training == {"frames": 8}
        assert torch.equal(loaded.network.stem.weight, some_network(1).stem.weight)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    (tmp_path / "file").write_text("x")
    for name in ("thesis", "file"):
        with pytest.raises(CheckpointError, match=f"{name} must be a new or empty folder or a checkpoint"):
            save_network(tmp_path / name, GAME, some_network())
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"
    with pytest.raises(CheckpointError, match=r"network for laido.* must be"):
        save_network(tmp_path / "other", GAME, some_network(game="vadus(size=3)"))
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("training", "message"), [({"x": object()}, "JSON"), ({"x": float("nan")}, "JSON"), ({}, "the disk failed")]
)
def test_a_failed_save_changes_nothing(folder: Path, training: Any, message: str, monkeypatch: Any) -> None:
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if target == folder and self.name != ".agent.old":
            raise OSError("the disk failed")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(CheckpointError if training else OSError, match=message):
        save_network(folder, GAME, some_network(1), training=training)
    assert load_checkpoint(folder).training == {"frames": 7}
    assert [file.name for file in folder.parent.iterdir()] == ["agent"]
