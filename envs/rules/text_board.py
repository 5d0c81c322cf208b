"""Text diagrams of boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stoneworks.envs.rules.grid import Grid, column_name

if TYPE_CHECKING:
    from stoneworks.envs.rules.state import State


def hex_board_text(grid: Grid, symbols: Sequence[str]) -> str:
    """Return a text diagram of a hex board with one symbol per cell.

    Row numbers are at the left end of each row. The letter of a column is below its lowest cell; columns run up and to
    the right from there.

    Args:
        grid: the grid.
        symbols: one letter per cell, ``""`` off the board.
    """
    margin = len(str(grid.height)) + 1
    cells = [cell for cell in range(grid.num_cells) if grid.on_board[cell]]
    left = min(2 * grid.positions[cell, 0] for cell in cells)

    lines: dict[int, dict[int, str]] = {row: {} for row in range(-1, grid.height)}
    labeled: set[int] = set()
    for cell in cells:
        row, column = divmod(cell, grid.width)
        place = int(margin + 2 + round(2 * grid.positions[cell, 0] - left))
        if not grid.on_board[row * grid.width : cell].any():
            number = str(row + 1)
            lines[row][place - 2 - len(number)] = number
        if column not in labeled:
            labeled.add(column)
            lines[row - 1][place - 1] = column_name(column)
        lines[row][place] = symbols[cell]
    return diagram(lines)


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
    margin = len(str(grid.height))
    letters = [column_name(column) for column in range(grid.width)]
    room = max(map(len, letters))
    lines = [
        " ".join(
            [
                str(row + 1).rjust(margin),
                *(symbol.rjust(room) for symbol in symbols[row * grid.width : (row + 1) * grid.width]),
            ]
        )
        for row in reversed(range(grid.height))
    ]
    lines.append(" ".join([" " * margin, *(letter.rjust(room) for letter in letters)]))
    return "\n".join(line.rstrip() for line in lines)


def status_text(state: State, *, symbols: str = "XO") -> str:
    """Return who is to move and what is left, or the result: ``"Black (X, player 0) to move: second of two stones"``.

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
