"""Tianshou adapter: environments in its observation format, and masked networks for policy-gradient algorithms.

Tianshou's Q-learning algorithms mask illegal actions if an observation has the keys ``"obs"`` and ``"mask"``. Its
policy-gradient algorithms do not; use :class:`MaskedActor` and :class:`Critic` with them. Tianshou's ``PettingZooEnv`` wraps
``stoneworks.envs.aec.BoardGameEnv`` without changes.
"""

from __future__ import annotations

from typing import Any

from stoneworks.envs.observation_format import ObservationFormat
from stoneworks.envs.single_agent import SingleAgentEnv
from stoneworks.integrations.missing_library import require

require("torch", "tianshou")
import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402

_ILLEGAL_LOGIT = -1e9

#: The keys that Tianshou reads, and flat planes.
TIANSHOU_FORMAT = ObservationFormat("flat", with_mask=True, key="obs", mask_key="mask", mask_dtype="bool")


def make_env(game: str, **arguments: Any) -> SingleAgentEnv:
    """Create an environment with Tianshou's observation keys: ``{"obs": ..., "mask": bool[num_actions]}``.

    Args:
        game: a game name or a game string.
        **arguments: arguments of :class:`stoneworks.envs.single_agent.SingleAgentEnv`; observations are flat by default.
    """
    given = ObservationFormat.of(arguments.pop("observation", {}), TIANSHOU_FORMAT)
    return SingleAgentEnv(game, observation=given, **arguments)


class MaskedActor(nn.Module):
    """Actor for Tianshou's policy-gradient algorithms. Returns logits in which illegal actions are masked.

    Attributes:
        layers: network from flat observations to logits.
    """

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Tensor, Any]:
        """Return the masked logits, ``[batch, num_actions]``, and the state, unchanged."""
        mask = _tensor(obs["mask"], self)
        return self.layers(_tensor(obs["obs"], self)).masked_fill(~mask.bool(), _ILLEGAL_LOGIT), state


class Critic(nn.Module):
    """Critic for Tianshou's policy-gradient algorithms.

    Attributes:
        layers: network from flat observations to values ``[batch, 1]``.
    """

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, obs: Any, **arguments: Any) -> Tensor:
        """Return the values of a batch of observations, ``[batch, 1]``."""
        return self.layers(_tensor(obs["obs"], self))


def _tensor(values: Any, module: nn.Module) -> Tensor:
    return torch.as_tensor(values, device=next(module.parameters()).device)
