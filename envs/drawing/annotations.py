"""What a caller asks to have drawn besides the position: checked here once for all games."""

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

#: Something for each of some cells, which are named (``"e5"``) or given by index.
ByCell = Mapping[str, str] | Mapping[int, str]


@dataclass(frozen=True)
class Annotations:
    """Checked annotations of a picture.

    Attributes:
        last_actions: the actions of the last move that were made on the board.
        fills: colors ``#rrggbb`` by cell.
        marks: texts by cell.
        coordinates: whether rows and columns are labeled.
    """

    last_actions: tuple[int, ...]
    fills: Mapping[int, str]
    marks: Mapping[int, str]
    coordinates: bool


def board_actions(game: Game, actions: Iterable[int]) -> tuple[int, ...]:
    """Return the actions without the global ones.

    Raises:
        ValueError: an action that the game does not have, or one on a cell off the board.
    """
    if not isinstance(actions, Iterable):
        raise ValueError(f"last_actions is {actions!r}; allowed are actions of {game}")
    on_board = []
    for action in actions:
        index = _index(action)
        if index is None or not 0 <= index < game.num_distinct_actions():
            raise ValueError(
                f"last_actions has {action!r}; allowed are actions of {game}, 0 to {game.num_distinct_actions() - 1}"
            )
        if index < game.num_action_planes * game.grid.num_cells:
            _check_on_board(game, index % game.grid.num_cells, f"last_actions has {action!r}")
            on_board.append(index)
    return tuple(on_board)


def fills_of(game: Game, fill: ByCell | npt.ArrayLike | None) -> dict[int, str]:
    """Return the color of each filled cell (see ``draw``). Raises ``ValueError`` naming the cell that is wrong."""
    if fill is None:
        return {}
    if isinstance(fill, Mapping):
        return {cell: _color(game, cell, color) for cell, color in _by_cell(game, fill, "fill").items()}
    return _heat_map(game, fill)


def marks_of(game: Game, marks: ByCell | None) -> dict[int, str]:
    """Return the text of each marked cell (see ``draw``). Raises ``ValueError`` naming the cell that is wrong."""
    by_cell = _by_cell(game, {} if marks is None else marks, "marks")
    for cell, text in by_cell.items():
        _check_text(text, f"marks[{game.grid.cell_names[cell]}]")
    return by_cell


def numbers_of(game: Game, numbers: Mapping[int, str] | None) -> dict[int, str]:
    """Return the text of each numbered board action (see ``draw``). Raises ``ValueError`` naming what is wrong."""
    if numbers is None:
        return {}
    if not isinstance(numbers, Mapping):
        raise ValueError(f"numbers is {numbers!r}; allowed is a mapping from actions to texts")
    for action, text in numbers.items():
        if not board_actions(game, [action]):
            raise ValueError(f"numbers has action {action!r}, which is not made on the board of {game}")
        _check_text(text, f"numbers[{action}]")
    return {int(action): text for action, text in numbers.items()}


def _check_text(text: object, what: str) -> None:
    if not isinstance(text, str) or not 1 <= len(text) <= LONGEST_MARK or not set(text) <= set(lettering.CHARACTERS):
        raise ValueError(
            f"{what} is {text!r}; allowed are texts of 1 to {LONGEST_MARK} of the characters {lettering.CHARACTERS}"
        )


def _by_cell(game: Game, given: Any, argument: str) -> dict[int, Any]:
    """Return the mapping with cell indices as keys, in ascending order."""
    if not isinstance(given, Mapping):
        raise ValueError(f"{argument} is {given!r}; allowed is a mapping from cells")
    by_cell: dict[int, Any] = {}
    for key, value in given.items():
        cell = game.grid.cell_index(key) if isinstance(key, str) else _index(key)
        if cell is None or not 0 <= cell < game.grid.num_cells:
            raise ValueError(
                f"{argument} has cell {key!r}; allowed are cells of {game}, by name such as 'e5' or by index"
            )
        _check_on_board(game, cell, f"{argument} has cell {key!r}")
        if cell in by_cell:
            raise ValueError(
                f"{argument} has cell {game.grid.cell_names[cell]} twice, by name and by index; allowed is once"
            )
        by_cell[cell] = value
    return dict(sorted(by_cell.items()))


def _check_on_board(game: Game, cell: int, what: str) -> None:
    if not game.grid.on_board[cell]:
        raise ValueError(
            f"{what}: {game.grid.cell_names[cell]} is off the board of {game}; allowed are cells of the board"
        )


def _index(value: object) -> int | None:
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _color(game: Game, cell: int, color: object) -> str:
    """Return a CSS color as ``#rrggbb``; where it is translucent, as it looks on the board."""
    from PIL import ImageColor

    try:
        # Pillow reads the fourth number of rgba() otherwise than CSS.
        if not isinstance(color, str) or color.strip().lower().startswith("rgba"):
            raise ValueError
        red, green, blue, *alpha = ImageColor.getrgb(color.strip())
        if max(red, green, blue) > 255:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"fill[{game.grid.cell_names[cell]}] is {color!r}; allowed are CSS colors: names, '#ffd700', '#ffd70080',"
            " 'rgb(255, 215, 0)', 'hsl(50, 100%, 50%)'"
        ) from None
    return theme.blend((red, green, blue), (alpha[0] if alpha else 255) / 255)


def _heat_map(game: Game, fill: npt.ArrayLike) -> dict[int, str]:
    """Return the colors of values in [0, 1] by cell, or by action, where the actions of a cell are added up."""
    grid = game.grid
    shapes = ((grid.num_cells,), (grid.height, grid.width), (game.num_distinct_actions(),))
    try:
        values = np.asarray(fill, np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"fill is {fill!r}; allowed is a mapping from cells to CSS colors, or an array of numbers"
        ) from None
    if values.shape not in shapes:
        raise ValueError(
            f"fill is an array of shape {values.shape}; allowed for {game} is {' or '.join(map(str, shapes))}"
        )
    values = values.ravel()
    if len(values) != grid.num_cells:
        planes = values[: game.num_action_planes * grid.num_cells].reshape(game.num_action_planes, grid.num_cells)
        values = np.where(np.isnan(planes).all(axis=0), np.nan, np.nansum(planes, axis=0))
    shown = ~np.isnan(values)
    # Rounding may leave a probability a little over 1.
    for cell in np.flatnonzero(shown & ((values < 0) | (values > 1 + 1e-6))):
        raise ValueError(
            f"fill[{grid.cell_names[cell]}] is {values[cell]}; allowed is a number in [0, 1], or NaN for no color"
        )
    off_board = np.flatnonzero(shown & (values != 0) & ~grid.on_board)
    if len(off_board):
        names = ", ".join(grid.cell_names[cell] for cell in off_board)
        raise ValueError(f"fill has values at {names}, off the board of {game}; allowed there is 0 or NaN")
    return {int(cell): theme.heat_color(values[cell]) for cell in np.flatnonzero(shown & grid.on_board)}
