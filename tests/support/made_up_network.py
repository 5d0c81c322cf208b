"""A network and given noise for searches that are tested without torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.models.search.network_search import SelectionRule
from stoneworks.models.search.tree import Parameters


class MadeUpNetwork:
    """Random answers, the same for equal positions in any batch; ``asked`` has the batch sizes."""

    def __init__(self, game: Game, spread: float = 2.0) -> None:
        rng = np.random.default_rng(5)
        size = math.prod(game.observation_shape)
        self._of_logits = rng.normal(size=(size, game.num_actions))
        self._of_value = rng.normal(size=size)
        self._spread = spread
        self.asked: list[int] = []

    def __call__(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        self.asked.append(len(planes))
        positions = planes.reshape(len(planes), -1).astype(np.float64)
        logits = [self._spread * np.sin(position @ self._of_logits) for position in positions]
        values = [np.sin(position @ self._of_value) for position in positions]
        return np.array(logits, np.float32), np.array(values, np.float32)


@dataclass(frozen=True)
class WithNoise:
    """A selection rule whose noise at the root is given."""

    rule: SelectionRule
    given: npt.NDArray[np.float32]

    @property
    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        return self.rule.kernels

    @property
    def parameters(self) -> Parameters:
        return self.rule.parameters

    def schedule(self, num_simulations: int) -> npt.NDArray[np.int32]:
        return self.rule.schedule(num_simulations)

    def noise(self, shape: tuple[int, int], generator: np.random.Generator) -> npt.NDArray[np.float32]:
        assert self.given.shape == shape
        return self.given
