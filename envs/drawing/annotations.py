"""Validation of the annotations of a picture, for all games."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing import lettering, theme
from stoneworks.envs.rules import Game

LONGEST_MARK = 5

#: Values for some cells, by name (``"e5"``) or index.
ByCell = Mapping[str, str] | Mapping[int, str]


@dataclass(frozen=True)
class Annotations:
    """Validated annotations of a picture.

    Attributes:
        last_actions: the board actions of the last move.
        fills: colors ``#rrggbb`` by cell.
        marks: texts by cell.
        numbers: texts by board action.
        coordinates: whether rows and columns are labeled.
        regions: corners of Trugo, as kind and cell, whose regions are shaded.
        close: whether a picture of Trugo shows only the hexes next to the tiles.
    """

    last_actions: tuple[int, ...]
    fills: Mapping[int, str]
    marks: Mapping[int, str]
    numbers: Mapping[int, str]
    coordinates: bool
    regions: tuple[tuple[int, int], ...] = ()
    close: bool = False


def board_actions(game: Game, actions: Iterable[int], argument: str) -> tuple[int, ...]:
    """Return the actions without the global ones; ``argument`` names them in errors.

    Raises:
        ValueError: an action is out of range or on a cell off the board.
    """
    if not isinstance(actions, Iterable):
        raise ValueError(f"{argument} must be actions of {game}, got {actions!r}")
    on_board = []
    for action in actions:
        index = _index(action, game.num_actions)
        if index is None:
            raise ValueError(f"{argument} must be actions of {game}, from 0 to {game.num_actions - 1}, got {action!r}")
        if index < game.num_action_planes * game.grid.num_cells:
            _check_on_board(game, index % game.grid.num_cells, f"{argument}: {action!r}")
            on_board.append(index)
    return tuple(on_board)


def fills_of(game: Game, fill: ByCell | npt.ArrayLike | None) -> dict[int, str]:
    """Return the color of each filled cell (see :func:`~stoneworks.envs.drawing.draw`).

    Raises:
        ValueError: a cell is invalid; the error names it.
    """
    if fill is None:
        return {}
    if isinstance(fill, Mapping):
        return {cell: _color(game, cell, color) for cell, color in _by_cell(game, fill, "fill").items()}
    return _heat_map(game, fill)


def marks_of(game: Game, marks: ByCell | None) -> dict[int, str]:
    """Return the text of each marked cell (see ``draw``). Raises ``ValueError`` naming an invalid cell."""
    by_cell = _by_cell(game, {} if marks is None else marks, "marks")
    for cell, text in by_cell.items():
        _check_text(text, f"marks[{game.grid.cell_names[cell]}]")
    return by_cell


def numbers_of(game: Game, numbers: Mapping[int, str] | None) -> dict[int, str]:
    """Return the text of each numbered board action (see ``draw``).

    Raises:
        ValueError: an action is invalid; the error names it.
    """
    if numbers is None:
        return {}
    if not isinstance(numbers, Mapping):
        raise ValueError(f"numbers must be a mapping from actions to texts, got {numbers!r}")
    for action, text in numbers.items():
        if not board_actions(game, [action], "numbers"):
            raise ValueError(f"numbers must be board actions of {game}, got {action!r}")
        _check_text(text, f"numbers[{action}]")
    return {int(action): text for action, text in numbers.items()}


def _check_text(text: object, what: str) -> None:
    if not isinstance(text, str) or not 1 <= len(text) <= LONGEST_MARK or not set(text) <= set(lettering.CHARACTERS):
        raise ValueError(
            f"{what} must be a text of 1 to {LONGEST_MARK} of the characters {lettering.CHARACTERS}, got {text!r}"
        )


def _by_cell(game: Game, given: Any, argument: str) -> dict[int, Any]:
    """Return the mapping with cell indices as keys, in ascending order.

    Raises:
        ValueError: the argument is not a mapping, a key is not a cell, or two keys are the same cell.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"{argument} must be a mapping from cells, got {given!r}")
    by_cell: dict[int, Any] = {}
    for key, value in given.items():
        cell = game.grid.cell_index(key) if isinstance(key, str) else _index(key, game.grid.num_cells)
        if cell is None:
            raise ValueError(
                f"{argument} must have cells of {game} as keys, by name such as 'e5' or by index, got {key!r}"
            )
        _check_on_board(game, cell, f"{argument}: cell {key!r}")
        if cell in by_cell:
            raise ValueError(f"{argument} contains cell {game.grid.cell_names[cell]} twice, by name and by index")
        by_cell[cell] = value
    return dict(sorted(by_cell.items()))


def _check_on_board(game: Game, cell: int, what: str) -> None:
    if not game.grid.on_board[cell]:
        raise ValueError(f"{what}: {game.grid.cell_names[cell]} is off the board of {game}")


def _index(value: Any, number: int) -> int | None:
    """Return an integer from 0 to ``number`` - 1 as a Python integer, and None for anything else."""
    try:
        index = -1 if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        return None
    return index if 0 <= index < number else None


def _color(game: Game, cell: int, color: object) -> str:
    """Return a CSS color as ``#rrggbb``, blended with the board if it is translucent.

    Raises:
        ValueError: ``color`` is not a CSS color.
    """
    from PIL import ImageColor

    try:
        # Pillow interprets the fourth number of rgba() differently from CSS.
        if not isinstance(color, str) or color.strip().lower().startswith("rgba"):
            raise ValueError
        red, green, blue, *alpha = ImageColor.getrgb(color.strip())
        if max(red, green, blue) > 255:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"fill[{game.grid.cell_names[cell]}] must be a CSS color, such as 'gold', '#ffd700', '#ffd70080',"
            f" 'rgb(255, 215, 0)' or 'hsl(50, 100%, 50%)', got {color!r}"
        ) from None
    return theme.blend((red, green, blue), (alpha[0] if alpha else 255) / 255)


def _heat_map(game: Game, fill: npt.ArrayLike) -> dict[int, str]:
    """Return colors by cell for values in [0, 1] by cell, or by action (summed over the actions of a cell).

    Raises:
        ValueError: ``fill`` has another shape, or values off the board or outside [0, 1].
    """
    grid = game.grid
    shapes = ((grid.num_cells,), (grid.height, grid.width), (game.num_actions,))
    try:
        values = np.asarray(fill, np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"fill must be a mapping from cells to CSS colors, or an array of numbers, got {fill!r}"
        ) from None
    if values.shape not in shapes:
        raise ValueError(f"fill must have the shape {' or '.join(map(str, shapes))} for {game}, got {values.shape}")
    values = values.ravel()
    if len(values) != grid.num_cells:
        planes = values[: game.num_action_planes * grid.num_cells].reshape(game.num_action_planes, grid.num_cells)
        values = np.where(np.isnan(planes).all(axis=0), np.nan, np.nansum(planes, axis=0))
    shown = ~np.isnan(values)
    # Rounding errors may lead to probabilities slightly above 1.
    for cell in np.flatnonzero(shown & ((values < 0) | (values > 1 + 1e-6))):
        raise ValueError(f"fill[{grid.cell_names[cell]}] must be in [0, 1], or NaN for no color, got {values[cell]}")
    off_board = np.flatnonzero(shown & (values != 0) & ~grid.on_board)
    if len(off_board):
        names = ", ".join(grid.cell_names[cell] for cell in off_board)
        raise ValueError(f"fill must be 0 or NaN off the board of {game}, got other values at {names}")
    return {int(cell): theme.heat_color(values[cell]) for cell in np.flatnonzero(shown & grid.on_board)}
