"""Vector environment for self-play: each row is the perspective of the player to move."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.batch_env import BatchEnv, EndedGames


class SelfPlayVectorEnv(BatchEnv):
    """Vectorized games in which the learner plays both seats.

    Each row of the observations is from the perspective of the player to move, and the action is applied for that player.
    The same player may move several times in a row; ``players`` and ``info["player"]`` (``int8[num_envs]``) contain the player
    to move. The reward of a step is the reward of the player who moved. ``info["rewards"]`` (``float64[num_envs, 2]``)
    contains both players' rewards, and ``info["mover"]`` (``int8[num_envs]``) the player who moved. Compute advantages with
    :func:`stoneworks.envs.advantages.self_play_advantages`: standard GAE would mix the values and rewards of both players.

    The arguments are those of :class:`~stoneworks.envs.vector.VectorEnv` without ``opponent`` and ``seat``. With
    ``illegal_action="lose"``, a player who plays an illegal action loses with reward -1. Autoreset modes work as there. The final
    observation of a game, in ``info["final_obs"]`` or in the observation itself, is from the perspective of the player who
    moved last.

    Attributes:
        game: the game.
        autoreset_mode: the ``gymnasium.vector.AutoresetMode``; determines when a finished game is restarted.
    """

    @property
    def players(self) -> npt.NDArray[np.int8]:
        """The player to move in each game, a copy, ``int8[num_envs]``; in finished games the player who moved last."""
        return np.where(self._ended, self._viewers, self._batch.current_players)

    @property
    def movers(self) -> npt.NDArray[np.int8]:
        """The player who moved in the last step of each game, a copy, ``int8[num_envs]``."""
        return self._viewers.copy()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start the games. They are deterministic, so ``seed`` only seeds ``np_random``.

        Args:
            seed: seed of ``np_random``.
            options: ``{"reset_mask": bool[num_envs]}`` resets only the selected games; other keys are ignored.

        Raises:
            ValueError: ``reset_mask`` does not have that dtype and shape, or selects no game.
        """
        rows = self._rows_to_reset(options)
        super().reset(seed=seed)
        self._start(rows)
        self._has_games = True
        return self.observations(), self._info()

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Any, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Apply one action of the player to move in every game.

        Args:
            actions: ``int[num_envs]``.

        Returns:
            Observations, rewards ``float64[num_envs]`` of the players who moved, terminations and truncations
            ``bool[num_envs]``, and the info.

        Raises:
            IllegalActionError: an action is out of range, or it is illegal and ``illegal_action`` is ``"raise"``. No game
                is changed.
            ResetNeeded: ``reset`` was never called, or a game has ended and the autoreset mode is ``DISABLED``.
        """
        movers, moves = self.players, ~self._ended  # a game that ended is restarted instead
        illegal = self._play(actions)
        ended = EndedGames(self.num_envs)
        both_rewards = self._batch.rewards.astype(np.float64)
        both_rewards[illegal, movers[illegal]] = -1
        both_rewards[illegal, 1 - movers[illegal]] = 1
        ended.terminations[:] = self._batch.terminated
        ended.terminations[illegal] = True
        ended.truncations[:] = self._batch.truncated
        ended.rewards[:] = both_rewards[self._rows, movers]
        self._viewers[:] = movers
        self._close(np.flatnonzero(ended.terminations | ended.truncations), ended)
        info = self._info() | {"mover": movers, "rewards": both_rewards}
        info |= {"_mover": moves, "_rewards": np.ones(self.num_envs, np.bool_)}
        info |= ended.info(np.zeros_like(self._batch.action_masks, self._format.mask_dtype))
        return self.observations(), ended.rewards, ended.terminations, ended.truncations, info

    def _info(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)
        return super()._info() | {"player": self.players, "_player": everywhere}

    def _facts(self, row: int) -> dict[str, Any]:
        return {"mover": int(self._viewers[row])}
