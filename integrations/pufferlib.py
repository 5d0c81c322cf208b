"""PufferLib adapter: a native vector environment with built-in opponents.

PufferLib has no action masks. The mask is therefore appended to each observation, and the policy must apply it:
``planes, mask = split(observations, env.single_action_space.n)``, then ``logits.masked_fill(~mask, -1e9)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from stoneworks.envs.observation_format import ObservationFormat
from stoneworks.envs.vector import VectorEnv
from stoneworks.integrations.missing_library import require

PufferEnv = require("pufferlib", "pufferlib").PufferEnv


class PufferVectorEnv(PufferEnv):  # type: ignore[misc,valid-type]
    """A :class:`stoneworks.envs.vector.VectorEnv` that writes to PufferLib's buffers; each game is one PufferLib agent.

    An observation is ``float32[planes * height * width + num_actions]``: the planes in CHW order, then the mask.

    Attributes:
        games: the vector environment.
    """

    def __init__(self, num_envs: int = 64, buf: Any = None, seed: int | None = None, **arguments: Any) -> None:
        """Create the environment.

        Args:
            num_envs: number of games.
            buf: PufferLib's shared buffers; None allocates new ones.
            seed: default seed of the first ``reset``.
            **arguments: arguments of ``VectorEnv``, e.g. ``game`` and ``opponent``.

        Raises:
            ValueError: an argument is invalid or cannot be set for this environment.
        """
        for name in ("observation", "autoreset_mode"):
            if name in arguments:
                raise ValueError(
                    f"{name} must not be given: PufferLib's observations have one form, got {arguments[name]!r}"
                )
        self.games = VectorEnv(num_envs, observation=ObservationFormat(layout="flat"), **arguments)
        num_inputs = int(np.prod(self.games.game.observation_shape))
        num_actions = self.games.game.num_actions
        self.single_observation_space = spaces.Box(0, 1, (num_inputs + num_actions,), np.float32)
        self.single_action_space = spaces.Discrete(num_actions)
        self.num_agents = num_envs
        self._seed = seed
        super().__init__(buf)

    def reset(self, seed: int | None = None) -> tuple[npt.NDArray[np.float32], list[dict[str, Any]]]:
        """Start all games.

        Args:
            seed: seed of the games; None continues with the random numbers of the games before.

        Returns:
            Observations and action masks side by side, ``float32[num_envs, inputs + num_actions]``, and an empty list.
        """
        planes, info = self.games.reset(seed=self._seed if seed is None else seed)
        self._seed = None
        self._fill(planes, info["action_mask"])
        self.rewards[:], self.terminals[:], self.truncations[:] = 0, False, False
        return self.observations, []

    def step(self, actions: npt.ArrayLike) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """Apply one action of the learner in every game. Finished games are restarted.

        Args:
            actions: ``int[num_envs]``.

        Returns:
            Observations as from ``reset``, rewards ``float32[num_envs]``, terminations and truncations ``bool[num_envs]``, and
            the infos: a dict with the mean ``score`` in [0, 1] of the games that ended, if any did.
        """
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
    """Split observations (arrays or tensors) into planes ``[batch, inputs]`` and masks ``bool[batch, num_actions]``."""
    return observations[:, :-num_actions], observations[:, -num_actions:] > 0.5
