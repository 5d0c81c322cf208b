"""PufferLib: many games as one native environment, with opponents inside.

PufferLib has no action masks. The mask is therefore the last part of each observation, and the policy applies it:
``planes, mask = split(observations, env.single_action_space.n)``, then ``logits.masked_fill(~mask, -1e9)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from stoneworks.envs.vector import VectorEnv
from stoneworks.integrations.missing_library import require

PufferEnv = require("pufferlib", "pufferlib").PufferEnv


class PufferVectorEnv(PufferEnv):  # type: ignore[misc,valid-type]
    """A :class:`stoneworks.envs.vector.VectorEnv` in PufferLib's buffers; every game is an agent of PufferLib's.

    An observation is ``float32[planes * height * width + num_actions]``: the planes in the order CHW, then the mask.

    Attributes:
        games: the vector environment.
    """

    def __init__(self, num_envs: int = 64, buf: Any = None, seed: int | None = None, **arguments: Any) -> None:
        """Make the environment.

        Args:
            num_envs: number of games.
            buf: PufferLib's shared buffers; None for its own.
            seed: of the first ``reset``, unless that is given one.
            **arguments: of ``VectorEnv``, among them ``game`` and ``opponent``.

        Raises:
            ValueError: an argument is not allowed, or is one that this environment sets itself.
        """
        for name in ("obs_layout", "obs_dtype", "mask_in_observation", "autoreset_mode"):
            if name in arguments:
                raise ValueError(
                    f"{name} must not be given: PufferLib's observations have one form, got {arguments[name]!r}"
                )
        self.games = VectorEnv(num_envs, obs_layout="flat", **arguments)
        num_inputs = int(np.prod(self.games.game.observation_shape))
        num_actions = self.games.game.num_actions
        self.single_observation_space = spaces.Box(0, 1, (num_inputs + num_actions,), np.float32)
        self.single_action_space = spaces.Discrete(num_actions)
        self.num_agents = num_envs
        self._seed = seed
        super().__init__(buf)

    def reset(self, seed: int | None = None) -> tuple[npt.NDArray[np.float32], list[dict[str, Any]]]:
        """Start all games."""
        planes, info = self.games.reset(seed=self._seed if seed is None else seed)
        self._seed = None
        self._fill(planes, info["action_mask"])
        return self.observations, []

    def step(self, actions: npt.ArrayLike) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """Play one action in every game; a game that ends is restarted, and its reward is reported in the infos."""
        planes, rewards, terminations, truncations, info = self.games.step(np.asarray(actions).reshape(self.num_agents))
        self._fill(planes, info["action_mask"])
        self.rewards[:], self.terminals[:], self.truncations[:] = rewards, terminations, truncations
        ended = terminations | truncations
        infos = [{"score": float((1 + rewards[ended]).mean() / 2)}] if ended.any() else []
        return self.observations, self.rewards, self.terminals, self.truncations, infos

    def close(self) -> None:
        """Close the games."""
        self.games.close()

    def _fill(self, planes: npt.NDArray[Any], masks: npt.NDArray[Any]) -> None:
        self.observations[:, : planes.shape[1]] = planes
        self.observations[:, planes.shape[1] :] = masks


def split(observations: Any, num_actions: int) -> tuple[Any, Any]:
    """Return the planes ``[batch, inputs]`` and the mask ``bool[batch, num_actions]`` of observations, arrays or tensors."""
    return observations[:, :-num_actions], observations[:, -num_actions:] > 0.5
