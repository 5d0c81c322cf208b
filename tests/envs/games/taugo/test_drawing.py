"""Pictures of Taugo: what they have that those of other games have not."""

from __future__ import annotations

import numpy as np
import pytest

import svg_reading
from game_play import after, played
from stoneworks.envs.drawing import draw, theme
from stoneworks.envs.drawing.picture import Drawing
from stoneworks.envs.rules import State, load_game
from svg_reading import centers, group, rgb

SPACING = 40
GAME = load_game("taugo(size=4)")


def cells(state: State, drawing: Drawing, name: str) -> set[str]:
    """The names of the cells where the circles of a group are."""
    places = {(round(SPACING * x, 1), round(-SPACING * y, 1)): i for i, (x, y) in enumerate(state.game.grid.positions)}
    names = [state.game.grid.cell_names[places[center]] for center in centers(drawing, name)]
    assert len(set(names)) == len(names)
    return set(names)


def pixel(drawing: Drawing, x: float, y: float) -> list[int]:
    """Return the color at a place given in columns and rows, which need not be whole."""
    return svg_reading.pixel(drawing, SPACING * x, -SPACING * y)


LINE = "b3 c5 c3 c4 e2 d4 e4 b4 e5"
CUT = f"{LINE} Sc2 Ed3"
EDGE = f"{CUT} d5 b2 end b5 d2 Sd1"


def test_stones_are_on_intersections_and_edge_points_in_their_present_colors() -> None:
    state = played(GAME, EDGE)
    drawing = draw(state)
    stones = state.record["stones"]
    assert "d1" in cells(state, drawing, "stones color-0")
    for color in (0, 1):
        expected = {state.game.grid.cell_names[cell] for cell in np.flatnonzero(stones == color + 1)}
        assert cells(state, drawing, f"stones color-{color}") == expected


@pytest.mark.parametrize("size", [3, 16])
def test_lines_run_out_to_the_edge_of_the_board_which_has_no_line_itself(size: int) -> None:
    drawing = draw(load_game("taugo", size=size).new_initial_state())
    last = size + 1
    for x, y in ((1, -0.45), (1, last + 0.45), (-0.45, 1), (last + 0.45, size)):
        assert pixel(drawing, x, y) == rgb(theme.LINE)
    for x, y in ((0.5, 0), (0, 0.5), (0, 0), (last, last), (-0.45, 0.5), (1.5, last)):
        assert pixel(drawing, x, y) == rgb(theme.BOARD)


def test_a_thread_runs_from_the_start_of_a_cut_to_its_point_and_given_actions_are_marked() -> None:
    (thread,) = group(draw(played(GAME, CUT)), "cuts")
    assert thread.attrib["d"] == "M40 -80L120 -80"  # b3 to d3
    assert pixel(draw(played(GAME, CUT)), 1.5, 2) == rgb(theme.LAST_MOVE)
    without_history = after(State.from_record(GAME, played(GAME, LINE).record), "Sc2")
    (thread,) = group(draw(without_history), "cuts")
    assert thread.attrib["d"] == "M80 -80L80 -40"  # c3 to c2
    state = played(GAME, EDGE)
    actions = [state.string_to_action(text) for text in ("Sc2", "Ne4", "end")]
    drawing = draw(state, last_actions=actions)
    assert cells(state, drawing, "last-move") == {"c2", "e4"}
    assert cells(state, drawing, "flipped") == {"c3", "c4"}


def test_a_filled_point_has_its_color() -> None:
    state = played(GAME, LINE)
    assert pixel(draw(state, fill={"b2": "gold"}), 1.3, 1.3) == rgb("#ffd700")
