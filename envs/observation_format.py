"""Layout and dtype of observations and action masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from stoneworks.envs.rules import Game

LAYOUTS = ("CHW", "HWC", "flat")
FLOATING_DTYPES = ("float16", "float32", "float64")
INTEGER_DTYPES = ("bool", "int8", "uint8")
MASK_DTYPES = ("int8", "bool", "float32")
OBSERVATION_KEYS = ("observation", "observations", "obs")
MASK_KEYS = ("action_mask", "mask")


class ObservationFormat:
    """Converts the arrays of the rules core to the format of an environment.

    The rules core computes planes ``float32[..., planes, height, width]`` and masks ``int8[..., num_actions]``. The layout
    ``"CHW"`` keeps the axes in this order, ``"HWC"`` moves the planes last, and ``"flat"`` flattens the three axes in CHW
    order. With ``mask_in_observation`` an observation is a dict of the planes and the mask, otherwise only the planes.

    Attributes:
        dtype: dtype of the planes.
        mask_dtype: dtype of the mask.
        shape: shape of the planes of one observation.
        unchanged: whether the planes are returned as computed by the rules core.
    """

    def __init__(
        self,
        game: Game,
        layout: str = "CHW",
        dtype: npt.DTypeLike = "float32",
        *,
        mask_in_observation: bool = False,
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        mask_dtype: npt.DTypeLike = "int8",
    ) -> None:
        """Validate the arguments and create the format.

        Args:
            game: the game.
            layout: one of ``LAYOUTS``.
            dtype: one of ``FLOATING_DTYPES``; or of ``INTEGER_DTYPES`` if all planes of the game are binary.
            mask_in_observation: whether an observation is a dict that contains the mask.
            observation_key: key of the planes in that dict, one of ``OBSERVATION_KEYS``.
            mask_key: key of the mask in that dict, one of ``MASK_KEYS``.
            mask_dtype: one of ``MASK_DTYPES``.

        Raises:
            ValueError: an argument is invalid; the message lists the allowed values.
        """
        self.layout = _one_of("obs_layout", layout, LAYOUTS)
        allowed = FLOATING_DTYPES + (INTEGER_DTYPES if game.binary_observations else ())
        self.dtype = _dtype("obs_dtype", dtype, allowed, f" for {game.name}")
        if not isinstance(mask_in_observation, bool):
            raise ValueError(f"mask_in_observation must be True or False, got {mask_in_observation!r}")
        self.mask_in_observation = mask_in_observation
        self.observation_key = _one_of("observation_key", observation_key, OBSERVATION_KEYS)
        self.mask_key = _one_of("mask_key", mask_key, MASK_KEYS)
        self.mask_dtype = _dtype("mask_dtype", mask_dtype, MASK_DTYPES)
        planes, height, width = game.observation_shape
        self.shape: tuple[int, ...] = {
            "CHW": (planes, height, width),
            "HWC": (height, width, planes),
            "flat": (planes * height * width,),
        }[layout]
        self.num_actions = game.num_actions
        self.unchanged = layout == "CHW" and self.dtype == np.float32

    def space(self) -> spaces.Space[Any]:
        """Return a new observation space."""
        if not self.mask_in_observation:
            return self.planes_space()
        return spaces.Dict({self.observation_key: self.planes_space(), self.mask_key: self.mask_space()})

    def planes_space(self) -> spaces.Box:
        """Return a new ``Box`` space of the planes."""
        return spaces.Box(0, 1, self.shape, self.dtype.type)

    def mask_space(self) -> spaces.Box:
        """Return a new space of action masks."""
        return spaces.Box(0, 1, (self.num_actions,), self.mask_dtype.type)

    def of(self, planes: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        """Return planes in this format. The result may share memory with ``planes``."""
        return np.ascontiguousarray(self._arranged(planes), self.dtype)

    def copy_of(self, planes: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        """Return planes in this format, always as a new, writable array."""
        return np.array(self._arranged(planes), self.dtype, order="C")

    def mask_of(self, mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a mask in this format, always as a new, writable array."""
        return mask.astype(self.mask_dtype)

    def observation(self, planes: npt.NDArray[Any], mask: npt.NDArray[Any]) -> Any:
        """Return the observation of ``planes`` and ``mask``, which must already be in this format. The mask is copied."""
        return {self.observation_key: planes, self.mask_key: mask.copy()} if self.mask_in_observation else planes

    def _arranged(self, planes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        if self.layout == "HWC":
            return np.moveaxis(planes, -3, -1)
        if self.layout == "flat":
            return planes.reshape(*planes.shape[:-3], -1)
        return planes


def _one_of(argument: str, value: str, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{argument} must be one of {', '.join(allowed)}, got {value!r}")
    return value


def _dtype(argument: str, value: npt.DTypeLike, allowed: tuple[str, ...], suffix: str = "") -> np.dtype[Any]:
    try:
        dtype = np.dtype(value)
    except TypeError:
        dtype = None
    if value is None or dtype is None or dtype.name not in allowed:
        got = repr(value) if dtype is None or value is None else dtype.name
        raise ValueError(f"{argument} must be one of {', '.join(allowed)}{suffix}, got {got}")
    return dtype
