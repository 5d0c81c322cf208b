"""Each observation plane of Vadus and Laido, by name, on named positions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from stoneworks.envs.rules import State, game_names, load_game

COMMON_PLANES = ("own_stones", "opponent_stones", "board")
PLANES = {
    "vadus": (*COMMON_PLANES, "second_stone", "passed", "black_to_act"),
    "laido": (*COMMON_PLANES, "swap_legal", "passed", "black_to_act"),
}


def cells_set(state: State, player: int | None, plane: str) -> set[str]:
    """Return the names of the cells where a plane is 1; it is 0 elsewhere."""
    values = state.observation_tensor(player)[state.game.observation_planes.index(plane)]
    assert set(np.unique(values)) <= {0.0, 1.0}
    return {
        f"{'abcdefghijklmnopqrstuvwxyz'[column]}{row + 1}"
        for row in range(values.shape[0])
        for column in range(values.shape[1])
        if values[row, column]
    }


def constant(state: State, player: int | None, plane: str) -> float:
    """Return the value of a plane that is the same on all cells, those off the board included."""
    (value,) = np.unique(state.observation_tensor(player)[state.game.observation_planes.index(plane)])
    return float(value)


def test_the_planes_are_named_in_this_order() -> None:
    for name, planes in PLANES.items():
        assert load_game(name).observation_planes == planes


def test_every_plane_of_every_game_is_named_in_a_test_of_observations() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*_observations.py"))
    for name in game_names():
        for plane in load_game(name).observation_planes:
            assert f'"{plane}"' in tests, f"{name} has a plane {plane}"


@pytest.mark.parametrize("name", PLANES)
def test_own_stones_and_opponent_stones_of_either_player(name: str, drawn: Callable[..., State]) -> None:
    state = drawn(
        name,
        """
          X . .
         . O . .
        . . X . .
         . . . O
          . X .
        """,
    )
    black, white = {"a5", "c3", "d1"}, {"b4", "e2"}
    assert cells_set(state, 0, "own_stones") == black
    assert cells_set(state, 0, "opponent_stones") == white
    assert cells_set(state, 1, "own_stones") == white
    assert cells_set(state, 1, "opponent_stones") == black
    to_act = state.current_player()
    assert cells_set(state, None, "own_stones") == cells_set(state, to_act, "own_stones")


@pytest.mark.parametrize("name", PLANES)
def test_board_marks_the_cells_of_the_hexagon(name: str) -> None:
    state = load_game(name, size=3).new_initial_state()
    rows_of = {"a": "345", "b": "2345", "c": "12345", "d": "1234", "e": "123"}
    on_board = {column + row for column, rows in rows_of.items() for row in rows}
    for player in (0, 1):
        assert cells_set(state, player, "board") == on_board


@pytest.mark.parametrize("name", PLANES)
def test_an_empty_board_has_no_stones_and_no_pass(name: str) -> None:
    state = load_game(name, size=3).new_initial_state()
    for player in (0, 1):
        assert cells_set(state, player, "own_stones") == set()
        assert cells_set(state, player, "opponent_stones") == set()
        assert constant(state, player, "passed") == 0
        assert constant(state, player, "black_to_act") == 1


def test_second_stone_is_set_between_the_two_stones_of_a_turn(play: Callable[..., State]) -> None:
    for texts, expected in (("", 0), ("c3", 0), ("c3 a3", 1), ("c3 a3 b2", 0), ("c3 a3 b2 e3", 1), ("c3 pass", 0)):
        state = play("vadus(size=3)", texts)
        for player in (0, 1):
            assert constant(state, player, "second_stone") == expected


@pytest.mark.parametrize(
    ("game", "texts", "expected"),
    [
        ("vadus(size=3)", "c3", 0),
        ("vadus(size=3)", "c3 pass", 1),
        ("vadus(size=3)", "c3 pass a3", 0),
        ("vadus(size=3)", "c3 pass a3 b2", 0),
        ("vadus(size=3)", "c3 pass a3 b2 pass", 1),
        ("vadus(size=3)", "c3 pass pass", 1),
        ("laido(size=3)", "c3 swap", 0),
        ("laido(size=3)", "c3 swap pass", 1),
        ("laido(size=3)", "c3 pass", 1),
        ("laido(size=3)", "c3 pass a3", 0),
        ("laido(pie_rule=False,size=3)", "pass", 1),
        ("laido(pie_rule=False,size=3)", "pass pass", 1),
    ],
)
def test_passed_is_set_after_a_pass(game: str, texts: str, expected: int, play: Callable[..., State]) -> None:
    for player in (0, 1):
        assert constant(play(game, texts), player, "passed") == expected


@pytest.mark.parametrize(
    ("game", "texts", "expected"),
    [
        ("vadus(size=3)", "c3", 0),
        ("vadus(size=3)", "c3 a3", 0),
        ("vadus(size=3)", "c3 a3 b2", 1),
        ("vadus(size=3)", "c3 a3 b2 e3", 1),
        ("vadus(size=3)", "c3 pass", 1),
        ("vadus(size=3)", "c3 pass pass", 0),
        ("laido(size=3)", "c3", 0),
        ("laido(size=3)", "c3 a3", 1),
        ("laido(size=3)", "c3 swap", 0),
        ("laido(size=3)", "c3 swap a3", 1),
        ("laido(size=3)", "c3 swap a3 pass pass", 0),
    ],
)
def test_black_to_act_shows_the_color_to_move(game: str, texts: str, expected: int, play: Callable[..., State]) -> None:
    """The color and not the player: after a swap (L1) Black is player 1. It is 0 once the game is over."""
    for player in (0, 1):
        assert constant(play(game, texts), player, "black_to_act") == expected


def test_swap_legal_is_set_when_the_swap_is(play: Callable[..., State]) -> None:
    for texts, expected in (("", 0), ("c3", 1), ("c3 swap", 0), ("c3 swap pass", 0), ("c3 a3", 0), ("c3 pass", 0)):
        for player in (0, 1):
            assert constant(play("laido(size=3)", texts), player, "swap_legal") == expected
    assert constant(play("laido(pie_rule=False,size=3)", "c3"), 1, "swap_legal") == 0
    assert constant(play("laido(pie_rule=False,size=3)", "pass c3"), 0, "swap_legal") == 0


def test_after_a_swap_each_player_sees_the_stones_of_its_new_color_as_its_own(play: Callable[..., State]) -> None:
    """L1."""
    before = play("laido(size=3)", "c3")
    assert cells_set(before, 0, "own_stones") == {"c3"}
    assert cells_set(before, 1, "opponent_stones") == {"c3"}
    state = play("laido(size=3)", "c3 swap a3 e3")
    assert cells_set(state, 0, "own_stones") == {"a3"}
    assert cells_set(state, 0, "opponent_stones") == {"c3", "e3"}
    assert cells_set(state, 1, "own_stones") == {"c3", "e3"}
    assert cells_set(state, 1, "opponent_stones") == {"a3"}


def test_at_the_end_each_player_sees_the_last_position(play: Callable[..., State]) -> None:
    state = play("vadus(size=3)", "c3 a3 b2 pass pass")
    assert state.is_terminal()
    assert cells_set(state, 0, "own_stones") == {"c3"}
    assert cells_set(state, 1, "own_stones") == {"a3", "b2"}
    assert np.array_equal(state.observation_tensor(), state.observation_tensor(0))
