"""Networks: torch modules that map observation planes to a policy and a value.

All networks are fully convolutional with global pooling, so the same weights apply to every board size of a game.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

import numpy as np
import numpy.typing as npt

from stoneworks.extras import require_extra
from stoneworks.models.architecture import Architecture as Architecture, ResidualConfig, network_entry

with require_extra("train", "networks"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional

#: Name prefix of the weights of auxiliary heads, which are used in training only.
AUXILIARY_PREFIX = "auxiliary."


class BoardNetwork(nn.Module):
    """Base class of networks that map observation planes to a policy and a value.

    A subclass takes an :class:`Architecture` as its only constructor argument and defines ``logits_and_value`` and ``forward``.
    The shapes of its weights must not depend on the board size.

    Auxiliary heads are modules in ``auxiliary``, by name. A subclass that supports them computes their outputs in
    ``logits_value_and_auxiliary``. They are used in training only: checkpoints store ``playing_state_dict``, and a network
    loaded for playing has no auxiliary heads.

    Attributes:
        architecture: the architecture of the network.
        auxiliary: auxiliary heads by name.
    """

    #: Number of outputs of the value head: 1 (a value) or 3 (logits of win, draw and loss).
    num_value_outputs = 3

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        self.auxiliary = nn.ModuleDict()

    @property
    def features(self) -> bool:
        """Whether the features of the game follow the observation in the input (see :mod:`stoneworks.envs.rules.parts`)."""
        return self.architecture.feature_planes > 0

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Evaluate a batch of positions.

        Args:
            observations: ``float32[batch, input planes, height, width]``, from the perspective of the player to move.

        Returns:
            Logits ``float32[batch, num_actions]`` of all actions, legal or not, and the expected result for the
            player to move, ``float32[batch]`` in [-1, 1].
        """
        raise NotImplementedError

    def infer(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the outputs of :meth:`forward` as arrays, for ``planes[n, input planes, height, width]``."""
        with torch.inference_mode():
            device = next(self.parameters()).device
            logits, values = self(torch.from_numpy(planes).to(device))
            return logits.float().cpu().numpy(), values.float().cpu().numpy()

    def logits_and_value(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the outputs of the policy and value heads for the ``observations`` of :meth:`forward`.

        They are logits ``float32[batch, num_actions]`` and ``float32[batch, num_value_outputs]``.
        """
        raise NotImplementedError

    def logits_value_and_auxiliary(self, observations: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Return the outputs of :meth:`logits_and_value`, and those of the auxiliary heads by name, ``[batch, ...]``."""
        return *self.logits_and_value(observations), {}

    def playing_state_dict(self) -> dict[str, Tensor]:
        """Return the weights without those of the auxiliary heads."""
        return {name: weight for name, weight in self.state_dict().items() if not name.startswith(AUXILIARY_PREFIX)}

    def load_playing_state_dict(self, weights: Mapping[str, Tensor]) -> None:
        """Load the weights returned by ``playing_state_dict``; the weights of auxiliary heads are unchanged."""
        self.load_state_dict({**self.state_dict(), **weights})


class ResidualNetwork(BoardNetwork):
    """A residual network with global pooling.

    Features of off-board cells are set to 0 after each layer, like the padding around the grid. The policy and value
    therefore do not depend on the size of the grid around the board.

    An auxiliary head is called with the features ``[batch, channels, height, width]``, the on-board mask
    ``[batch, 1, height, width]``, and the pooled features ``[batch, 2 * channels]``.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        config = cast(ResidualConfig, architecture.config)
        channels = config.channels
        self.stem = nn.Conv2d(architecture.input_planes, channels, 3, padding=1)
        self.blocks = nn.ModuleList(ResidualBlock(channels) for _ in range(config.blocks))
        self.cell_policy = nn.Conv2d(channels, architecture.action_planes, 1)
        self.global_hidden = nn.Linear(2 * channels, 2 * channels)
        num_global_actions = architecture.global_actions
        self.global_policy = nn.Linear(2 * channels, num_global_actions) if num_global_actions else None
        self.value = nn.Linear(2 * channels, self.num_value_outputs)
        self._initialize()
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def _initialize(self) -> None:
        """Initialize the blocks to the identity, the policy to nearly uniform, and the values to near 0."""
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

    def logits_and_value(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """See :meth:`BoardNetwork.logits_and_value`."""
        logits, value, *_ = self._evaluate(observations)
        return logits, value

    def logits_value_and_auxiliary(self, observations: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """See :meth:`BoardNetwork.logits_value_and_auxiliary`."""
        logits, value, features, on_board, pooled = self._evaluate(observations)
        return logits, value, {name: head(features, on_board, pooled) for name, head in self.auxiliary.items()}

    def _evaluate(self, observations: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        planes = observations.contiguous(memory_format=torch.channels_last)
        board_plane = self.architecture.board_plane
        on_board = planes[:, board_plane : board_plane + 1].contiguous()
        inverse_num_cells = on_board.sum((2, 3)).reciprocal()
        features = functional.relu(self.stem(planes)) * on_board
        for block in self.blocks:
            features = block(features, on_board, inverse_num_cells)
        logits = self.cell_policy(features).flatten(1)
        pooled = mean_and_max(features, inverse_num_cells)
        hidden = functional.relu(self.global_hidden(pooled))
        if self.global_policy is not None:
            logits = torch.cat([logits, self.global_policy(hidden)], 1)
        return logits, self.value(hidden), features, on_board, pooled


class ScalarValueNetwork(ResidualNetwork):
    """A residual network with a scalar value head in [-1, 1]."""

    num_value_outputs = 1

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """See :meth:`BoardNetwork.forward`."""
        logits, value = self.logits_and_value(observations)
        return logits, torch.tanh(value).squeeze(1)


class WinDrawLossNetwork(ResidualNetwork):
    """A residual network with a value head for win, draw and loss probabilities."""

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """See :meth:`BoardNetwork.forward`; the value is P(win) - P(loss)."""
        logits, outcomes = self.logits_and_value(observations)
        win_draw_loss = torch.softmax(outcomes, 1)
        return logits, win_draw_loss[:, 0] - win_draw_loss[:, 2]


if hasattr(os, "register_at_fork"):
    # In a forked process, torch's thread pool no longer exists; with more than one thread, torch would deadlock.
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


#: Held while torch's global random generator is another one, so that threads do not restore each other's.
_SEEDING = threading.RLock()


@contextmanager
def torch_defaults() -> Iterator[None]:
    """Create tensors as float32 on the CPU by default, whatever the program's defaults are; these are restored afterwards."""
    dtype = torch.get_default_dtype()
    # Such a context slows down every operation, so it is left out where it changes nothing.
    device = contextlib.nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu")
    torch.set_default_dtype(torch.float32)
    try:
        with device:
            yield
    finally:
        torch.set_default_dtype(dtype)


def make_network(architecture: Architecture, seed: int | None = None) -> BoardNetwork:
    """Create a network of float32 on the CPU.

    Args:
        architecture: the architecture.
        seed: seed of the initial weights; torch's global random generator is left as it is. None draws from that.

    Raises:
        RegistrationError: if the registered network cannot be imported or is not a subclass of :class:`BoardNetwork`.
    """
    network_class = network_entry(architecture.kind).load_class("network", BoardNetwork)
    with torch_defaults():
        if seed is None:
            return network_class(architecture)
        with _SEEDING, torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            return network_class(architecture)


class ResidualBlock(nn.Module):
    """Residual block of two convolutions with a global pooling bias between them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.pooled_bias = nn.Linear(2 * channels, channels, bias=False)

    def forward(self, features: Tensor, on_board: Tensor, inverse_num_cells: Tensor) -> Tensor:
        """Return the output features; input and output are >= 0, and 0 on off-board cells.

        Both are ``float32[batch, channels, height, width]``; ``on_board`` is ``float32[batch, 1, height, width]``, and
        ``inverse_num_cells`` is ``float32[batch, 1]``.
        """
        pooled = mean_and_max(features, inverse_num_cells)
        inner = self.first(features) + self.pooled_bias(pooled)[:, :, None, None]
        # A float32 mask would make the product float32 under autocast, only for the convolution to convert it back.
        inner = self.second(functional.relu(inner) * on_board.to(inner.dtype))
        return functional.relu(features + inner) * on_board


def mean_and_max(features: Tensor, inverse_num_cells: Tensor) -> Tensor:
    """Return the mean and the maximum of each channel over the board, ``[batch, 2 * channels]``.

    ``features[batch, channels, height, width]`` are >= 0; ``inverse_num_cells`` is ``[batch, 1]``.
    """
    # On CPUs, adaptive_max_pool2d is ten times as fast as amax.
    return torch.cat(
        [features.sum((2, 3)) * inverse_num_cells, functional.adaptive_max_pool2d(features, 1).flatten(1)], 1
    )
