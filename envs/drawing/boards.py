"""The end of every drawing of a board of fixed size: marks on stones and cells, labels, extent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from stoneworks.envs.drawing import hexes, pieces, theme
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.svg import Point, Scene
from stoneworks.envs.rules import State
from stoneworks.envs.rules.groups import BLACK, WHITE

_INK_ON_STONE = {BLACK: theme.LIGHT_INK, WHITE: theme.DARK_INK}


class Board(Protocol):
    """The static parts of the pictures of a board.

    Attributes:
        labels: the labels of rows and columns, as SVG.
        extent: what is shown without them.
        extent_with_labels: what is shown with them.
    """

    @property
    def labels(self) -> str: ...  # noqa: D102
    @property
    def extent(self) -> hexes.Extent: ...  # noqa: D102
    @property
    def extent_with_labels(self) -> hexes.Extent: ...  # noqa: D102


def stone_marks(
    annotations: Annotations, centers: Sequence[Point], stones: npt.NDArray[Any], ground_of: Mapping[int, str]
) -> str:
    """Return the marks in an ink that is readable on the stone, or on the ground, of their cell."""
    return pieces.marks(
        (text, centers[cell], _INK_ON_STONE.get(stones[cell]) or theme.ink_on(ground_of[cell]))
        for cell, text in annotations.marks.items()
    )


def scene(state: State, elements: list[str], board: Board, annotations: Annotations) -> Scene:
    """Return the scene of a position from its elements, with labels if they are requested."""
    extent = board.extent
    if annotations.coordinates:
        elements.append(board.labels)
        extent = board.extent_with_labels
    return Scene(elements, *extent, description=f"{state.game} after {len(state.history())} actions")
