"""Pictures of positions: one SVG drawing of each game, from which pixels are made.

A game's drawing is a module with two functions: ``last_turn(state)``, the board actions of the last turn that made any,
and ``compose(state, annotations)``, the scene. What is alike in all games stands beside them once.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

import numpy.typing as npt

from stoneworks.envs.drawing import svg
from stoneworks.envs.drawing.annotations import Annotations, ByCell, board_actions, fills_of, marks_of
from stoneworks.envs.drawing.picture import Drawing
from stoneworks.envs.rules import State
from stoneworks.envs.rules.games import game_entry

__all__ = ["Drawing", "draw"]

#: The drawing of games that have none of their own.
_GENERIC = "stoneworks.envs.drawing.generic"


def draw(
    state: State,
    *,
    last_actions: Iterable[int] | None = None,
    fill: ByCell | npt.ArrayLike | None = None,
    marks: ByCell | None = None,
    coordinates: bool = True,
) -> Drawing:
    """Return a picture of a position.

    Args:
        state: the position.
        last_actions: the actions to mark as the last move; without them, those of the last turn in the state's
            history that placed anything. Actions that are not made on the board, such as a pass, are not shown.
        fill: what cells are filled with: CSS colors by cell, named (``"e5"``) or by index; or a heat map, an array of
            values in [0, 1], NaN for none, of shape ``[num_cells]``, ``[height, width]`` or, as a policy,
            ``[num_distinct_actions]``. What a heat map holds off the board must be 0 or NaN.
        marks: texts of up to 5 characters by cell, drawn on its stone or on the cell.
        coordinates: whether to label rows and columns.

    Raises:
        RegistrationError: the drawing of another package's game cannot be loaded.
        ValueError: an action, a cell, a color, a value or a text that is not allowed; it names it, and what is.
    """
    game = state.game
    entry = game_entry(game.name)
    module = import_module(_GENERIC) if entry.drawing is None else entry.load("drawing")
    annotations = Annotations(
        last_actions=board_actions(game, module.last_turn(state) if last_actions is None else last_actions),
        fills=fills_of(game, fill),
        marks=marks_of(game, marks),
        coordinates=coordinates,
    )
    return Drawing(svg.document(module.compose(state, annotations)))
