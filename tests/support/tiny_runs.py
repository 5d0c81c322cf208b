"""Training runs of seconds, how they are stopped, and what they leave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from damage import damage
from stoneworks.envs.rules import Game, load_game
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlay
from stoneworks.training.ppo.config import PPOConfig
from stoneworks.training.runs.config_files import parse_config
from stoneworks.training.runs.run import TrainingResult, TrainingStatus, train_run

ALPHAZERO: dict[str, Any] = {
    "algorithm": "alphazero",
    "game": "vadus(size=2)",
    "positions": 300,
    "positions_per_iteration": 60,
    "processes": 0,
    "device": "cpu",
    "precision": "float32",
    "checkpoint_seconds": 10**6,
    "network": {"channels": 4, "blocks": 1},
    "search": {"simulations": 4, "capped_simulations": 2, "full_search_share": 0.5, "leaf_values": "playouts"},
    "self_play": {"num_games": 8},
    "learner": {"batch_size": 16, "replay_ratio": 1.0, "min_window": 50, "warm_up_steps": 2},
    "matches": {"positions": 10**9, "opponents": [], "search_opponents": []},
}
PPO: dict[str, Any] = {
    "algorithm": "ppo",
    "game": "vadus(size=2)",
    "frames": 6 * 64,
    "num_games": 8,
    "steps_per_update": 8,
    "minibatch_size": 32,
    "checkpoint_seconds": 10**6,
    "network": {"channels": 4, "blocks": 1},
    "opponents": {"latest": 1, "past": 2, "random": 1, "greedy": 1, "past_selves": 3, "updates_between_past_selves": 1},
    "matches": {"frames": 10**6, "num_pairs": 1},
}


def _config(values: Mapping[str, Any], changes: Mapping[str, Any]) -> Any:
    parts = {
        name: {**values.get(name, {}), **value} if isinstance(value, dict) else value for name, value in changes.items()
    }
    return parse_config({**values, **parts}, "test")


def alphazero(**changes: Any) -> AlphaZeroConfig:
    """Return the configuration of a tiny run of AlphaZero; a dictionary changes a part of one."""
    return _config(ALPHAZERO, changes)


def ppo(**changes: Any) -> PPOConfig:
    """Return the configuration of a tiny run of PPO; a dictionary changes a part of one."""
    return _config(PPO, changes)


def stopped(
    config: Any, folder: Path, iterations: int = 10**6, *, messages: int = 10**6
) -> tuple[TrainingResult, list[TrainingStatus]]:
    """Start or resume a run, and stop it after some iterations, or after some messages, one of which comes with each match.

    Returns:
        The result, and all reports.
    """
    event, seen, left = threading.Event(), [], [messages, iterations]

    def report(status: TrainingStatus) -> None:
        seen.append(status)
        left[not status.message] -= 1
        if min(left) <= 0:
            event.set()

    return train_run(config, folder, resume=True, on_status=report, stop=event), seen


class Values:
    """A network without a policy, for boards of several sizes, that gives every position one value for its player to move.

    ``batch_sizes`` are the sizes of its batches so far.
    """

    def __init__(self, *games: Game, value: float = 0.0) -> None:
        self._num_actions = {game.observation_shape[1:]: game.num_actions for game in games}
        self._value = value
        self.batch_sizes: set[int] = set()

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Ignore the weights."""

    def __call__(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        self.batch_sizes.add(len(planes))
        logits = np.zeros((len(planes), self._num_actions[planes.shape[2:]]), np.float32)
        return logits, np.full(len(planes), self._value, np.float32)


def self_played(config: AlphaZeroConfig, num_games: int, seed: int = 0) -> list[PlayedGame]:
    """Return at least so many games of self-play without a network."""
    game = load_game(config.game)
    self_play = SelfPlay(game, Values(game), config, np.random.SeedSequence(seed))
    played: list[PlayedGame] = []
    while len(played) < num_games:
        played += self_play.step()
    return played


def saved(folder: Path) -> dict[str, Any]:
    """Return what the checkpoint says of the run."""
    text = (folder / "checkpoint" / "checkpoint.json").read_text(encoding="utf-8")
    training: dict[str, Any] = json.loads(text)["training"]
    return training


def positions_of(folder: Path) -> dict[str, bytes]:
    """Return the files of positions of a run by name."""
    return {file.name: file.read_bytes() for file in (folder / "positions").iterdir()}


def change_checkpoint(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the description of the checkpoint of a run."""
    damage(folder / "checkpoint" / "checkpoint.json", change)


def assert_equal_tensors(one: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> None:
    """Check that there are the same tensors by the same names."""
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name
