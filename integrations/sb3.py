"""The vector environment as Stable-Baselines3 and sb3-contrib's MaskablePPO want it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from stoneworks.envs.vector import VectorEnv
from stoneworks.extras import require_extra

with require_extra("train", "SB3 environments"):
    from stable_baselines3.common.vec_env import VecEnv


class SB3VecEnv(VecEnv):
    """A :class:`VectorEnv` as a ``VecEnv``: ``MaskablePPO(policy, SB3VecEnv(VectorEnv(...)))``.

    MaskablePPO finds the masks by ``env_method("action_masks")``. The info of a game that ended has ``"episode"`` with return
    ``"r"`` and length ``"l"`` in the learner's actions, ``"terminal_observation"``, ``"TimeLimit.truncated"``, ``"seat"`` and
    ``"opponent"``.

    Attributes:
        games: the vector environment.
    """

    def __init__(self, games: VectorEnv) -> None:
        self.games = games
        super().__init__(games.num_envs, games.single_observation_space, games.single_action_space)
        self._actions: npt.NDArray[np.int64] = np.zeros(games.num_envs, np.int64)
        self._lengths = np.zeros(games.num_envs, np.int64)
        self._keep_games = False

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """A copy of ``int64[num_envs]``, the number of actions so far in each game."""
        return self._lengths.copy()

    def keep_games(self, lengths: npt.NDArray[np.int64] | None = None) -> None:
        """Make the next ``reset`` continue the games as they are, as after ``VectorEnv.restore_games``.

        Args:
            lengths: ``int64[num_envs]``, the number of actions so far in each game; None keeps the present numbers.
        """
        if lengths is not None:
            if np.shape(lengths) != (self.num_envs,):
                raise ValueError(f"lengths must have shape ({self.num_envs},), got {np.shape(lengths)}")
            self._lengths[:] = lengths
        self._keep_games = True

    def reset(self) -> npt.NDArray[Any]:
        """Start all games (see ``keep_games``)."""
        if self._keep_games:
            self._keep_games = False
            observations = self.games.observations()
        else:
            observations, _ = self.games.reset(seed=self._seeds[0])
            self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Take note of the actions."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions."""
        observations, rewards, terminations, truncations, info = self.games.step(self._actions)
        dones = terminations | truncations
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            final = info["final_info"]
            for row in np.flatnonzero(dones).tolist():
                infos[row] = {
                    "episode": {"r": float(rewards[row]), "l": int(self._lengths[row])},
                    "terminal_observation": info["final_obs"][row],
                    "TimeLimit.truncated": bool(truncations[row]),
                    "seat": int(final["seat"][row]),
                    "opponent": final["opponent"][row],
                }
            self._lengths[dones] = 0
        return observations, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Close the games."""
        self.games.close()

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return the attribute of all games once for each of ``indices``."""
        value = None if attr_name == "render_mode" else getattr(self.games, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Set an attribute of all games. Raises ``ValueError`` where it is asked for some of them."""
        if indices is not None:
            raise ValueError(f"indices are {indices!r}; allowed is None: the games share their attributes")
        setattr(self.games, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the vector environment: ``"action_masks"``, or another that takes no account of ``indices``."""
        result = getattr(self.games, method_name)(*method_args, **method_kwargs)
        if method_name == "action_masks":
            return [result[index] for index in self._get_indices(indices)]
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """Return False for each of ``indices``: nothing is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Return None for each game: there are no pictures."""
        return [None] * self.num_envs
