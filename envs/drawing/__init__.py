"""Pictures of positions: an SVG drawing per game, which can be rasterized.

The drawing of a game is a module with two functions: ``last_turn(state)`` returns the board actions of the last turn that made
any, and ``compose(state, annotations)`` returns the scene. Two more are optional: ``places(game, action)`` returns where a board
action is in the scene, if that is not just the center of its cell; ``choice(game, action)`` returns how to present one of several
actions on the same place. Boards that play without a server need ``parts(game)`` and the kernel ``shown`` (see
:mod:`stoneworks.envs.drawing.parts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from stoneworks.envs.drawing import generic, pieces, svg, theme
from stoneworks.envs.drawing.annotations import Annotations, ByCell, board_actions, fills_of, marks_of, numbers_of
from stoneworks.envs.drawing.picture import Choice, Drawing, Place, generic_places
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.guide import Illustration
from stoneworks.envs.rules.parts import drawing_of

__all__ = ["Choice", "Drawing", "Place", "action_choice", "action_places", "draw", "draw_illustration"]

_LEGAL, _ILLEGAL, _NAMED = "#b5dda4", "#eda99f", "#ffdf80"
#: Radius, color and width of the rings on what decided a game.
DECIDING = 0.22 * svg.SPACING, theme.ACCENT, 0.1 * svg.SPACING


def draw(
    state: State,
    *,
    last_actions: Iterable[int] | None = None,
    fill: ByCell | npt.ArrayLike | None = None,
    marks: ByCell | None = None,
    numbers: Mapping[int, str] | None = None,
    coordinates: bool = True,
) -> Drawing:
    """Return a picture of a position; in a finished one, the stones that decided are marked (``State.explain_result``).

    Args:
        state: the position.
        last_actions: the actions to mark as the last move. Default: those of the last turn in the state's history that
            placed anything. Actions that are not on the board, such as a pass, are not shown.
        fill: fill colors of cells: CSS colors by cell name (``"e5"``) or index; or a heat map, an array of values in
            [0, 1] (NaN for none) of shape ``[num_cells]``, ``[height, width]`` or ``[num_actions]``, such as a policy;
            the values of a cell are summed. Entries off the board must be 0 or NaN.
        marks: texts of up to 5 characters by cell, drawn on its stone or on the cell.
        numbers: texts of up to 5 characters by board action, drawn on a disc at the place of the action, such as the
            move numbers of a variation.
        coordinates: whether to label rows and columns.

    Raises:
        RegistrationError: the drawing of another package's game cannot be loaded.
        ValueError: an action, a cell, a color, a value or a text is invalid.
    """
    if not isinstance(state, State):
        raise ValueError(f"state must be a State, got {state!r}")
    game = state.game
    last = _module_of(game).last_turn(state) if last_actions is None else last_actions
    annotations = Annotations(
        last_actions=board_actions(game, last, "last_actions"),
        fills=fills_of(game, fill),
        marks=marks_of(game, marks),
        numbers=numbers_of(game, numbers),
        coordinates=coordinates,
    )
    return _draw(state, annotations)


def _draw(state: State, annotations: Annotations) -> Drawing:
    game = state.game
    scene = _module_of(game).compose(state, annotations)
    if (explanation := state.explain_result()) and explanation.deciding:
        centers = [_middle(action_places(game, action)) for action in explanation.deciding]
        rings = pieces.rings("deciding", centers, *DECIDING)
        scene = replace(scene, elements=[*scene.elements, rings])
    if numbered := annotations.numbers.items():
        discs = pieces.numbers((text, _middle(action_places(game, action))) for action, text in numbered)
        scene = replace(scene, elements=[*scene.elements, discs])
    return Drawing(svg.document(scene))


def draw_illustration(illustration: Illustration) -> Drawing:
    """Return the picture of a ruling, a turn or an ending.

    Green cells belong to legal actions, red cells (marked x) to illegal ones, and yellow cells are what the caption names. On
    corners of Trugo, + marks legal actions and x illegal ones; a region is yellow.
    """
    state = load_game(illustration.game).deserialize_state("\n".join(illustration.moves.split()))
    game = state.get_game()
    fill = dict.fromkeys(illustration.named.split(), _NAMED)
    marks, numbers = {}, {}
    for place, mark in illustration.marks.items():
        if place[-1] in "^v":
            numbers[game.string_to_action(place)] = mark
        else:
            marks[place] = mark
    for texts, color, mark in ((illustration.legal, _LEGAL, "+"), (illustration.illegal, _ILLEGAL, "x")):
        for text in texts.split():
            if text[-1] in "^v":  # a corner of a hexagon; the routes of a picked piece lead to those that are legal
                if text[0] != ">" or mark == "x":
                    numbers[game.string_to_action(text)] = mark
                continue
            if text in game.global_actions:
                continue
            for cell in (one.name for one in action_places(game, game.string_to_action(text))):
                fill.setdefault(cell, color)
                if mark == "x":
                    marks[cell] = mark
    corners = (divmod(game.string_to_action(corner), game.grid.num_cells) for corner in illustration.region.split())
    annotations = Annotations(
        last_actions=(),
        fills=fills_of(game, fill),
        marks=marks_of(game, marks),
        numbers=numbers_of(game, numbers),
        coordinates=True,
        regions=tuple((plane % 2, cell) for plane, cell in corners),
        close=True,
    )
    return _draw(state, annotations)


def action_places(game: Game, action: int) -> tuple[Place, ...]:
    """Return the places of a board action in the units of the game's pictures, in the order of clicks.

    Raises:
        RegistrationError: the drawing of another package's game cannot be loaded.
        ValueError: the action is not on the board.
    """
    if not board_actions(game, [action], "action"):
        raise ValueError(f"action {action} ({game.action_to_string(action)}) is not on the board of {game}")
    places = getattr(_module_of(game), "places", generic_places)
    return tuple(places(game, int(action)))


def action_choice(game: Game, action: int) -> Choice:
    """Return how to present a board action among others on the same place. The default is its text.

    Raises:
        RegistrationError: the drawing of another package's game cannot be loaded.
    """
    choice = getattr(_module_of(game), "choice", None)
    return Choice(game.action_to_string(action)) if choice is None else choice(game, int(action))


def _module_of(game: Game) -> Any:
    return drawing_of(game) or generic


def _middle(places: Iterable[Place]) -> svg.Point:
    xs, ys = zip(*((place.x, place.y) for place in places), strict=True)
    return sum(xs) / len(xs), sum(ys) / len(ys)
