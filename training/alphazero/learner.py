"""The learner: the trained network, its optimizer, and the moving average of its weights."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import NamedTuple

from stoneworks.extras import require_extra
from stoneworks.models.checkpoint import CheckpointError
from stoneworks.models.network import AUXILIARY_PREFIX, BoardNetwork, ResidualNetwork
from stoneworks.training.alphazero.config import LearnerConfig
from stoneworks.training.alphazero.ownership import OWNERSHIP, OwnershipHead, ownership_loss
from stoneworks.training.alphazero.positions import TrainingBatch
from stoneworks.training.alphazero.short_term_values import SHORT_TERM_VALUES, ShortTermValuesHead, short_term_loss
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.schedule import value_at

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional

#: Gradient clipping threshold.
MAX_GRADIENT_NORM = 1.0
#: Auxiliary heads, with their names, by the key of the weight of their loss.
_HEADS = {
    "ownership_weight": (OWNERSHIP, OwnershipHead),
    "short_term_value_weight": (SHORT_TERM_VALUES, ShortTermValuesHead),
}


class Losses(NamedTuple):
    """Losses of one gradient step, or means of several.

    Attributes:
        policy: cross entropy between the search policy and the network's policy, in nats.
        policy_divergence: ``policy`` minus the entropy of the search policy (KL divergence); 0 if the two are equal.
        value: cross entropy between the result target (win, draw, loss) and the network's prediction, in nats.
        ownership: cross entropy between the owners of the cells at the end and the network's prediction, in nats; 0 without
            that head.
        short_term_values: cross entropy between the short-term values and the network's prediction, in nats; 0 without that head.
        gradient_norm: gradient norm before clipping.
    """

    policy: float
    policy_divergence: float
    value: float
    ownership: float
    short_term_values: float
    gradient_norm: float


class Learner:
    """Trains a network on search policies and game results.

    Attributes:
        network: the network being trained.
        acting_network: exponential moving average of the weights, used for self-play.
        num_steps: number of gradient steps so far.
    """

    def __init__(self, network: BoardNetwork, config: LearnerConfig, device: torch.device, dtype: torch.dtype) -> None:
        """Initialize the learner; ``network`` is moved to ``device`` and trained in place, with autocast to ``dtype``.

        It gets an auxiliary head for the ownership if ``config.ownership_weight`` is above 0, and one for the short-term values
        if ``config.short_term_value_weight`` is.

        Raises:
            ConfigError: the network does not support auxiliary heads.
        """
        for key, (name, head) in _HEADS.items():
            weight = getattr(config, key)
            if weight == 0:
                continue
            if not isinstance(network, ResidualNetwork):
                kind = network.architecture.kind
                raise ConfigError(f"learner.{key} must be 0 for {kind}, which has no auxiliary heads, got {weight}")
            network.auxiliary[name] = head(network.stem.out_channels)
        self.network = network.to(device).train()
        self.acting_network = copy.deepcopy(network).eval().requires_grad_(False)
        self.num_steps = 0
        self._config = config
        self._device = device
        self._dtype = dtype
        decayed = [weights for weights in network.parameters() if weights.ndim > 1]
        others = [weights for weights in network.parameters() if weights.ndim <= 1]
        self._optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}],
            lr=value_at(config.learning_rate, 0),
        )

    def learning_rate(self, progress: float) -> float:
        """Return the learning rate at ``progress`` in [0, 1]: linear warm-up, then the schedule."""
        rate = value_at(self._config.learning_rate, progress)
        return rate * min(1.0, (self.num_steps + 1) / max(1, self._config.warm_up_steps))

    def step(self, batch: TrainingBatch, progress: float) -> Losses:
        """Take one gradient step."""
        for group in self._optimizer.param_groups:
            group["lr"] = self.learning_rate(progress)
        with torch.autocast(self._device.type, self._dtype, enabled=self._dtype != torch.float32):
            logits, outcomes, auxiliary = self.network.logits_value_and_auxiliary(batch.observations.to(self._device))
        targets = (tensor.to(self._device) for tensor in (batch.legal, batch.actions, batch.probabilities))
        policy_loss, entropy = policy_losses(logits.float(), *targets)
        value_loss = functional.cross_entropy(outcomes.float(), batch.outcomes.to(self._device))
        ownership = torch.zeros((), device=self._device)
        if OWNERSHIP in auxiliary:
            assert batch.ownership is not None
            on_board = batch.observations[:, self.network.architecture.board_plane].flatten(1).to(self._device)
            owners = batch.ownership.to(self._device)
            ownership = ownership_loss(auxiliary[OWNERSHIP].float(), owners, on_board)
        short_term = torch.zeros((), device=self._device)
        if SHORT_TERM_VALUES in auxiliary:
            short_term = short_term_loss(auxiliary[SHORT_TERM_VALUES].float(), batch.short_term_values.to(self._device))
        loss = policy_loss + value_loss + self._config.ownership_weight * ownership
        loss = loss + self._config.short_term_value_weight * short_term
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRADIENT_NORM)
        self._optimizer.step()
        self.num_steps += 1
        # A smaller decay for the first steps, so that the average does not retain the initial weights for too long.
        decay = min(value_at(self._config.ema_decay, progress), self.num_steps / (self.num_steps + 10))
        with torch.no_grad():
            for average, weights in zip(
                self.acting_network.state_dict().values(), self.network.state_dict().values(), strict=True
            ):
                if average.is_floating_point():
                    average.lerp_(weights, 1 - decay)
                else:  # e.g. the counts of batch normalization
                    average.copy_(weights)
        divergence = policy_loss - entropy
        losses = (policy_loss, divergence, value_loss, ownership, short_term, norm)
        return Losses(*(loss.item() for loss in losses))

    def state(self) -> dict[str, Tensor]:
        """Return the training state as tensors by name, without the weights of the acting network."""
        tensors = {f"network.{name}": weights for name, weights in self.network.state_dict().items()}
        for number, moments in self._optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": moment for name, moment in moments.items()}
        return tensors | {"num_steps": torch.tensor(self.num_steps)}

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Restore the training state returned by ``state``.

        Raises:
            CheckpointError: the weight of an auxiliary head's loss was 0 and is not, or the other way round.
            ValueError: a number is not finite, or an estimate of the optimizer has another shape than its parameter.
            KeyError, RuntimeError: a tensor is missing or has another shape; only a parameter without a gradient has no estimates.
        """
        for name, tensor in tensors.items():
            if not torch.isfinite(tensor).all():
                raise ValueError(f"{name} has values that are not finite")
        for key, (head, _) in _HEADS.items():
            had_head = any(name.startswith(f"network.{AUXILIARY_PREFIX}{head}.") for name in tensors)
            if had_head != (head in self.network.auxiliary):
                allowed = "above 0" if had_head else "0"
                raise CheckpointError(
                    f"learner.{key} must be {allowed}, as when the run began, got {getattr(self._config, key)}"
                )
        self.network.load_state_dict({name: tensors[f"network.{name}"] for name in self.network.state_dict()})
        self.num_steps = int(tensors["num_steps"])
        if self.num_steps:
            state = self._optimizer.state_dict()
            parameters = (parameter for group in self._optimizer.param_groups for parameter in group["params"])
            for number, parameter in enumerate(parameters):
                if not any(name.startswith(f"optimizer.{number}.") for name in tensors):
                    continue  # AdamW has no state for a parameter without a gradient
                moments = {name: tensors[f"optimizer.{number}.{name}"] for name in ("step", "exp_avg", "exp_avg_sq")}
                if {moments["exp_avg"].shape, moments["exp_avg_sq"].shape} != {parameter.shape}:
                    raise ValueError(f"optimizer.{number} does not have the shape of its parameter")
                state["state"][number] = moments
            self._optimizer.load_state_dict(state)


def policy_losses(logits: Tensor, legal: Tensor, actions: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean cross entropy between the stored and the network's policies, and the mean entropy of the stored ones.

    Both are in nats. A stored policy contains only its most probable actions. The remaining probability is treated as one
    additional event, whose predicted probability is the total over all other legal actions.

    Args:
        logits: ``float32[n, num_actions]``.
        legal: ``bool[n, num_actions]``, the action mask.
        actions: ``int64[n, entries]``, the stored actions; entries with probability 0 are ignored.
        probabilities: ``float32[n, entries]``, with a sum of at most 1 per row.
    """
    log_policy = functional.log_softmax(logits.masked_fill(~legal, -torch.inf), dim=1)
    kept = probabilities > 0
    log_kept = log_policy.gather(1, actions).masked_fill(~kept, 0)
    rest = (1 - probabilities.sum(1)).clamp(min=0)
    others = legal & (actions.new_zeros(legal.shape).scatter_add(1, actions, kept.long()) == 0)
    there_are_none = ~others.any(1)
    log_others = log_policy.masked_fill(~others, -torch.inf).masked_fill(there_are_none[:, None], 0)
    log_rest = log_others.logsumexp(1).masked_fill(there_are_none, 0)
    cross_entropy = -(probabilities * log_kept).sum(1) - rest * log_rest
    entropy = -(torch.xlogy(probabilities, probabilities).sum(1) + torch.xlogy(rest, rest))
    return cross_entropy.mean(), entropy.mean()
