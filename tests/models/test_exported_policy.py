"""Policies of other libraries: saved, loaded, played and rated without those libraries."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load, save
from torch import nn

from game_play import changed, read_test_data
from stoneworks.envs.rules import Batch, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.models import UnknownBotError, load_bot
from stoneworks.models.exported_policy import ExportedPolicyError, load_policy, save_policy

GAME = load_game("vadus(size=2)")


def mlp(num_inputs: int = 54, num_actions: int = 10) -> nn.Sequential:
    torch.manual_seed(1)
    normalized = nn.Sequential(nn.LayerNorm(16), nn.LayerNorm(16, 1e-3, False), nn.Dropout(0.5))
    hidden = nn.Sequential(nn.Linear(num_inputs, 16), nn.Tanh(), normalized)
    return nn.Sequential(hidden, nn.Linear(16, 16, bias=False), nn.ReLU(), nn.Identity(), nn.Linear(16, num_actions))


def convolutional(alpha: float = 1.0, padding: int | str = 1, **settings: Any) -> nn.Sequential:
    torch.manual_seed(1)
    convolution = nn.Conv2d(6, 4, 3, padding=padding, **settings)
    return nn.Sequential(convolution, nn.ELU(alpha), nn.Flatten(), nn.Linear(36, 10))


@pytest.mark.parametrize("make", [mlp, convolutional])
def test_a_loaded_policy_computes_what_the_saved_one_did(make: type, tmp_path: Path) -> None:
    layers = make().eval()
    save_policy(tmp_path / "policies" / "p.safetensors", layers, GAME, selection="sample")
    loaded = load_policy(tmp_path / "policies" / "p.safetensors")
    observations = torch.rand(5, *GAME.observation_shape)
    expected = layers(observations if make is convolutional else observations.flatten(1))
    torch.testing.assert_close(loaded(observations)[0], expected)
    assert loaded.game == GAME
    assert [path.name for path in (tmp_path / "policies").iterdir()] == ["p.safetensors"]


@pytest.mark.parametrize("selection", ["sample", "argmax"])
@pytest.mark.parametrize("name", small_games())
def test_the_bot_follows_the_policy(name: str, selection: str, tmp_path: Path) -> None:
    game = load_game(name)
    torch.manual_seed(3)
    layer = nn.Linear(int(np.prod(game.observation_shape)), game.num_actions)
    save_policy(tmp_path / "p", [layer], game, selection=selection)
    bot, state = load_bot(f"policy:{tmp_path / 'p'}", game, seed=1), game.new_initial_state()
    assert bot.name == f"policy:{tmp_path / 'p'}"
    actions = bot.step_batch(Batch(game, 200), np.arange(200)).tolist()
    assert set(actions) <= set(state.legal_actions())
    assert (len(set(actions)) == 1) == (selection == "argmax")
    while not state.is_terminal():
        with torch.no_grad():
            logits = layer(torch.from_numpy(state.observation_tensor()).flatten()).double().numpy()
        logits[state.legal_actions_mask() == 0] = -np.inf
        policy, action = bot.step_with_policy(state)
        expected = np.exp(logits - logits.max())[[action for action, _ in policy]]
        np.testing.assert_allclose([share for _, share in policy], expected / expected.sum(), rtol=1e-5)
        assert action == logits.argmax() or selection == "sample"
        state.apply_action(action)


def test_incompatible_networks_are_not_saved(tmp_path: Path) -> None:
    for layers, selection, message in (
        (mlp(), "best", "selection must be 'sample' or 'argmax', got 'best'"),
        ([], "sample", "layers must have at least 1 items"),
        ([nn.LSTM(54, 10)], "sample", "got LSTM"),
        (mlp(num_inputs=55), "sample", "must take observations"),
        (mlp(num_actions=9), "sample", r"must be \[batch, 10\] for vadus\(size=2\), got \[2, 9\]"),
        (convolutional(alpha=0.5), "sample", "as stored, they give other scores"),
        (convolutional(padding_mode="circular"), "sample", "as stored, they give other scores"),
        (convolutional(padding="same", dilation=2), "sample", "as stored, they give other scores"),
        (convolutional(groups=2), "sample", "as stored, they give other scores"),
        (
            nn.Sequential(nn.Conv2d(6, 1, 1, padding=1), nn.Flatten(), nn.Linear(25, 10)),
            "sample",
            "padding of a layer must",
        ),
    ):
        with pytest.raises(ExportedPolicyError, match=message):
            save_policy(tmp_path / "p", layers, GAME, selection=selection)
        assert not list(tmp_path.iterdir())


def test_files_that_are_not_the_games_policy_are_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "p"
    with pytest.raises(UnknownBotError, match="cannot play"):
        load_bot(f"policy:{path}", GAME)
    save_policy(path, mlp(), GAME, selection="sample")
    with pytest.raises(UnknownBotError, match=r"must be vadus\(size=2\).*got vadus\(size=3\)"):
        load_bot(f"policy:{path}", load_game("vadus(size=3)"))
    content = path.read_bytes()
    later = content.replace(b'\\"environment_version\\": 0', b'\\"environment_version\\": 7')
    for other, message in (
        (b"not a policy", "written by save_policy"),
        (content[:-10], "written by save_policy"),
        (later, r"environment_version .* must be 0, got 7"),
    ):
        path.write_bytes(other)
        with pytest.raises(ExportedPolicyError, match=message):
            load_policy(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ExportedPolicyError, match="is not a regular file"):
        load_policy(path)


def rewritten(file: Path, path: str, value: Any, **tensors: torch.Tensor) -> None:
    """Write the policy again with another value in its description and other tensors."""
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    description = changed(json.loads(metadata["stoneworks_policy"]), path, value)
    file.write_bytes(save({**load(content), **tensors}, {"stoneworks_policy": json.dumps(description)}))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        *read_test_data("damaged_descriptions.yaml")["policy"],
        ("layers", [{"kind": "relu"}] * 2000, ""),
        ("layers/0/padding", [30_000, 30_000], "padding"),
        ("layers/0/stride", None, "conv2d"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_description_that_does_not_fit_is_refused(tmp_path: Path, path: str, value: Any, message: str) -> None:
    file = tmp_path / "p"
    save_policy(file, convolutional() if message in ("padding", "conv2d") else mlp(), GAME, selection="sample")
    rewritten(file, path, value)
    with pytest.raises(ExportedPolicyError, match=message or str(file)):
        load_policy(file)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (torch.full((8, 54), torch.nan), "finite numbers of float32"),
        (torch.full((8, 54), 3e38), "the output must be finite"),
        (torch.zeros((8, 54), dtype=torch.int64), "finite numbers of float32"),
        (torch.zeros((8, 53)), "written by save_policy"),
    ],
)
def test_weights_with_non_finite_outputs_are_rejected(tmp_path: Path, weight: torch.Tensor, message: str) -> None:
    save_policy(tmp_path / "p", [nn.Linear(54, 8), nn.Linear(8, 10)], GAME, selection="sample")
    rewritten(tmp_path / "p", "selection", "sample", **{"0.weight": weight})
    with pytest.raises(ExportedPolicyError, match=message):
        load_policy(tmp_path / "p")
