"""The form in which environments hand out observations: the order of the axes and the dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from stoneworks.envs.rules import Game

LAYOUTS = ("CHW", "HWC", "flat")
FLOATING_DTYPES = ("float16", "float32", "float64")
INTEGER_DTYPES = ("bool", "int8", "uint8")


class ObservationFormat:
    """Turns the planes of the rules core, ``float32[planes, height, width]``, into what an environment hands out.

    ``"CHW"`` keeps the order of the axes, ``"HWC"`` puts the planes last, ``"flat"`` makes one axis of all in the order CHW.
    """

    def __init__(self, game: Game, layout: str = "CHW", dtype: npt.DTypeLike = "float32") -> None:
        """Raises ``ValueError`` for a layout or a dtype that the game does not have."""
        if layout not in LAYOUTS:
            raise ValueError(f"obs_layout is {layout!r}; allowed are {', '.join(LAYOUTS)}")
        allowed = FLOATING_DTYPES + (INTEGER_DTYPES if game.binary_observations else ())
        try:
            self.dtype: np.dtype[Any] = np.dtype(dtype)
        except TypeError:
            raise ValueError(f"obs_dtype is {dtype!r}; allowed are {', '.join(allowed)}") from None
        if self.dtype.name not in allowed:
            raise ValueError(f"obs_dtype is {self.dtype.name}; allowed for {game.name} are {', '.join(allowed)}")
        self.layout = layout
        planes, height, width = game.observation_shape
        self.shape: tuple[int, ...] = {
            "CHW": (planes, height, width),
            "HWC": (height, width, planes),
            "flat": (planes * height * width,),
        }[layout]
        #: Whether observations are handed out as the rules core makes them.
        self.unchanged = layout == "CHW" and self.dtype == np.float32

    def space(self) -> spaces.Space[Any]:
        """Return the space of observations."""
        return spaces.Box(0, 1, self.shape, self.dtype.type)

    def of(self, planes: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        """Return observations ``[..., planes, height, width]`` in this format. The result may share memory with ``planes``."""
        return np.ascontiguousarray(self._arranged(planes), self.dtype)

    def copy_of(self, planes: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        """Return observations ``[..., planes, height, width]`` in this format, always as a new, writable array."""
        return np.array(self._arranged(planes), self.dtype, order="C")

    def _arranged(self, planes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        if self.layout == "HWC":
            return np.moveaxis(planes, -3, -1)
        if self.layout == "flat":
            return planes.reshape(*planes.shape[:-3], -1)
        return planes
