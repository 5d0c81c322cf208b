"""The whole network of all shipped agents in plain PyTorch: prints whether it agrees with stoneworks's own."""

from __future__ import annotations

import json

import torch
from safetensors.torch import load_file
from torch.nn import functional

from stoneworks.envs.rules import Batch, load_game
from stoneworks.models import load_bot, shipped
from stoneworks.models.network_inputs import NetworkInputs

folder = shipped.find("vadus")
weights = load_file(folder / "model.safetensors")
description = json.loads((folder / "checkpoint.json").read_text())
board_plane = description["observation_planes"].index("board")  # "window" in Taigo


def layer(name, x):
    """Return the output of a linear layer, or of a convolution."""
    weight, bias = weights[f"{name}.weight"], weights.get(f"{name}.bias")
    if weight.ndim == 2:
        return functional.linear(x, weight, bias)
    return functional.conv2d(x, weight, bias, padding=weight.shape[-1] // 2)


def network(planes):
    """Return logits and values of positions."""
    on_board = planes[:, board_plane : board_plane + 1]

    def pooled(x):
        return torch.cat([x.sum((2, 3)) / on_board.sum((2, 3)), x.amax((2, 3))], 1)

    x = functional.relu(layer("stem", planes)) * on_board
    for block in (f"blocks.{number}" for number in range(description["network"]["blocks"])):
        inner = layer(f"{block}.first", x) + layer(f"{block}.pooled_bias", pooled(x))[:, :, None, None]
        x = functional.relu(x + layer(f"{block}.second", functional.relu(inner) * on_board)) * on_board
    hidden = functional.relu(layer("global_hidden", pooled(x)))
    logits = [layer("cell_policy", x).flatten(1)]
    if "global_policy.weight" in weights:
        logits.append(layer("global_policy", hidden))
    win, _, loss = layer("value", hidden).softmax(1).T
    return torch.cat(logits, 1), win - loss


batch = Batch(load_game("vadus(size=5)"), 2)
planes, _ = NetworkInputs(batch.game, features=True).of_records(batch.states.copy())
logits, value = network(torch.from_numpy(planes))
ours = load_bot("vadus", batch.game).policy_and_value(batch)
print(abs(logits.numpy() - ours.logits).max() < 1e-4, abs(value.numpy() - ours.value).max() < 1e-4)
