"""Self-play at the speed of a ``Batch``: a vector environment in which every row is the player to move."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.autoreset import AutoresetMode
from stoneworks.envs.batch_env import BatchEnv, EndedGames
from stoneworks.envs.rules import Game


class SelfPlayVectorEnv(BatchEnv):
    """Many games in which the learner plays both seats.

    Each row of an observation is what the player to move sees, and each action is that player's, who may move several times
    in a row: ``players`` and ``info["player"]`` (``int8[num_envs]``) say who it is. The reward of a step is that of the player
    who moved in it; ``info["rewards"]`` (``float64[num_envs, 2]``) has both players' rewards, and ``info["mover"]``
    (``int8[num_envs]``) the player who moved. Compute advantages with :func:`stoneworks.envs.advantages.self_play_advantages`:
    the usual estimator would add the opponent's values and rewards to the learner's own.

    Autoreset modes are those of :class:`~stoneworks.envs.vector.VectorEnv`. The last observation of a game, in
    ``info["final_obs"]`` or in the observation itself, is what the player sees who moved last.

    Attributes:
        game: the game.
        autoreset_mode: when a game that has ended is restarted, a ``gymnasium.vector.AutoresetMode``.
    """

    def __init__(
        self,
        num_envs: int = 1,
        game: str | Game = "vadus",
        *,
        illegal_action: str = "lose",
        obs_layout: str = "CHW",
        obs_dtype: npt.DTypeLike = "float32",
        mask_in_observation: bool = False,
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        mask_dtype: npt.DTypeLike = "int8",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        num_threads: int = 1,
        frameskip: int = 1,
        **options: object,
    ) -> None:
        """Make the environment; ``reset`` starts the games. See :class:`~stoneworks.envs.vector.VectorEnv` for arguments.

        With ``illegal_action="lose"`` the player who plays an illegal action loses, -1 against +1.

        Raises:
            ValueError: an argument is not allowed; the message lists what is.
        """
        super().__init__(
            num_envs,
            game,
            illegal_action=illegal_action,
            obs_layout=obs_layout,
            obs_dtype=obs_dtype,
            mask_in_observation=mask_in_observation,
            observation_key=observation_key,
            mask_key=mask_key,
            mask_dtype=mask_dtype,
            autoreset_mode=autoreset_mode,
            num_threads=num_threads,
            frameskip=frameskip,
            options=options,
        )

    @property
    def players(self) -> npt.NDArray[np.int8]:
        """A copy of ``int8[num_envs]``, the player to move; in a game that has ended, the player who moved last."""
        return np.where(self._ended, self._viewers, self._batch.current_players)

    @property
    def movers(self) -> npt.NDArray[np.int8]:
        """A copy of ``int8[num_envs]``, the player who moved in the last step."""
        return self._viewers.copy()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start the games. Nothing in them is random, so ``seed`` only seeds ``np_random``.

        Args:
            seed: of ``np_random``.
            options: ``{"reset_mask": bool[num_envs]}`` starts the selected games alone; other keys are ignored.

        Raises:
            ValueError: the mask is not an array of that dtype and shape, or selects nothing.
        """
        rows = self._rows_to_reset(options)
        super().reset(seed=seed)
        self._batch.reset(rows)
        self._ended[rows] = False
        self._has_games = True
        return self.observations(), self._info()

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Any, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Play one action of the player to move in every game.

        Args:
            actions: ``int[num_envs]``.

        Returns:
            Observations, the movers' rewards ``float64[num_envs]``, terminations and truncations ``bool[num_envs]``, the info.

        Raises:
            IllegalActionError: an action is none of the game's, or it is illegal and ``illegal_action`` is ``"raise"``: no
                game has moved.
            ResetNeeded: ``reset`` was never called, or a game has ended and the autoreset mode is ``DISABLED``.
        """
        movers = self.players
        to_restart, illegal = self._play(actions)
        ended = EndedGames(self.num_envs)
        both_rewards = self._batch.rewards.astype(np.float64)
        both_rewards[illegal, movers[illegal]] = -1
        both_rewards[illegal, 1 - movers[illegal]] = 1
        ended.terminations[:] = self._batch.terminated
        ended.terminations[illegal] = True
        ended.truncations[:] = self._batch.truncated
        if to_restart.size:
            self._start(to_restart)
            both_rewards[to_restart] = 0
            ended.terminations[to_restart] = False
            ended.truncations[to_restart] = False
        ended.rewards[:] = both_rewards[self._rows, movers]
        self._viewers[:] = movers
        self._close(np.flatnonzero(ended.terminations | ended.truncations), ended)
        info = self._info() | {"mover": movers, "rewards": both_rewards}
        info |= {f"_{name}": np.ones(self.num_envs, np.bool_) for name in ("mover", "rewards")}
        info |= ended.info(np.zeros_like(self._batch.action_masks, self._format.mask_dtype))
        return self.observations(), ended.rewards, ended.terminations, ended.truncations, info

    def _info(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)
        return super()._info() | {"player": self.players, "_player": everywhere}

    def _start(self, rows: npt.NDArray[np.int64]) -> None:
        self._batch.reset(rows)
        self._ended[rows] = False

    def _close(self, rows: npt.NDArray[np.int64], ended: EndedGames) -> None:
        """Report the games ``rows``, which are over, and restart them now or note that they wait."""
        if not rows.size:
            return
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._ended[rows] = True
            return
        zeros = np.zeros(self.game.num_actions, self._format.mask_dtype)
        for row in rows.tolist():
            ended.add(row, self._format.observation(self._last_planes(row), zeros), mover=int(self._viewers[row]))
        self._start(rows)
