"""Places of actions in a picture, for clickable boards."""

from __future__ import annotations

from dataclasses import dataclass

from stoneworks.envs.drawing.svg import SPACING, Point
from stoneworks.envs.rules import Game


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
    """

    label: str
    icon: str | None = None


def generic_places(game: Game, action: int) -> list[Place]:
    """Return the cell of an action, where cells are drawn at the distance of ``SPACING``."""
    cell = action % game.grid.num_cells
    x, y = game.grid.positions[cell]
    return [Place.at(game.grid.cell_names[cell], (SPACING * float(x), -SPACING * float(y)), SPACING / 2)]
