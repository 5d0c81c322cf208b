"""Tianshou: environments whose observations it understands, and masked networks for its policy-gradient algorithms.

Tianshou's Q-learning algorithms mask illegal actions themselves where an observation has the keys ``"obs"`` and ``"mask"``; its
policy-gradient algorithms do not, and need :class:`MaskedActor` and :class:`Critic`. Its ``PettingZooEnv`` wraps
``stoneworks.envs.aec.BoardGameEnv`` as it is.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from stoneworks.envs.single_agent import SingleAgentEnv

_ILLEGAL_LOGIT = -1e9


def make_env(game: str, **arguments: Any) -> SingleAgentEnv:
    """Return an environment with the keys that Tianshou reads: ``{"obs": ..., "mask": bool[num_actions]}``.

    Args:
        game: the game string.
        **arguments: of :class:`stoneworks.envs.single_agent.SingleAgentEnv`; observations are flat by default.
    """
    keys: dict[str, Any] = {"observation_key": "obs", "mask_key": "mask", "mask_dtype": "bool"}
    return SingleAgentEnv(game, **{"obs_layout": "flat", "mask_in_observation": True, **keys, **arguments})


class MaskedActor(nn.Module):
    """An actor for Tianshou's policy-gradient algorithms: logits, in which illegal actions have probability 0.

    Attributes:
        layers: from flat observations to logits.
    """

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Tensor, Any]:
        """Return the masked logits and the state, unchanged."""
        mask = torch.as_tensor(obs["mask"])
        return self.layers(torch.as_tensor(obs["obs"])).masked_fill(~mask.bool(), _ILLEGAL_LOGIT), state


class Critic(nn.Module):
    """A critic for Tianshou's policy-gradient algorithms.

    Attributes:
        layers: from flat observations to ``[batch, 1]``.
    """

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, obs: Any, **arguments: Any) -> Tensor:
        """Return the values."""
        return self.layers(torch.as_tensor(obs["obs"]))
