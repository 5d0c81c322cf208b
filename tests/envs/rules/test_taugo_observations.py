"""Each observation plane of Taugo, by name, on named positions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stoneworks.envs.rules import State, load_game

Play = Callable[..., State]

BLACK, WHITE = 0, 1


def plane_names(state: State, plane: str, player: int) -> set[str]:
    """Return the cells that are 1 in a plane, all others being 0."""
    values = state.observation_tensor(player)[state.game.observation_planes.index(plane)].ravel()
    assert set(values.tolist()) <= {0, 1}
    return {name for name, value in zip(state.game.grid.cell_names, values, strict=True) if value}


CONSTANT_PLANES = ("line_north", "line_east", "line_south", "line_west", "line_in_progress", "passed", "black_to_act")


def constants(state: State, player: int) -> set[str]:
    """Return the names of the constant planes that are 1."""
    everywhere = set(state.game.grid.cell_names)
    found = {plane: plane_names(state, plane, player) for plane in CONSTANT_PLANES}
    assert all(names in (set(), everywhere) for names in found.values())
    return {plane for plane, names in found.items() if names}


def test_the_planes_of_the_board_show_its_points() -> None:
    state = load_game("taugo(size=3)").new_initial_state()
    edge_points = {"b1", "c1", "d1", "a2", "a3", "a4", "e2", "e3", "e4", "b5", "c5", "d5"}
    perimeter = {"b2", "c2", "d2", "b3", "d3", "b4", "c4", "d4"}
    for player in (BLACK, WHITE):
        assert plane_names(state, "edge_points", player) == edge_points
        assert plane_names(state, "perimeter", player) == perimeter
        assert plane_names(state, "board", player) == edge_points | perimeter | {"c3"}
        assert plane_names(state, "last_stone_of_line", player) == set()
        assert constants(state, player) == {"black_to_act"}


#: Black's cut Sc1 flips c3 and c2 on its way.
CUT_TO_THE_EDGE = "c4 b2 end c2 end end c3 end end d3 end Sc1"


def test_the_planes_of_stones_show_those_of_the_player_who_looks_first(play: Play) -> None:
    state = play("taugo(size=4)", CUT_TO_THE_EDGE)
    black, white = {"c4", "c3", "c2", "c1"}, {"b2", "d3"}
    assert plane_names(state, "own_stones", BLACK) == plane_names(state, "opponent_stones", WHITE) == black
    assert plane_names(state, "own_stones", WHITE) == plane_names(state, "opponent_stones", BLACK) == white
    assert constants(state, BLACK) == constants(state, WHITE) == set()


def test_a_pass_is_shown_until_the_next_stone(play: Play) -> None:
    state = play("taugo(size=3)", "b2 end")
    assert constants(state, BLACK) == constants(state, WHITE) == {"passed", "black_to_act"}
    assert constants(play("taugo(size=3)", "b2 end c4"), WHITE) == set()
    assert constants(play("taugo(size=3)", "end"), WHITE) == {"passed"}


@pytest.mark.parametrize(
    ("before", "first", "second", "plane"),
    [
        ("d4 f3", "d5", "d6", "line_north"),
        ("d4 f3", "d5", "e5", "line_east"),
        ("e5 c6", "e4", "e3", "line_south"),
        ("d4 f3", "d5", "c5", "line_west"),
    ],
)
def test_a_line_in_progress_is_shown_with_its_last_stone_and_its_direction(
    before: str, first: str, second: str, plane: str, play: Play
) -> None:
    for player in (BLACK, WHITE):
        state = play("taugo(size=6)", f"{before} {first}")
        assert plane_names(state, "last_stone_of_line", player) == {first}
        assert constants(state, player) == {"line_in_progress", "black_to_act"}, "no direction yet"
        state = play("taugo(size=6)", f"{before} {first} {second}")
        assert plane_names(state, "last_stone_of_line", player) == {second}
        assert constants(state, player) == {"line_in_progress", plane, "black_to_act"}
        state = play("taugo(size=6)", f"{before} {first} {second} end")
        assert plane_names(state, "last_stone_of_line", player) == set()
        assert constants(state, player) == set()


def test_a_line_of_white_is_shown_as_such(play: Play) -> None:
    state = play("taugo(size=6)", "f3 d4 end d5 e5")
    assert constants(state, WHITE) == constants(state, BLACK) == {"line_in_progress", "line_east"}
