"""Colors of all pictures, and functions of colors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

PANEL = "#f7f4ee"
BOARD = "#e2c48f"
LINE = "#8f7148"
LABEL = "#6b6252"
DARK_INK = "#16202b"
LIGHT_INK = "#ffffff"
LAST_MOVE = "#0a5fd0"
ACCENT = "#c2410c"
NUMBER = "#7a2e8c"


class StoneColors(NamedTuple):
    """Colors of a stone: a gradient from top to bottom, and the outline."""

    top: str
    bottom: str
    outline: str


#: By color of the stone.
STONES = (StoneColors("#4a4d52", "#16181b", "#0b0c0e"), StoneColors("#ffffff", "#ece7de", "#6c5b42"))

#: The heat map from 0 to 1, starting at the color of the board and becoming monotonically darker.
HEAT = (BOARD, "#e8a552", "#dc7637", "#c4432f", "#94193f", "#570c43")


def heat_color(value: float) -> str:
    """Return the color of a value in [0, 1] on the heat map."""
    place = np.linspace(0, 1, len(HEAT))
    channels = np.array([_channels(color) for color in HEAT])
    return _hexadecimal([np.interp(value, place, channel) for channel in channels.T])


def blend(channels: tuple[int, int, int], opacity: float) -> str:
    """Return ``#rrggbb`` of a color with an opacity in [0, 1] on the board."""
    mixed = opacity * np.array(channels) + (1 - opacity) * _channels(BOARD)
    return _hexadecimal(mixed)


def ink_on(color: str) -> str:
    """Return the ink, dark or light, with the higher contrast on ``color`` (WCAG 2.2 contrast ratio)."""
    luminance = relative_luminance(color)
    contrast_dark = (luminance + 0.05) / (relative_luminance(DARK_INK) + 0.05)
    contrast_light = (relative_luminance(LIGHT_INK) + 0.05) / (luminance + 0.05)
    return DARK_INK if contrast_dark >= contrast_light else LIGHT_INK


def relative_luminance(color: str) -> float:
    """Return the relative luminance of ``#rrggbb``, 0 for black to 1 for white (WCAG 2.2)."""
    channels = _channels(color) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _channels(color: str) -> npt.NDArray[np.float64]:
    return np.array([int(color[start : start + 2], 16) for start in (1, 3, 5)], np.float64)


def _hexadecimal(channels: Iterable[Any]) -> str:
    return "#" + "".join(f"{round(float(channel)):02x}" for channel in channels)
