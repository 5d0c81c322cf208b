"""Where actions are on a picture: what a page makes clickable."""

from __future__ import annotations

from dataclasses import dataclass

from stoneworks.envs.drawing.svg import SPACING, Point
from stoneworks.envs.rules import Game


@dataclass(frozen=True)
class Place:
    """A part of a picture that can be clicked.

    Attributes:
        name: unique within the picture, such as ``"e5"`` for a cell.
        x: horizontal coordinate of its center, in the units of the SVG document.
        y: vertical coordinate of its center, downwards.
        radius: of the clickable disc around the center.
    """

    name: str
    x: float
    y: float
    radius: float

    @classmethod
    def at(cls, name: str, center: Point, radius: float) -> Place:
        """Return the place of that name around a center."""
        return cls(name, round(float(center[0]), 1), round(float(center[1]), 1), radius)


@dataclass(frozen=True)
class Choice:
    """How a list of actions on one place presents an action.

    Attributes:
        label: what the action does, in words.
        icon: a small SVG document; None for none.
    """

    label: str
    icon: str | None = None


def generic_places(game: Game, action: int) -> list[Place]:
    """Return the cell of an action, where cells are drawn at the distance of ``SPACING``."""
    cell = action % game.grid.num_cells
    x, y = game.grid.positions[cell]
    return [Place.at(game.grid.cell_names[cell], (SPACING * float(x), -SPACING * float(y)), SPACING / 2)]
