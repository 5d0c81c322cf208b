"""Proximal policy optimization (Schulman et al., 2017) with masks of legal actions, on torch tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stoneworks.extras import require_extra
from stoneworks.models.network import BoardNetwork
from stoneworks.training.ppo.config import PPOConfig

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor
    from torch.nn import functional
    from torch.nn.utils import clip_grad_norm_

#: Logit of illegal actions: finite, so that probability * log(probability) is 0 instead of NaN at probability 0.
_ILLEGAL_LOGIT = -1e9
_VALUE_COEFFICIENT = 0.5
_MAX_GRADIENT_NORM = 0.5


class Frames(NamedTuple):
    """Frames of a rollout, as tensors ``[steps, games, ...]`` or, flattened, ``[frames, ...]``.

    Attributes:
        observations: ``float32[..., planes, height, width]``.
        masks: ``int8[..., num_actions]``.
        actions: ``int64[...]``.
        log_probabilities: ``float32[...]``, of the actions when they were chosen.
        values: ``float32[...]``, the network's values then.
        advantages: ``float32[...]``.
    """

    observations: Tensor
    masks: Tensor
    actions: Tensor
    log_probabilities: Tensor
    values: Tensor
    advantages: Tensor


def log_policy(logits: Tensor, masks: Tensor) -> Tensor:
    """Return log probabilities ``float32[n, num_actions]``, given logits and masks ``[n, num_actions]`` of legal actions."""
    return torch.log_softmax(logits.masked_fill(masks == 0, _ILLEGAL_LOGIT), 1)


def sample(log_probabilities: Tensor) -> Tensor:
    """Return random actions ``int64[n]``, given log probabilities ``[n, num_actions]``."""
    return torch.multinomial(log_probabilities.exp(), 1).squeeze(1)


def of_actions(log_probabilities: Tensor, actions: Tensor) -> Tensor:
    """Return the log probabilities ``[n]`` of actions ``[n]``."""
    return log_probabilities.gather(1, actions.long().unsqueeze(1)).squeeze(1)


def advantages_of(
    rewards: Tensor, values: Tensor, dones: Tensor, next_values: Tensor, discount: float, gae_lambda: float
) -> Tensor:
    """Return generalized advantage estimates (Schulman et al., 2016), ``float32[steps, games]``.

    Args:
        rewards: ``float32[steps, games]``.
        values: ``float32[steps, games]``, of the observations before the actions.
        dones: ``bool[steps, games]``, whether the action ended its game.
        next_values: ``float32[games]``, of the observations after the last step.
        discount: discount factor.
        gae_lambda: lambda.
    """
    advantages = torch.empty_like(rewards)
    advantage = torch.zeros_like(next_values)
    for step in reversed(range(len(rewards))):
        goes_on = discount * ~dones[step]
        advantage = rewards[step] + goes_on * (next_values + gae_lambda * advantage) - values[step]
        advantages[step] = advantage
        next_values = values[step]
    return advantages


def update(
    network: BoardNetwork, optimizer: torch.optim.Optimizer, frames: Frames, config: PPOConfig
) -> dict[str, float]:
    """Train for the epochs of an update.

    Args:
        network: the network.
        optimizer: its optimizer.
        frames: flattened frames on any device.
        config: the configuration.

    Returns:
        Metrics by name: means over all minibatches, of the divergence over those of the last epoch.
    """
    device = next(network.parameters()).device
    network.train()
    losses: list[list[Tensor]] = []
    for _ in range(config.epochs):
        losses.append([])
        for minibatch in _minibatches(frames, config.minibatch_size):
            loss, metrics = _loss(network, Frames(*(part.to(device) for part in minibatch)), config)
            optimizer.zero_grad()
            loss.backward()
            clip_grad_norm_(network.parameters(), _MAX_GRADIENT_NORM)
            optimizer.step()
            losses[-1].append(metrics)
    table = torch.stack([torch.stack(of_epoch) for of_epoch in losses])
    means = dict(zip(_METRICS, table.mean((0, 1)).tolist(), strict=True))
    returns = frames.advantages + frames.values
    explained = 1 - frames.advantages.var() / returns.var()
    return means | {
        "train/approx_kl": table[-1, :, _METRICS.index("train/approx_kl")].mean().item(),
        "train/loss": table[-1, -1, _METRICS.index("train/loss")].item(),
        "train/explained_variance": explained.item(),
    }


#: The metrics that ``_loss`` returns, in this order.
_METRICS = tuple(
    f"train/{name}"
    for name in ("policy_gradient_loss", "value_loss", "entropy_loss", "loss", "clip_fraction", "approx_kl")
)


def _loss(network: BoardNetwork, frames: Frames, config: PPOConfig) -> tuple[Tensor, Tensor]:
    """Return the loss of a minibatch, and the metrics as one tensor."""
    logits, values = network(frames.observations)
    log_probabilities = log_policy(logits, frames.masks)
    log_ratios = of_actions(log_probabilities, frames.actions) - frames.log_probabilities
    ratios = log_ratios.exp()
    advantages = (frames.advantages - frames.advantages.mean()) / (frames.advantages.std() + 1e-8)
    clipped = ratios.clamp(1 - config.clip_range, 1 + config.clip_range)
    policy_loss = -torch.min(advantages * ratios, advantages * clipped).mean()
    value_loss = functional.mse_loss(values, frames.advantages + frames.values)
    entropy_loss = (log_probabilities.exp() * log_probabilities).sum(1).mean()
    loss = policy_loss + config.entropy_coefficient * entropy_loss + _VALUE_COEFFICIENT * value_loss
    with torch.no_grad():
        clip_fraction = ((ratios - 1).abs() > config.clip_range).float().mean()
        divergence = (ratios - 1 - log_ratios).mean()
        return loss, torch.stack([policy_loss, value_loss, entropy_loss, loss, clip_fraction, divergence]).detach()


def _minibatches(frames: Frames, size: int) -> Iterator[Frames]:
    """Yield all frames in random order, ``size`` at a time."""
    order = torch.randperm(len(frames.actions), device=frames.actions.device)
    for chosen in order.split(size):
        yield Frames(*(part[chosen] for part in frames))
