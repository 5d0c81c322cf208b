"""``Drawing``: a picture of a position, and its output formats."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing import raster
from stoneworks.files import write_whole

WIDTH_PIXELS = 512


@dataclass(frozen=True)
class Drawing:
    """A picture of a position. Notebooks display it directly.

    Attributes:
        svg: the picture as a self-contained SVG document.
    """

    svg: str

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing, {len(self.svg)} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg

    def rgb_array(self, width_pixels: int = WIDTH_PIXELS) -> npt.NDArray[np.uint8]:
        """Return ``uint8[height, width_pixels, 3]``. The height follows from the aspect ratio."""
        return raster.rgb_array(self.svg, width_pixels)

    def png(self, width_pixels: int = WIDTH_PIXELS) -> bytes:
        """Return the bytes of a PNG file with transparent corners. Raises like ``rgb_array``."""
        return raster.png(self.svg, width_pixels)

    def save(self, path: str | os.PathLike[str], *, width_pixels: int = WIDTH_PIXELS) -> None:
        """Write the picture to a file, atomically. ``width_pixels`` applies to PNG.

        Raises:
            ValueError: the path ends in neither ``.svg`` nor ``.png``, or ``width_pixels`` is invalid (see
                ``rgb_array``).
            OSError: the file cannot be written.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix == ".svg":
            content = self.svg.encode()
        elif suffix == ".png":
            content = self.png(width_pixels)
        else:
            raise ValueError(f"path must end in .svg or .png, got {str(path)!r}")
        write_whole(path, content)
