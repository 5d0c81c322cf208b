"""Text diagrams of boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.grid import Grid, column_name
from stoneworks.envs.rules.state import State


def hex_board_text(grid: Grid, symbols: Sequence[str]) -> str:
    """Return a text diagram of a hex board with one symbol per cell.

    Row numbers are at the left end of each row. The letter of a column is below its lowest cell; columns run up and to
    the right from there.

    Args:
        grid: the grid.
        symbols: one letter per cell; those off the board are not shown.
    """
    lines, places = labeled_lines(grid, np.flatnonzero(grid.on_board), pitch=2, margin=3, gap=2)
    for cell, place in places.items():
        lines[cell // grid.width][place] = symbols[cell]
    return diagram(lines)


def labeled_lines(
    grid: Grid, cells: npt.NDArray[np.int64], *, pitch: int, margin: int, gap: int, lines_per_row: int = 1
) -> tuple[dict[int, dict[int, str]], dict[int, int]]:
    """Return the lines of :func:`diagram` with the numbers of rows and the letters of columns, and the place of each cell.

    Args:
        grid: a grid of hexes.
        cells: ``int64[n]``, the cells to show, in ascending order.
        pitch: columns of text from a cell to the next in its row.
        margin: columns of text before the leftmost cell, besides those of the longest number.
        gap: columns of text from the number of a row to its first cell.
        lines_per_row: lines of text from a row to the next.
    """
    left = min(grid.positions[cells, 0])
    lines: dict[int, dict[int, str]] = {}
    places: dict[int, int] = {}
    labeled: set[int] = set()
    for cell in cells.tolist():
        row, column = divmod(cell, grid.width)
        place = places[cell] = len(str(grid.height)) + margin + round(pitch * (grid.positions[cell, 0] - left))
        line = lines.setdefault(lines_per_row * row, {})
        if not line:
            number = str(row + 1)
            line[place - gap - len(number)] = number
        if column not in labeled:
            labeled.add(column)
            lines.setdefault(lines_per_row * (row - 1), {})[place - pitch // 2] = column_name(column)
    return lines, places


def diagram(lines: Mapping[int, Mapping[int, str]]) -> str:
    """Return the text of lines, numbered upward, each with texts by the column where they start."""
    pictures = []
    for index in range(max(lines), min(lines) - 1, -1):
        picture = ""
        for place, text in sorted(lines.get(index, {}).items()):
            picture = picture.ljust(place) + text
        pictures.append(picture)
    return "\n".join(pictures)


def square_board_text(grid: Grid, symbols: Sequence[str]) -> str:
    """Return a text diagram of a square board with one symbol per cell, row numbers on the left, column letters below.

    Args:
        grid: the grid.
        symbols: one letter per cell, a blank off the board.
    """
    letters = [column_name(column) for column in range(grid.width)]
    room, margin = max(map(len, letters)), len(str(grid.height))
    rows = [(str(row + 1), symbols[row * grid.width : (row + 1) * grid.width]) for row in reversed(range(grid.height))]
    lines = (
        " ".join([number.rjust(margin), *(text.rjust(room) for text in row)]) for number, row in [*rows, ("", letters)]
    )
    return "\n".join(line.rstrip() for line in lines)


def status_text(state: State, *, symbols: str = "XO") -> str:
    """Return the player to move and what is left, or the result: ``"Black (X, player 0) to move: second of two stones"``.

    Args:
        state: the position.
        symbols: the letters of color 0 and color 1 in the diagram.
    """
    game = state.get_game()
    outcome, explanation = state.outcome(), state.explain_result()
    if outcome is None or explanation is None:
        player = state.current_player()
        color = state.color_of(player)
        head, why = f"{game.colors[color]} ({symbols[color]}, player {player}) to move", game.describe_turn(state)
    elif outcome.winner is None:
        head, why = "the game was truncated" if state.is_truncated() else "the game is a draw", explanation.text
    else:
        head = f"{game.colors[state.color_of(outcome.winner)]} (player {outcome.winner}) wins by {outcome.reason}"
        why = explanation.text
    supplies = "" if outcome else game.describe_supplies(state)
    return f"{head}{': ' if why else ''}{why}{'; ' if supplies else ''}{supplies}"
