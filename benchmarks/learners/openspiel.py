"""OpenSpiel's DQN against random play, with alternating seats: the settings of ``examples/openspiel_dqn.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import torch
from open_spiel.python import rl_environment
from open_spiel.python.algorithms.random_agent import RandomAgent
from open_spiel.python.pytorch.dqn import DQN

from benchmarks.learners import Clock, Learner
from stoneworks.envs.rules import Game
from stoneworks.integrations.openspiel import register_games
from stoneworks.models.inference.onnx_export import save_policy

#: Exploration falls over about a tenth of a run of 600 seconds, in steps of the learner.
SETTINGS: dict[str, Any] = {
    "hidden_layers_sizes": [128, 128],
    "replay_buffer_capacity": 50_000,
    "batch_size": 128,
    "learning_rate": 5e-4,
    "optimizer_str": "adam",
    "learn_every": 8,
    "update_target_network_every": 200,
    "epsilon_decay_duration": 50_000,
    "epsilon_decay_schedule_str": "linear",
    "epsilon_start": 1.0,
    "epsilon_end": 0.05,
    "discount_factor": 1.0,
}
GAMES_PER_ITERATION = 16


class OpenSpielDQN(Learner):
    """DQN. A resumed run has its networks, but begins with an empty replay buffer and without exploration."""

    def __init__(self, game: Game, seed: int, folder: Path, clock: Clock) -> None:
        super().__init__(game, seed, folder, clock)
        register_games()
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002  DQN and RandomAgent draw from it
        self.configuration = SETTINGS
        self.env = rl_environment.Environment(pyspiel.load_game(f"stoneworks_{game}"))
        self.saved = folder / "networks.pt"
        settings = {**SETTINGS, "epsilon_start": SETTINGS["epsilon_end"]} if self.saved.exists() else SETTINGS
        size = game.observation_size
        self.agent = DQN(
            player_id=0, state_representation_size=size, num_actions=game.num_actions, seed=seed, **settings
        )
        self.opponents = [RandomAgent(player_id=player, num_actions=game.num_actions) for player in (0, 1)]
        self.seat = 0
        if self.saved.exists():
            for network, weights in zip(self._networks(), torch.load(self.saved, weights_only=True), strict=True):
                network.load_state_dict(weights)

    def _networks(self) -> tuple[torch.nn.Module, torch.nn.Module]:
        return self.agent._q_network, self.agent._target_q_network

    def iterate(self) -> None:
        """See :meth:`Learner.iterate`."""
        for _ in range(GAMES_PER_ITERATION):
            self.seat = self.agent.player_id = 1 - self.seat
            step = self.env.reset()
            while not step.last():
                player = step.observations["current_player"]
                chosen = (self.agent if player == self.seat else self.opponents[player]).step(step)
                self.steps += player == self.seat
                step = self.env.step([chosen.action])
            self.agent.step(step)

    def save(self) -> str:
        """See :meth:`Learner.save`."""
        torch.save([network.state_dict() for network in self._networks()], self.saved)
        file = self.folder / "policy.onnx"
        save_policy(file, self.agent._q_network.model, self.game, selection="argmax")
        return f"policy:{file}"
