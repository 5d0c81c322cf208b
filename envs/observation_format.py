"""Layout and dtype of observations and action masks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from stoneworks.checks import check_choice
from stoneworks.envs.rules import Game

LAYOUTS = ("CHW", "HWC", "flat")
FLOATING_DTYPES = ("float16", "float32", "float64")
INTEGER_DTYPES = ("bool", "int8", "uint8")
MASK_DTYPES = ("int8", "bool", "float32")
OBSERVATION_KEYS = ("observation", "observations", "obs")
#: What an environment does with an illegal action.
ILLEGAL_ACTION_CHOICES = ("lose", "raise")
MASK_KEYS = ("action_mask", "mask")


@dataclass(frozen=True)
class ObservationFormat:
    """Format of the observations and action masks that an environment returns.

    Attributes:
        layout: ``"CHW"`` (planes first), ``"HWC"`` (planes last) or ``"flat"`` (all three axes flattened, in CHW order).
        dtype: name of the dtype of the planes: ``"float16"``, ``"float32"`` or ``"float64"``; for games whose planes are all
            zeros and ones, also ``"bool"``, ``"int8"`` or ``"uint8"``.
        with_mask: whether an observation is a dict of the planes and the mask, otherwise only the planes. Observations of
            the AEC environment are always dicts.
        key: key of the planes in that dict: ``"observation"``, ``"observations"`` or ``"obs"``.
        mask_key: key of the mask in that dict: ``"action_mask"`` or ``"mask"``.
        mask_dtype: name of the dtype of the mask, also in ``info``: ``"int8"``, ``"bool"`` or ``"float32"``. Gymnasium's
            ``Discrete.sample(mask)`` accepts ``"int8"`` alone.

    Raises:
        ValueError: a value is invalid; the message lists the allowed values.
    """

    layout: str = "CHW"
    dtype: str = "float32"
    with_mask: bool = False
    key: str = "observation"
    mask_key: str = "action_mask"
    mask_dtype: str = "int8"

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            check_choice(name, getattr(self, name), allowed)

    @classmethod
    def of(
        cls, given: ObservationFormat | Mapping[str, Any], default: ObservationFormat | None = None
    ) -> ObservationFormat:
        """Return a format, or that with the fields of a mapping and the others of ``default``.

        Raises:
            ValueError: anything else is given.
        """
        if isinstance(given, ObservationFormat):
            return given
        try:
            return replace(cls() if default is None else default, **given)
        except TypeError:
            raise ValueError(
                f"observation must be an ObservationFormat or a mapping of some of {', '.join(_ALLOWED)}, got {given!r}"
            ) from None


_ALLOWED: dict[str, tuple[Any, ...]] = {
    "layout": LAYOUTS,
    "dtype": FLOATING_DTYPES + INTEGER_DTYPES,
    "with_mask": (False, True),
    "key": OBSERVATION_KEYS,
    "mask_key": MASK_KEYS,
    "mask_dtype": MASK_DTYPES,
}

DEFAULT_FORMAT = ObservationFormat()


class Formatter:
    """Converts the arrays of one game to the format of an environment.

    The rules core computes planes ``float32[..., planes, height, width]`` and masks ``int8[..., num_actions]``.

    Attributes:
        format: the format.
        mask_dtype: dtype of the mask.
        shape: shape of the planes of one observation.
        unchanged: whether planes and masks are returned as computed by the rules core.
    """

    def __init__(self, game: Game, format_: ObservationFormat) -> None:
        """Create the formatter. Raises ``ValueError`` if the dtype cannot hold the planes of the game."""
        if format_.dtype in INTEGER_DTYPES and not game.binary_observations:
            check_choice(f"dtype of planes of {game.name}", format_.dtype, FLOATING_DTYPES)
        self.format = format_
        self._dtype, self.mask_dtype = np.dtype(format_.dtype), np.dtype(format_.mask_dtype)
        planes, height, width = game.observation_shape
        shapes = {"CHW": (planes, height, width), "HWC": (height, width, planes), "flat": (planes * height * width,)}
        self.shape: tuple[int, ...] = shapes[format_.layout]
        self._num_actions = game.num_actions
        self.unchanged = (format_.layout, format_.dtype, format_.mask_dtype) == ("CHW", "float32", "int8")

    def space(self) -> spaces.Space[Any]:
        """Return a new observation space."""
        if not self.format.with_mask:
            return self.planes_space()
        mask = spaces.Box(0, 1, (self._num_actions,), self.mask_dtype.type)
        return spaces.Dict({self.format.key: self.planes_space(), self.format.mask_key: mask})

    def planes_space(self) -> spaces.Box:
        """Return a new ``Box`` space of the planes."""
        return spaces.Box(0, 1, self.shape, self._dtype.type)

    def of(self, planes: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        """Return planes ``float32[..., planes, height, width]`` in this format. The result may share memory with ``planes``."""
        return np.ascontiguousarray(self._arranged(planes), self._dtype)

    def copy_of(self, planes: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        """Return planes ``float32[..., planes, height, width]`` in this format, always as a new, writable array."""
        return np.array(self._arranged(planes), self._dtype, order="C")

    def mask_of(self, mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a mask ``[..., num_actions]`` in this format, always as a new, writable array."""
        return mask.astype(self.mask_dtype)

    def observation(self, planes: npt.NDArray[Any], mask: npt.NDArray[Any]) -> Any:
        """Return the observation of ``planes`` and ``mask[..., num_actions]``, already in this format. The mask is copied."""
        return {self.format.key: planes, self.format.mask_key: mask.copy()} if self.format.with_mask else planes

    def _arranged(self, planes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        if self.format.layout == "HWC":
            return np.moveaxis(planes, -3, -1)
        if self.format.layout == "flat":
            return planes.reshape(*planes.shape[:-3], -1)
        return planes
