"""What tests of drawings read of an SVG document and of its pixels."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing.picture import Drawing

SVG = "{http://www.w3.org/2000/svg}"


def groups(drawing: Drawing, name: str) -> list[ElementTree.Element]:
    """Return the groups of that class."""
    return [element for element in ElementTree.fromstring(drawing.svg).iter(f"{SVG}g") if element.get("class") == name]


def group(drawing: Drawing, name: str) -> list[ElementTree.Element]:
    """Return all elements in the groups of that class."""
    return [element for found in groups(drawing, name) for element in found.iter() if element is not found]


def centers(drawing: Drawing, name: str) -> list[tuple[float, float]]:
    """Return the centers of the circles in the groups of that class."""
    circles = [element for element in group(drawing, name) if element.tag == f"{SVG}circle"]
    return [(float(circle.attrib["cx"]), float(circle.attrib["cy"])) for circle in circles]


def spelt(drawing: Drawing, name: str) -> list[str]:
    """Return the texts in the groups of that class, which are drawn as paths."""
    return [element.attrib["aria-label"] for element in group(drawing, name) if "aria-label" in element.attrib]


@cache
def pixels(drawing: Drawing, width_pixels: int = 800) -> tuple[npt.NDArray[np.uint8], float, float, float]:
    """Return the pixels, the left and top of the SVG document, and its pixels per unit."""
    left, top, width, _ = map(float, ElementTree.fromstring(drawing.svg).attrib["viewBox"].split())
    return drawing.rgb_array(width_pixels), left, top, width_pixels / width


def pixel(drawing: Drawing, x: float, y: float) -> list[int]:
    """Return the color at a place of the SVG document."""
    array, left, top, scale = pixels(drawing)
    return array[int((y - top) * scale), int((x - left) * scale)].tolist()


def rgb(color: str) -> list[int]:
    """Return the numbers of a color such as #ffd700."""
    return [int(color[start : start + 2], 16) for start in (1, 3, 5)]
