"""Networks with random weights, and checkpoints of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from stoneworks.envs.rules import Game, load_game
from stoneworks.models.checkpoint import save_checkpoint
from stoneworks.models.network import Architecture, BoardNetwork, make_network


def random_network(game: str | Game, spread: float = 0.0, seed: int = 0, **hyperparameters: Any) -> BoardNetwork:
    """Return a new network whose weights are moved by normal noise of that standard deviation."""
    torch.manual_seed(seed)
    loaded = load_game(game) if isinstance(game, str) else game
    network = make_network(Architecture.of_game(loaded, **{"channels": 8, "blocks": 1, **hyperparameters}))
    with torch.no_grad():
        for weights in network.parameters():
            weights.add_(spread * torch.randn_like(weights))
    return network


def save_network(folder: Path, game: str | Game, network: BoardNetwork | None = None, **described: Any) -> Path:
    """Save a network, a small random one by default, as a checkpoint of the game, and return its folder."""
    loaded = load_game(game) if isinstance(game, str) else game
    network = network or random_network(loaded, channels=2, blocks=0, kind="win_draw_loss_network")
    save_checkpoint(folder, game=loaded, network=network, **{"training": {}, **described})
    return folder
