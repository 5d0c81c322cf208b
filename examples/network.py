"""A network of two convolutions, registered by the name ``plain``."""

import torch
from torch import nn

from stoneworks import load_game
from stoneworks.models.architecture import Architecture, NetworkConfig, register_network
from stoneworks.models.network import BoardNetwork, make_network


class PlainConfig(NetworkConfig):
    """Hyperparameters of the network below."""

    channels: int = 16


class PlainNetwork(BoardNetwork):
    """Two convolutions, a policy for each cell, and a value from the mean over the board."""

    def __init__(self, architecture):
        super().__init__(architecture)
        channels = architecture.config.channels
        self.body = nn.Sequential(
            nn.Conv2d(architecture.observation_planes, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
        )
        self.cells = nn.Conv2d(channels, architecture.action_planes, 1)
        self.global_actions = nn.Linear(channels, architecture.global_actions)
        self.outcomes = nn.Linear(channels, 3)

    def logits_and_value(self, observations):
        """Return ``[batch, actions]`` logits, and ``[batch, 3]`` logits of win, draw and loss."""
        features = self.body(observations)
        mean = features.mean((2, 3))
        return torch.cat([self.cells(features).flatten(1), self.global_actions(mean)], 1), self.outcomes(mean)

    def forward(self, observations):
        """Return ``[batch, actions]`` logits, and ``[batch]`` values."""
        logits, outcomes = self.logits_and_value(observations)
        win_draw_loss = torch.softmax(outcomes, 1)
        return logits, win_draw_loss[:, 0] - win_draw_loss[:, 2]


register_network("plain", PlainNetwork, PlainConfig)
game = load_game("laido(size=4)")
network = make_network(Architecture.of_game(game, kind="plain", channels=8))
logits, value = network(torch.zeros(2, *game.observation_shape))
print(tuple(logits.shape), tuple(value.shape))
