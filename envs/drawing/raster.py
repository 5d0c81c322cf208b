"""Rasterization of SVG documents with resvg."""

from __future__ import annotations

import io
import operator

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing import theme

LARGEST_WIDTH_PIXELS = 16384


def png(svg: str, width_pixels: int, background: str | None = None) -> bytes:
    """Return the document as a PNG file of the given width. Without ``background``, everything outside the panel is transparent.

    Raises:
        ValueError: ``width_pixels`` is not an integer from 1 to 16384.
    """
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg, width=_checked_width(width_pixels), background=background, skip_system_fonts=True
        )
    )


def rgb_array(svg: str, width_pixels: int) -> npt.NDArray[np.uint8]:
    """Return ``uint8[height, width_pixels, 3]``, filled with the panel color outside the panel. Raises like ``png``."""
    from PIL import Image

    with Image.open(io.BytesIO(png(svg, width_pixels, theme.PANEL))) as image:
        return np.array(image.convert("RGB"))


def _checked_width(width_pixels: int) -> int:
    try:
        width = operator.index(width_pixels)
    except TypeError:
        width = 0
    if not 1 <= width <= LARGEST_WIDTH_PIXELS:
        raise ValueError(f"width_pixels must be an integer from 1 to {LARGEST_WIDTH_PIXELS}, got {width_pixels!r}")
    return width
