"""``NetworkInputsEnv``: training games whose observations include the features of the game."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from stoneworks.envs.rules import Game
from stoneworks.envs.vector import VectorEnv
from stoneworks.models.network_inputs import NetworkInputs


class NetworkInputsEnv(VectorEnv):
    """A ``VectorEnv`` whose observations are the input planes of a network with features.

    See :class:`stoneworks.models.network_inputs.NetworkInputs`. Opponents are unaffected.
    """

    def __init__(self, num_envs: int, game: Game) -> None:
        """Create the environment. Raises ``ValueError`` if ``game`` has no features."""
        super().__init__(num_envs, game)
        self._inputs = NetworkInputs(game, True)
        self.single_observation_space = spaces.Box(-np.inf, np.inf, self._inputs.shape, np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def _planes(self) -> npt.NDArray[Any]:
        return self._inputs.of_records(self._batch.states.copy())[0]

    def _last_planes(self, row: int) -> npt.NDArray[Any]:
        record = self._batch.states[row : row + 1].copy()
        record["current_player"] = self._viewers[row]  # inputs are for the player to move; after the end there is none
        planes = self._inputs.of_records(record)[0][0]
        observation = super()._last_planes(row)
        planes[: len(observation)] = observation
        return planes
