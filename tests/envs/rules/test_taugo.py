"""Taugo's board, actions, symmetries and diagram; its rulings are in tests/testdata/rulings.yaml."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from stoneworks.envs.rules import IllegalActionError, State, load_game

Play = Callable[..., State]


def apply_texts(state: State, texts: str) -> State:
    for text in texts.split():
        state.apply_action(state.string_to_action(text))
    return state


@pytest.mark.parametrize("size", [3, 4, 16, 24])
def test_the_board_has_its_intersections_its_perimeter_and_its_edge_points(size: int) -> None:
    """T1: 4 N edge points, each with one neighbor; the corners of the grid are off the board."""
    game = load_game("taugo", size=size)
    grid = game.grid
    assert (grid.height, grid.width) == (size + 2, size + 2)
    num_neighbors = (grid.neighbors >= 0).sum(axis=1)
    inside = np.zeros((size + 2, size + 2), bool)
    inside[1:-1, 1:-1] = True
    assert np.array_equal(num_neighbors == 4, inside.ravel())
    assert (num_neighbors == 1).sum() == 4 * size
    corners = [0, size + 1, (size + 1) * (size + 2), (size + 2) ** 2 - 1]
    assert np.flatnonzero(~grid.on_board).tolist() == corners == np.flatnonzero(num_neighbors == 0).tolist()
    step = {"N": (1, 0), "E": (0, 1), "S": (-1, 0), "W": (0, -1)}
    for cell, name in enumerate(grid.cell_names):
        for direction, (up, right) in enumerate(step.values()):
            neighbor = grid.neighbors[cell, direction]
            if neighbor >= 0:
                assert neighbor == cell + up * (size + 2) + right, name
                assert grid.neighbors[neighbor, (direction + 2) % 4] == cell


def test_the_middle_of_a_square_grid_is_at_distance_0() -> None:
    distances = load_game("taugo(size=4)").grid.distance_from_center.reshape(6, 6)
    assert distances[2:4, 2:4].max() == 0
    assert distances[1, 1] == 2
    assert distances[0, 1] == 3
    assert distances[0, 0] == -1
    distances = load_game("taugo(size=3)").grid.distance_from_center.reshape(5, 5)
    assert (distances == 0).sum() == 1
    assert distances[2, 2] == 0
    assert distances[2, 4] == 2


def test_actions_are_five_planes_and_end(play: Play) -> None:
    game = load_game("taugo(size=16)")
    assert game.num_actions == 5 * 18 * 18 + 1
    c7 = 6 * 18 + 2
    texts = ["c7", "Nc7", "Ec7", "Sc7", "Wc7"]
    assert [game.string_to_action(text) for text in texts] == [plane * 324 + c7 for plane in range(5)]
    assert game.string_to_action("end") == 1620
    for text in ("nc7", "NC7", "c7N", "N c7", "NNc7", "pass", "N"):
        with pytest.raises(IllegalActionError, match="not a valid action"):
            game.string_to_action(text)


def test_the_game_string_always_shows_the_size() -> None:
    assert str(load_game("taugo")) == "taugo(size=16)"
    assert load_game("taugo(size=24)").state_dtype != load_game("taugo(size=16)").state_dtype
    assert load_game("taugo(size=3)").state_dtype == load_game("taugo(size=16)").state_dtype


TURNING_PLANES = ("line_north", "line_east", "line_south", "line_west")


@pytest.mark.parametrize(
    ("name", "cell", "cut", "line"),
    [
        ("identity", "c3", "Ed5", "line_east"),
        ("rotate 90", "e3", "Nc4", "line_north"),
        ("rotate 180", "e5", "Wd3", "line_west"),
        ("rotate 270", "c5", "Se4", "line_south"),
        ("reflect", "c3", "Ne4", "line_north"),
        ("reflect, then rotate 90", "e3", "Wd5", "line_west"),
        ("reflect, then rotate 180", "e5", "Sc4", "line_south"),
        ("reflect, then rotate 270", "c5", "Ed3", "line_east"),
    ],
)
def test_headings_and_planes_of_directions_turn_with_the_board(name: str, cell: str, cut: str, line: str) -> None:
    """On a board of 5, whose middle is d4."""
    game = load_game("taugo(size=5)")
    symmetry = next(symmetry for symmetry in game.symmetries if symmetry.name == name)
    assert game.grid.cell_names[symmetry.cells[game.grid.cell_index("c3")]] == cell
    assert game.action_to_string(symmetry.actions[game.string_to_action("Ed5")]) == cut
    assert game.action_to_string(symmetry.actions[game.string_to_action("end")]) == "end"
    planes = game.observation_planes
    assert planes[symmetry.planes[planes.index("line_east")]] == line
    assert all(symmetry.planes[index] == index for index, plane in enumerate(planes) if plane not in TURNING_PLANES)


def test_transpositions_are_equal_positions(play: Play) -> None:
    one = play("taugo(size=4)", "b2 e5 b3 end end b4 end end")
    other = play("taugo(size=4)", "b4 e5 b3 end end b2 end end")
    assert one == other
    assert one.record["strings"].max() == other.record["strings"].max()
    assert apply_texts(one.clone(), "d5") != one


def test_the_picture_shows_stones_lines_to_the_edge_and_the_line_in_progress(play: Play) -> None:
    state = play("taugo(size=6)", "d4 f3 d5 e5")
    assert str(state).splitlines() == [
        "8   | | | | | |",
        "7 - . . . . . . -",
        "6 - . . . . . . -",
        "5 - . . X X . . -",
        "4 - . . X . . . -",
        "3 - . . . . O . -",
        "2 - . . . . . . -",
        "1   | | | | | |",
        "  a b c d e f g h",
        "Black (X, player 0) to move: the line heading east goes on from e5, or ends",
    ]
    assert str(apply_texts(state, "end end")).endswith("a line, or a pass that ends the game")
    assert "the game is a draw: Black " in str(apply_texts(state, "end")).splitlines()[-1]
    assert str(apply_texts(load_game("taugo(size=3)").new_initial_state(), "end c4 end end")).endswith(
        "White (player 1) wins by score: Black 0.5 (fewer strings), White 1 (strings of 1 on the perimeter)"
    )
