"""RLlib adapter: registered environments, and an ``RLModule`` for PPO with action masking.

``config.environment("stoneworks_aec", env_config={"game": "vadus(size=4)"})`` after ``register_environments()``, with
``RLModuleSpec(module_class=MaskedModule)``. RLlib's own action-masking example expects the key
``"observations"``; set
``observation={"layout": "flat", "with_mask": True, "key": "observations"}`` in ``env_config`` to use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from stoneworks.envs.observation_format import MASK_KEYS, OBSERVATION_KEYS, ObservationFormat
from stoneworks.integrations.missing_library import require

require("torch", "torch")
from torch import Tensor, nn  # noqa: E402

PettingZooEnv = require("ray.rllib.env.wrappers.pettingzoo_env", "'ray[rllib]'").PettingZooEnv
TorchRLModule = require("ray.rllib.core.rl_module.torch", "'ray[rllib]'").TorchRLModule
ValueFunctionAPI = require("ray.rllib.core.rl_module.apis.value_function_api", "'ray[rllib]'").ValueFunctionAPI
Columns = require("ray.rllib.core.columns", "'ray[rllib]'").Columns

_ILLEGAL_LOGIT = -1e9


class AECEnv(PettingZooEnv):  # type: ignore[misc,valid-type]
    """RLlib's wrapper of PettingZoo environments, with a working ``render``."""

    def render(self) -> Any:
        """Return the rendered frame."""
        return self.env.render()


def make_aec_env(config: Mapping[str, Any]) -> AECEnv:
    """Create a multi-agent environment with the agents ``player_0`` and ``player_1``.

    Args:
        config: arguments of :class:`stoneworks.envs.aec.BoardGameEnv`, e.g. ``game``. Observations are flat by default.
    """
    from stoneworks.envs.aec import BoardGameEnv

    given = ObservationFormat.of(config.get("observation", {}), ObservationFormat("flat"))
    return AECEnv(BoardGameEnv(**{**config, "observation": given}))


def make_single_env(config: Mapping[str, Any]) -> Any:
    """Create a single-agent environment with a built-in opponent.

    Args:
        config: arguments of :class:`stoneworks.envs.single_agent.SingleAgentEnv`, e.g. ``game``. By default, observations
            are flat and contain the mask.
    """
    from stoneworks.envs.single_agent import SingleAgentEnv

    given = ObservationFormat.of(config.get("observation", {}), ObservationFormat("flat", with_mask=True))
    return SingleAgentEnv(**{**config, "observation": given})


def register_environments() -> None:
    """Register ``"stoneworks_aec"`` and ``"stoneworks_single"`` with Ray. Set the game in ``env_config``."""
    register_env = require("ray.tune.registry", "'ray[rllib]'").register_env
    register_env("stoneworks_aec", make_aec_env)
    register_env("stoneworks_single", make_single_env)


class MaskedModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc,valid-type]
    """Policy and value networks (two MLPs) for PPO. Illegal actions have probability 0.

    The observation space must be a ``Dict`` of planes and mask, with any of the keys that the environments support. The hidden
    layer sizes are ``model_config["hidden_sizes"]``, by default ``(128, 128)``.

    Attributes:
        actor: ``nn.Sequential`` from flat observations to logits; can be passed to ``save_policy``.
        critic: ``nn.Sequential`` from flat observations to ``[batch, 1]``.
    """

    def setup(self) -> None:
        """Build the networks."""
        names = list(self.observation_space.spaces)
        self._key = _one_key(names, OBSERVATION_KEYS)
        self._mask_key = _one_key(names, MASK_KEYS)
        num_inputs = int(np.prod(self.observation_space[self._key].shape))
        sizes = [num_inputs, *(self.model_config or {}).get("hidden_sizes", (128, 128))]
        self.actor = _perceptron(sizes, int(self.action_space.n))
        self.critic = _perceptron(sizes, 1)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Tensor]:
        observation = batch[Columns.OBS]
        logits = self.actor(self._planes(observation))
        illegal = observation[self._mask_key] == 0
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(illegal, _ILLEGAL_LOGIT)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """Return the values of a batch of observations, ``[batch]``."""
        return self.critic(self._planes(batch[Columns.OBS])).squeeze(-1)

    def _planes(self, observation: Mapping[str, Tensor]) -> Tensor:
        return observation[self._key].float().flatten(1)


def _one_key(names: list[str], allowed: tuple[str, ...]) -> str:
    for name in allowed:
        if name in names:
            return name
    raise ValueError(f"the observation space must have one of the keys {', '.join(allowed)}, got {', '.join(names)}")


def _perceptron(sizes: list[int], num_outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for num_inputs, size in pairwise(sizes):
        layers += [nn.Linear(num_inputs, size), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], num_outputs))
