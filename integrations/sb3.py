"""Stable-Baselines3 adapter: a ``VecEnv`` for sb3-contrib's MaskablePPO, and MaskablePPO with self-play."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt

from stoneworks.envs.advantages import self_play_advantages
from stoneworks.envs.batch_env import AutoresetMode, BatchEnv
from stoneworks.envs.self_play import SelfPlayVectorEnv
from stoneworks.integrations.missing_library import require

if TYPE_CHECKING:
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
    from stable_baselines3.common.type_aliases import GymEnv
    from stable_baselines3.common.vec_env import VecEnv
else:
    MaskablePPO = require("sb3_contrib", "sb3-contrib").MaskablePPO
    MaskableRolloutBuffer = require("sb3_contrib.common.maskable.buffers", "sb3-contrib").MaskableRolloutBuffer
    VecEnv = require("stable_baselines3.common.vec_env", "stable-baselines3").VecEnv


class SB3VecEnv(VecEnv):
    """``VecEnv`` that wraps a vector environment: ``MaskablePPO(policy, SB3VecEnv(VectorEnv(...)))``.

    MaskablePPO reads the masks with ``env_method("action_masks")``. The info of a finished game contains ``"episode"`` with the
    return ``"r"`` and the length ``"l"`` in steps, ``"terminal_observation"``, ``"TimeLimit.truncated"``, and the environment's
    ``final_info``: ``"seat"`` and ``"opponent"`` or, in self-play, ``"mover"``, the player whose return ``"r"`` is. In
    self-play, ``"TimeLimit.truncated"`` is always False: a truncated game is a draw (see
    :mod:`stoneworks.envs.advantages`).

    Attributes:
        games: the vector environment.
    """

    def __init__(self, games: BatchEnv) -> None:
        """Wrap ``games``. Raises ``ValueError`` if the autoreset mode is not ``SAME_STEP``, as Stable-Baselines3 requires."""
        if games.autoreset_mode is not AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode must be SAME_STEP, got {games.autoreset_mode.name}")
        self.games = games
        super().__init__(games.num_envs, games.single_observation_space, games.single_action_space)
        self._actions: npt.NDArray[np.int64] = np.zeros(games.num_envs, np.int64)
        self._lengths = np.zeros(games.num_envs, np.int64)
        self._bootstraps = not isinstance(games, SelfPlayVectorEnv)

    def reset(self) -> npt.NDArray[Any]:
        """Start all games; return the observations, ``[num_envs, ...]``."""
        observations, _ = self.games.reset(seed=self._seeds[0])
        self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Store the actions, ``int[num_envs]``, for ``step_wait``."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Step with the stored actions; return observations, rewards and ends, ``[num_envs, ...]``, and infos."""
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
                    "TimeLimit.truncated": self._bootstraps and bool(truncations[row]),
                } | {name: values[row] for name, values in final.items() if name in ("seat", "opponent", "mover")}
            self._lengths[dones] = 0
        return observations, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Close the games."""
        self.games.close()

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return the attribute of the vector environment, repeated for each of ``indices``."""
        value = None if attr_name == "render_mode" else getattr(self.games, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Set an attribute of the vector environment. Raises ``ValueError`` unless ``indices`` is None."""
        if indices is not None:
            raise ValueError(f"indices must be None, because games share their attributes; got {indices!r}")
        setattr(self.games, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the vector environment. ``indices`` is respected only for ``"action_masks"``."""
        result = getattr(self.games, method_name)(*method_args, **method_kwargs)
        if method_name == "action_masks":
            return [result[index] for index in self._get_indices(indices)]
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """Return False for each of ``indices``; games are never wrapped."""
        return [False for _ in self._get_indices(indices)]


class SelfPlayRolloutBuffer(MaskableRolloutBuffer):
    """Rollout buffer with advantages for self-play, where both players share one trajectory.

    Attributes:
        env: a ``VecEnv`` over a ``SelfPlayVectorEnv``; must be set before the first rollout.
    """

    env: VecEnv

    def reset(self) -> None:
        """Empty the buffer."""
        super().reset()
        self.players = np.zeros((self.buffer_size, self.n_envs), np.int8)

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Add the latest step of the environment and the player who moved."""
        self.players[self.pos] = self.env.get_attr("movers", 0)[0]
        super().add(*args, **kwargs)

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: npt.NDArray[Any]) -> None:
        """Compute ``advantages`` and ``returns``, ``[buffer_size, num_envs]``, for the player who moved."""
        ended = np.concatenate([self.episode_starts[1:], np.asarray(dones)[None]]).astype(np.bool_)
        advantages, returns = self_play_advantages(
            self.rewards,
            self.values,
            self.players,
            ended,
            next_values=last_values.clone().cpu().numpy().flatten(),
            next_players=self.env.get_attr("players", 0)[0],
            gamma=self.gamma,
            gae_lambda=self.gae_lambda,
        )
        self.advantages, self.returns = advantages.astype(np.float32), returns.astype(np.float32)


class SelfPlayMaskablePPO(MaskablePPO):
    """MaskablePPO with self-play in both seats: ``SelfPlayMaskablePPO("MlpPolicy", SB3VecEnv(SelfPlayVectorEnv(...)))``.

    Only the advantage computation differs from MaskablePPO (see
    :func:`stoneworks.envs.advantages.self_play_advantages`).
    """

    rollout_buffer: SelfPlayRolloutBuffer

    def _setup_model(self) -> None:
        if self.env is not None:  # None in a model loaded for inference
            self._check_env(self.env)
        self.rollout_buffer_class = SelfPlayRolloutBuffer
        super()._setup_model()
        if self.env is not None:
            self.rollout_buffer.env = self.env

    def set_env(self, env: GymEnv, force_reset: bool = True) -> None:
        """Replace the environment. Raises ``ValueError`` if it is not of the allowed type."""
        self._check_env(env)
        super().set_env(env, force_reset)
        assert self.env is not None
        self.rollout_buffer.env = self.env

    @staticmethod
    def _check_env(env: GymEnv) -> None:
        games = env.get_attr("unwrapped", 0)[0] if isinstance(env, VecEnv) else env
        if not isinstance(env, VecEnv) or not isinstance(games, SelfPlayVectorEnv):
            raise ValueError(f"env must be an SB3VecEnv over a SelfPlayVectorEnv, got {games!r}")
        if not isinstance(games.single_observation_space, gymnasium.spaces.Box):
            raise ValueError(
                f"the observation space must be a Box (with_mask=False), got {games.single_observation_space}"
            )
