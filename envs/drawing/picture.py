"""``Drawing``: a picture of a position, its output formats, and the clickable places in it."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer
from stoneworks.envs.drawing import theme
from stoneworks.envs.drawing.svg import SPACING, Point
from stoneworks.envs.rules import Game
from stoneworks.files import write_whole

WIDTH_PIXELS = 512
LARGEST_WIDTH_PIXELS = 16384


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
        """Return ``uint8[height, width_pixels, 3]``. The height follows from the aspect ratio; it is even, as videos require.

        Raises:
            ValueError: ``width_pixels`` is not an integer from 1 to 16384.
        """
        from PIL import Image

        with Image.open(io.BytesIO(self._png(width_pixels, background=theme.PANEL))) as image:
            pixels = np.array(image.convert("RGB"))
        return np.pad(pixels, ((0, len(pixels) % 2), (0, 0), (0, 0)), mode="edge")

    def png(self, width_pixels: int = WIDTH_PIXELS) -> bytes:
        """Return the bytes of a PNG file of this width, with transparent corners. Raises like ``rgb_array``."""
        return self._png(width_pixels)

    def _png(self, width_pixels: int, background: str | None = None) -> bytes:
        import resvg_py

        width = check_integer("width_pixels", width_pixels, 1, LARGEST_WIDTH_PIXELS)
        return bytes(
            resvg_py.svg_to_bytes(svg_string=self.svg, width=width, background=background, skip_system_fonts=True)
        )

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


@dataclass(frozen=True)
class Place:
    """A clickable part of a picture.

    Attributes:
        name: unique within the picture, such as ``"e5"`` for a cell.
        x: horizontal coordinate of its center, in the units of the SVG document.
        y: vertical coordinate of its center, downwards.
        radius: radius of the clickable disc around the center.
    """

    name: str
    x: float
    y: float
    radius: float

    @classmethod
    def at(cls, name: str, center: Point, radius: float) -> Place:
        """Return the place with a name and a center."""
        return cls(name, round(float(center[0]), 1), round(float(center[1]), 1), radius)


@dataclass(frozen=True)
class Choice:
    """Presentation of an action in a list of actions on the same place.

    Attributes:
        label: description of the action.
        icon: a small SVG document, or None.
        parts: what each of several places is, such as the halves of a tile.
        picks: whether the action picks a piece that a later action moves; nothing is played yet.
    """

    label: str
    icon: str | None = None
    parts: tuple[str, ...] = ()
    picks: bool = False


def generic_places(game: Game, action: int) -> list[Place]:
    """Return the cell of an action, where cells are drawn at the distance of ``SPACING``."""
    cell = action % game.grid.num_cells
    x, y = game.grid.positions[cell]
    return [Place.at(game.grid.cell_names[cell], (SPACING * float(x), -SPACING * float(y)), SPACING / 2)]
