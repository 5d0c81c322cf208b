"""``NetworkInputs``: the planes that a network sees of a position."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game, State, as_game
from stoneworks.envs.rules.compiler.compiler import specialized_kernel
from stoneworks.envs.rules.compiler.types import Float32Table, Record
from stoneworks.envs.rules.contract import fill_features, observe, update_observation
from stoneworks.envs.rules.parts import features_kernel, features_of, has_features
from stoneworks.envs.rules.templates import fill_batch

#: Error of a network whose output is NaN or infinite.
NOT_FINITE = "the network's output must be finite: its weights are damaged, or its training diverged"

#: Replaced by the number of observation planes of the game.
NUM_OBSERVATION_PLANES = 0


def observe_with_features(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the observation planes, then the feature planes."""
    observe(board, state, player, planes[:NUM_OBSERVATION_PLANES])
    fill_features(board, state, player, planes[NUM_OBSERVATION_PLANES:])


class NetworkInputs:
    """The input planes of a network: the observation and, optionally, the features of the game.

    Attributes:
        game: the game.
        shape: ``(planes, height, width)``.
        kernels: kernels by name that replace those of the game in templates that observe positions, for ``game.compiled``.
    """

    def __init__(self, game: Game | str, features: bool) -> None:
        """Create the inputs for a game or a game string.

        Raises:
            ValueError: ``features`` is true and the game has none.
        """
        self.game = game = as_game(game)
        if features and not has_features(game):
            raise ValueError(
                f"features must be false for {game.name}, which has none; a game has some if it defines FEATURES and fill_features"
            )
        self._features = features_of(game) if features else ()
        observation_planes, height, width = game.observation_shape
        self.shape = (observation_planes + len(self._features), height, width)
        self.kernels: Mapping[str, Callable[..., Any]] = _observing_kernels(type(game)) if features else {}

    def __reduce__(self) -> tuple[Any, ...]:
        return NetworkInputs, (self.game, bool(self._features))

    @property
    def flat_shape(self) -> tuple[int, int]:
        """``(planes, height * width)``, the shape that kernels use."""
        planes, height, width = self.shape
        return planes, height * width

    def of_state(self, state: State) -> npt.NDArray[np.float32]:
        """Return the planes for the player to move, ``float32[1, planes, height, width]``."""
        return self.of_records(state.record.reshape(1))[0]

    def of_records(self, records: npt.NDArray[np.void]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """Return planes ``[n, planes, height, width]`` for the players to move of ``records[n]`` and masks ``[n, num_actions]``."""
        number = len(records)
        planes = np.empty((number, *self.flat_shape), np.float32)
        masks = np.empty((number, self.game.num_actions), np.int8)
        self._fill(self.game.board, records, np.arange(number), np.empty(number, np.int8), planes, masks)
        return planes.reshape(number, *self.shape), masks

    @cached_property
    def symmetry_images(self) -> npt.NDArray[np.int64]:
        """``int64[num_symmetries, planes * height * width]``: the index of each entry in the image under each symmetry."""
        num_cells = self.game.grid.num_cells
        names = list(self.game.observation_planes)
        images = []
        for symmetry in self.game.symmetries:
            of_features = []
            for number, feature in enumerate(self._features, start=len(names)):
                like = names.index(feature.same_symmetry_as or self.game.board_plane)
                of_plane = symmetry.observation[like * num_cells : (like + 1) * num_cells]
                of_features.append(of_plane + (number - like) * num_cells)
            images.append(np.concatenate([symmetry.observation, *of_features]))
        return np.stack(images)

    @cached_property
    def _fill(self) -> Callable[..., Any]:
        return self.game.compiled(fill_batch, self.kernels)


@cache
def _observing_kernels(game_class: type[Game]) -> Mapping[str, Callable[..., Any]]:
    game = game_class()
    kernels = {
        "observe": game.kernels["observe"],
        "fill_features": features_kernel(game),
        "NUM_OBSERVATION_PLANES": len(game.observation_planes),
    }
    observing = specialized_kernel(observe_with_features, game.name, kernels)
    # The game's own update knows nothing of the features.
    return {
        "observe": observing,
        "update_observation": specialized_kernel(update_observation, game.name, {"observe": observing}),
    }
