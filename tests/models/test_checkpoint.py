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

from stoneworks.envs.rules import load_game
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint, load_training_state, recover, save_checkpoint
from stoneworks.models.description import PlaySettings
from stoneworks.models.network import Architecture, BoardNetwork, make_network

GAME = load_game("laido", size=3)


def some_network(seed: int = 0, game: str = "laido(size=3)", channels: int = 4) -> BoardNetwork:
    torch.manual_seed(seed)
    return make_network(Architecture.of_game(load_game(game), channels=channels, blocks=1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole checkpoint."""
    save_checkpoint(
        tmp_path / "agent",
        game=GAME,
        network=some_network(),
        training={"frames": 7},
        play=PlaySettings(discount=0.5, guide="playouts", guide_weight=0.25, guide_playouts=3),
        training_state={"x": torch.arange(3)},
    )
    return tmp_path / "agent"


def change(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    file = folder / "checkpoint.json"
    description = json.loads(file.read_text())
    edit(description)
    file.write_text(json.dumps(description))


def replace_weights(folder: Path, weights: dict[str, torch.Tensor]) -> None:
    """Exchange the weights and make the hash fit them."""
    content = save(weights)
    (folder / "model.safetensors").write_bytes(content)
    change(folder, lambda d: d["files"]["model.safetensors"].update(sha256=hashlib.sha256(content).hexdigest()))


def test_a_saved_checkpoint_is_restored(folder: Path) -> None:
    loaded = load_checkpoint(folder, GAME)
    assert loaded.game == GAME
    assert loaded.training == {"frames": 7}
    assert loaded.play == PlaySettings(discount=0.5, guide="playouts", guide_weight=0.25, guide_playouts=3)
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


def test_another_size_of_the_board_is_allowed_and_other_rules_are_not(folder: Path) -> None:
    assert load_checkpoint(folder, load_game("laido", size=9)).game == GAME
    with pytest.raises(CheckpointError, match="pie_rule must be True, as in training, got False"):
        load_checkpoint(folder, load_game("laido", size=3, pie_rule=False))


def test_another_game_is_refused(folder: Path) -> None:
    with pytest.raises(CheckpointError, match="of laido cannot play vadus"):
        load_checkpoint(folder, load_game("vadus", size=3))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d.update(format="other"), "format must be"),
        (lambda d: d.update(format_version=1), r"format_version must be .*got 1"),
        (lambda d: d.pop("game"), "the key game is missing"),
        (lambda d: d.update(author="me"), "unknown key author; valid keys: format, "),
        (lambda d: d.update(game="go(size=9)"), "its game is 'go.size=9.': unknown game 'go'"),
        (lambda d: d.update(game="laido(size=1)"), "its game is 'laido.size=1.'"),
        (lambda d: d.update(environment_version=99), "environment_version is 99; laido.* now has 0"),
        (lambda d: d.update(environment_version=True), r"environment_version must be .*got True"),
        (lambda d: d["observation_planes"].reverse(), "observation_planes is .*; laido.* now has"),
        (lambda d: d.update(num_actions=3), "num_actions is 3; laido.* now has 27"),
        (lambda d: d.update(action_planes=2), "action_planes is 2; laido.* now has 1"),
        (lambda d: d.update(global_actions=["pass"]), "global_actions is .*; laido.* now has .*swap"),
        (
            lambda d: d["network"].update(kind="transformer"),
            "kind must be one of .*scalar_value_network.*'transformer'",
        ),
        (
            lambda d: d["network"].update(channels=0),
            "channels must be .* got 0",
        ),
        (lambda d: d["network"].update(blocks="1"), "blocks must be .* got '1'"),
        (lambda d: d["network"].update(heads=8), "heads"),
        (lambda d: d["network"].pop("blocks"), "blocks"),
        (lambda d: d["network"].update(channels=8), r"weights .* must be float32\[8.*, got float32\[4"),
        (lambda d: d["network"].update(blocks=2), r"weights blocks.1.* must be .*, got none"),
        (lambda d: d["files"].clear(), "has no model.safetensors"),
        (
            lambda d: d["files"]["model.safetensors"].update(sha256="0" * 64),
            "is damaged: its SHA-256 must be 0000",
        ),
        (lambda d: d.update(training=[]), r"training must be"),
        (lambda d: d["play"].update(discount=0), r"play\.discount must be > 0, got 0"),
        (
            lambda d: d["play"].update(guide="oracle"),
            r"play\.guide must be 'evaluation', 'playouts' or 'none', got 'oracle'",
        ),
        (lambda d: d["play"].update(guide_weight=1.5), r"play\.guide_weight must be <= 1, got 1.5"),
        (lambda d: d["play"].update(guide_playouts=0), r"play\.guide_playouts must be >= 1, got 0"),
        (
            lambda d: d["play"].update(deterministic_policy=1),
            r"play\.deterministic_policy must be a valid boolean, got 1",
        ),
    ],
)
def test_a_description_that_does_not_fit_is_refused(
    folder: Path, edit: Callable[[dict[str, Any]], object], message: str
) -> None:
    change(folder, edit)
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


def test_a_file_that_is_not_a_safetensors_file_is_rejected(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"PK\x03\x04")
    change(folder, lambda d: d["files"]["model.safetensors"].update(sha256=hashlib.sha256(b"PK\x03\x04").hexdigest()))
    with pytest.raises(CheckpointError, match="not a safetensors file"):
        load_checkpoint(folder)


def test_weights_of_another_kind_are_refused(folder: Path) -> None:
    weights = {name: torch.empty(tensor.shape).copy_(tensor) for name, tensor in some_network().state_dict().items()}
    replace_weights(folder, {**weights, "value.bias": torch.full((1,), torch.nan)})
    with pytest.raises(CheckpointError, match=r"weights value\.bias have values that are not finite"):
        load_checkpoint(folder)
    replace_weights(folder, {**weights, "value.bias": weights["value.bias"].double()})
    with pytest.raises(CheckpointError, match=r"weights value\.bias must be float32\[1\] .*, got float64\[1\]"):
        load_checkpoint(folder)
    replace_weights(folder, {**weights, "extra": torch.zeros(1)})
    with pytest.raises(CheckpointError, match=r"weights extra must be none by its architecture, got float32\[1\]"):
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
    save_checkpoint(tmp_path / "agent", game=GAME, network=some_network(), training={})
    with pytest.raises(CheckpointError, match=r"has no training\.safetensors"):
        load_training_state(tmp_path / "agent")


def test_saving_replaces_a_checkpoint_whole(folder: Path) -> None:
    save_checkpoint(folder, game=GAME, network=some_network(1), training={"frames": 8})
    assert sorted(file.name for file in folder.iterdir()) == ["checkpoint.json", "model.safetensors"]
    assert [file.name for file in folder.parent.iterdir()] == ["agent"]
    loaded = load_checkpoint(folder)
    assert loaded.training == {"frames": 8}
    assert torch.equal(loaded.network.stem.weight, some_network(1).stem.weight)


@pytest.mark.parametrize("training", [{"x": object()}, {"x": float("nan")}])
def test_a_failed_save_leaves_everything_as_it_was(folder: Path, training: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError, match="JSON"):
        save_checkpoint(folder, game=GAME, network=some_network(1), training=training)
    assert load_checkpoint(folder).training == {"frames": 7}
    assert [file.name for file in folder.parent.iterdir()] == ["agent"]


def test_a_save_that_fails_on_disk_leaves_everything_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if target == folder and self.name != ".agent.old":
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="no"):
        save_checkpoint(folder, game=GAME, network=some_network(1), training={})
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
            save_checkpoint(tmp_path / name, game=GAME, network=some_network(), training={})
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


def test_a_network_of_another_game_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"network for laido.* must be"):
        save_checkpoint(tmp_path / "agent", game=GAME, network=some_network(game="vadus(size=3)"), training={})
    assert not list(tmp_path.iterdir())


def test_finite_weights_with_non_finite_outputs_are_rejected(tmp_path: Path) -> None:
    network = make_network(Architecture.of_game(GAME, channels=4, blocks=1))
    with torch.no_grad():
        network.stem.weight.fill_(3e38)
    save_checkpoint(tmp_path / "checkpoint", game=GAME, network=network, training={})
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
