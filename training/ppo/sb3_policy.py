"""``BoardPolicy``: a network as a policy of sb3-contrib's MaskablePPO."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from gymnasium import spaces

from stoneworks.extras import require_extra
from stoneworks.models.network import Architecture, make_network
from stoneworks.training.ppo.update import log_policy, of_actions, sample

with require_extra("train", "training runs"):
    import torch
    from sb3_contrib.common.maskable.distributions import MaskableDistribution
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.type_aliases import Schedule
    from torch import Tensor

Masks = npt.NDArray[Any] | Tensor | None


class BoardPolicy(MaskableActorCriticPolicy):
    """Actor-critic policy with a fully convolutional network, whose policy head keeps the board layout of actions.

    Use it as ``MaskablePPO(BoardPolicy, env, policy_kwargs={"architecture": Architecture.of_game(game, ...)})``. It computes
    masked probabilities once. The distributions of sb3-contrib normalize several times and validate their arguments, which
    would cost more time than a small network.

    Attributes:
        network: the network.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        architecture: Architecture,
        **arguments: Any,
    ) -> None:
        self._architecture = architecture
        arguments.setdefault("optimizer_kwargs", {"eps": 1e-5, "fused": True})
        super().__init__(observation_space, action_space, lr_schedule, **arguments)

    def _build(self, lr_schedule: Schedule) -> None:
        self.network = make_network(self._architecture)
        self.optimizer = self.optimizer_class(
            self.network.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]
            **self.optimizer_kwargs,
        )

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return actions, values ``[batch, 1]`` and the actions' log probabilities."""
        log_probabilities, values = self._evaluate(obs, action_masks)
        actions = log_probabilities.argmax(1) if deterministic else sample(log_probabilities)
        return actions, values.unsqueeze(1), of_actions(log_probabilities, actions)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return values ``[batch, 1]``, the actions' log probabilities, and the entropies of the policies."""
        log_probabilities, values = self._evaluate(obs, action_masks)
        entropies = -(log_probabilities.exp() * log_probabilities).sum(1)
        return values.unsqueeze(1), of_actions(log_probabilities, actions), entropies

    def get_distribution(self, obs: Tensor, action_masks: Masks = None) -> MaskableDistribution:  # type: ignore[override]
        """Return the policy as an sb3-contrib distribution, as used by ``predict``."""
        distribution = self.action_dist.proba_distribution(action_logits=self.network(obs)[0])
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def predict_values(self, obs: Tensor) -> Tensor:  # type: ignore[override]
        """Return values ``[batch, 1]``."""
        return self.network(obs)[1].unsqueeze(1)

    def _evaluate(self, observations: Tensor, masks: Masks) -> tuple[Tensor, Tensor]:
        logits, values = self.network(observations)
        if masks is None:
            return torch.log_softmax(logits, 1), values
        return log_policy(logits, torch.as_tensor(masks, device=logits.device).reshape(logits.shape)), values
