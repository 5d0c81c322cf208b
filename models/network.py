"""Networks: torch modules that turn observation planes into a policy and a value. They need torch alone.

All are fully convolutional with global pooling, so one set of weights plays every board size of its game.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from stoneworks.envs.rules import Game


@dataclass(frozen=True)
class Architecture:
    """What makes two networks take the same weights; everything in it is JSON.

    Attributes:
        observation_planes: number of input planes.
        board_plane: index of the plane that marks the cells on the board.
        action_planes: number of actions of each cell.
        global_actions: number of actions that belong to no cell.
        channels: width of the convolutions.
        blocks: number of residual blocks.
        kind: which network it is, one of ``NETWORK_KINDS``.
    """

    observation_planes: int
    board_plane: int
    action_planes: int
    global_actions: int
    channels: int
    blocks: int
    kind: str = "board_network"

    @classmethod
    def of_game(cls, game: Game, *, channels: int, blocks: int, kind: str = "board_network") -> Architecture:
        """Return the architecture that fits ``game``."""
        return cls(
            observation_planes=len(game.observation_planes),
            board_plane=game.observation_planes.index(game.board_plane),
            action_planes=game.num_action_planes,
            global_actions=len(game.global_actions),
            channels=channels,
            blocks=blocks,
            kind=kind,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return asdict(self)


class BoardNetwork(nn.Module):
    """A small residual network with a policy and a value in [-1, 1], for PPO.

    Everything that cells off the board hold is set to 0 after each layer, as the padding around the grid is. So a board gives
    the same policy and value in whatever grid it lies, and its edge looks the same everywhere.
    """

    num_value_outputs = 1

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        channels = architecture.channels
        self.stem = nn.Conv2d(architecture.observation_planes, channels, 3, padding=1)
        self.blocks = nn.ModuleList(ResidualBlock(channels) for _ in range(architecture.blocks))
        self.cell_policy = nn.Conv2d(channels, architecture.action_planes, 1)
        self.global_hidden = nn.Linear(2 * channels, 2 * channels)
        num_global_actions = architecture.global_actions
        self.global_policy = nn.Linear(2 * channels, num_global_actions) if num_global_actions else None
        self.value = nn.Linear(2 * channels, self.num_value_outputs)
        self._initialize()
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def _initialize(self) -> None:
        """Start with blocks that change nothing, a nearly uniform policy and values near 0."""
        gains: dict[nn.Module | None, float] = {self.cell_policy: 0.01, self.global_policy: 0.01, self.value: 0.01}
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.orthogonal_(module.weight, gains.get(module, 2**0.5))
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        for module in self.modules():
            if isinstance(module, ResidualBlock):
                nn.init.zeros_(module.second.weight)
                nn.init.zeros_(module.pooled_bias.weight)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Evaluate positions.

        Args:
            observations: ``float32[batch, planes, height, width]``, as the player to act sees them.

        Returns:
            Logits ``float32[batch, num_distinct_actions]`` in the order of the action index, legal or not, and the expected
            result for the player to act, ``float32[batch]``.
        """
        logits, value = self.logits_and_value(observations)
        return logits, torch.tanh(value).squeeze(1)

    def logits_and_value(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the policy's logits and what the last layer says of the value, ``[batch, num_value_outputs]``."""
        planes = observations.contiguous(memory_format=torch.channels_last)
        board_plane = self.architecture.board_plane
        on_board = planes[:, board_plane : board_plane + 1].contiguous()
        inverse_num_cells = on_board.sum((2, 3)).reciprocal()
        features = functional.relu(self.stem(planes)) * on_board
        for block in self.blocks:
            features = block(features, on_board, inverse_num_cells)
        logits = self.cell_policy(features).flatten(1)
        hidden = functional.relu(self.global_hidden(mean_and_greatest(features, inverse_num_cells)))
        if self.global_policy is not None:
            logits = torch.cat([logits, self.global_policy(hidden)], 1)
        return logits, self.value(hidden)


class WinDrawLossNetwork(BoardNetwork):
    """The same with a head for the probabilities of a win, a draw and a loss, for AlphaZero."""

    num_value_outputs = 3

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Evaluate positions, as :class:`BoardNetwork` does; see also ``logits_and_value``, whose value are logits of the three."""
        logits, outcomes = self.logits_and_value(observations)
        win_draw_loss = torch.softmax(outcomes, 1)
        return logits, win_draw_loss[:, 0] - win_draw_loss[:, 2]


#: The networks by their kind.
NETWORK_KINDS: dict[str, type[BoardNetwork]] = {
    "board_network": BoardNetwork,
    "win_draw_loss_network": WinDrawLossNetwork,
}


def make_network(architecture: Architecture) -> BoardNetwork:
    """Return a new network. Its weights are drawn by torch's random numbers."""
    return NETWORK_KINDS[architecture.kind](architecture)


class ResidualBlock(nn.Module):
    """Two convolutions; between them, what the whole board looks like is added to every cell."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.pooled_bias = nn.Linear(2 * channels, channels, bias=False)

    def forward(self, features: Tensor, on_board: Tensor, inverse_num_cells: Tensor) -> Tensor:
        """Return the next features, which are >= 0, and 0 off the board, as ``features`` are."""
        pooled = mean_and_greatest(features, inverse_num_cells)
        inner = self.first(features) + self.pooled_bias(pooled)[:, :, None, None]
        inner = self.second(functional.relu(inner) * on_board)
        return functional.relu(features + inner) * on_board


def mean_and_greatest(features: Tensor, inverse_num_cells: Tensor) -> Tensor:
    """Return each channel's mean over the board and its greatest value, ``[batch, 2 * channels]``; ``features`` are >= 0."""
    # On CPUs adaptive_max_pool2d is ten times as fast as amax.
    return torch.cat(
        [features.sum((2, 3)) * inverse_num_cells, functional.adaptive_max_pool2d(features, 1).flatten(1)], 1
    )
