"""The rulings V1 to V6 of Vadus, each on named positions. X is Black, O is White; the top row is drawn first."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from stoneworks.envs.rules import IllegalActionError, Outcome, State, load_game

CELLS_3 = {
    f"{column}{row}"
    for column, rows in {"a": "345", "b": "2345", "c": "12345", "d": "1234", "e": "123"}.items()
    for row in rows
}


def apply_text(state: State, text: str) -> None:
    state.apply_action(state.string_to_action(text))


def test_black_begins_with_one_stone_on_any_point_and_may_not_pass(legal_texts: Callable[..., set[str]]) -> None:
    """V1."""
    for cell in CELLS_3:
        state = load_game("vadus(size=3)").new_initial_state()
        assert state.current_player() == 0
        assert legal_texts(state) == CELLS_3
        with pytest.raises(IllegalActionError, match="pass"):
            apply_text(state, "pass")
        apply_text(state, cell)
        assert state.current_player() == 1, "Black's first turn is over after one stone"
        assert legal_texts(state) == CELLS_3 - {cell} | {"pass"}
    assert state.color_of(0) == 0
    assert state.game.colors == ("Black", "White")


def test_a_later_turn_is_two_stones_one_action_each(
    play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """V2."""
    state = play("vadus(size=3)", "c3")
    for player, first, second in ((1, "a3", "b2"), (0, "e3", "d4"), (1, "a5", "e1")):
        taken = set(state.serialize().split())
        assert state.current_player() == player
        assert legal_texts(state) == CELLS_3 - taken | {"pass"}
        apply_text(state, first)
        assert state.current_player() == player, "the same player places the second stone"
        assert legal_texts(state) == CELLS_3 - taken - {first}, "no pass between the stones of a turn"
        apply_text(state, second)


def test_a_pass_after_the_first_stone_of_a_turn_is_illegal_and_changes_nothing(play: Callable[..., State]) -> None:
    """V2."""
    state = play("vadus(size=3)", "c3 a3")
    before = state.clone()
    with pytest.raises(IllegalActionError, match="pass"):
        apply_text(state, "pass")
    assert state == before
    assert state.current_player() == 1


def test_a_pass_replaces_both_stones(play: Callable[..., State], legal_texts: Callable[..., set[str]]) -> None:
    """V2."""
    state = play("vadus(size=3)", "c3 pass")
    assert state.current_player() == 0
    apply_text(state, "a3")
    assert state.current_player() == 0
    assert "pass" not in legal_texts(state)
    apply_text(state, "b2")
    assert state.current_player() == 1
    assert "pass" in legal_texts(state)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_number_of_empty_points_is_even_at_the_start_of_a_later_turn(
    size: int, positions_of_random_game: Callable[..., Any]
) -> None:
    """V2: so that the second stone always has a place."""
    for seed in range(5):
        states = [state.clone() for state in positions_of_random_game(load_game("vadus", size=size), seed)]
        for before, state in pairwise(states):
            starts_turn = state.current_player() != before.current_player()
            num_empty = int((state.record["stones"] == 0).sum())
            assert not starts_turn or num_empty % 2 == 0
            if not starts_turn:
                assert num_empty % 2 == 1, "between two stones of a turn one point at least is left"


BLACK_ALONE = {
    "a single stone at the edge has no path": (
        """
           . . X .
          . . . . .
         . . . . . .
        . . . . . . .
         . . . . . .
          . . . . .
           . . . .
        """,
        [-1],
    ),
    "a single stone inside has no path": (
        """
           . . . .
          . . . . .
         . . . . . .
        . . . X . . .
         . . . . . .
          . . . . .
           . . . .
        """,
        [-1],
    ),
    "stones that do not touch are groups of their own": (
        """
           X . X .
          . . . . .
         . . . . . .
        . . . . . . .
         . . . . . .
          . X . . .
           . . . .
        """,
        [-1, -1, -1],
    ),
    "one edge stone is no path, however long the group": (
        """
           . . . .
          . . . . .
         . . . . . .
        X X X X X . .
         . . . . . .
          . . . . .
           . . . .
        """,
        [-5],
    ),
    "two adjacent edge stones give L = 2 for their whole group": (
        """
           X X . .
          . X . . .
         . . X . . .
        . . . X . . .
         . . . . . .
          . . . . .
           . . . .
        """,
        [2 - 3],
    ),
    "two adjacent edge stones give L = 2 even to a wall from edge to edge": (
        """
           . . . .
          . . . . .
         X . . . . .
        X X X X X X X
         . . . . . .
          . . . X .
           . . . .
        """,
        [-1, 2 - 6],
    ),
    "a long wall counts all its stones": (
        """
           . . . .
          . . . . .
         . . . . . .
        X X X X X X X
         . . . . . .
          . . . . .
           . . . .
        """,
        [7],
    ),
    "stones beside the wall count against it": (
        """
           . . . .
          . . . . .
         . . X X . .
        X X X X X X X
         . . . . . .
          . . . . .
           . . . .
        """,
        [7 - 2],
    ),
    "a wall with a detour is longer": (
        """
           . . . .
          . . . . .
         . . X X . .
        X X X . X X X
         . . . . . .
          . . . . .
           . X . .
        """,
        [8, -1],
    ),
    "a wall with a shortcut counts the shortcut": (
        """
           . . . .
          . . . . .
         . . X X . .
        X X X X X X X
         . . . . . .
          . . . . .
           X X . .
        """,
        [7 - 2, 2],
    ),
    "of two ways of equal length one counts and the other is surplus": (
        """
           . . . .
          . . . . .
         . . X X . .
        X X X . X X X
         . . X X . .
          . . . . .
           . . . X
        """,
        [8 - 2, -1],
    ),
    "the two nearest edge stones count, not the farthest": (
        """
           . . . .
          . . . . .
         X . . . . .
        . X X X X X X
         X . . . . .
          . . . . .
           . . . X
        """,
        [-1, 3 - 5],
    ),
    "a star of three arms counts two of them": (
        """
           X . . .
          . X . . .
         . . X . . .
        . . . X X X X
         . . X . . .
          . X . . .
           X . X .
        """,
        [7 - 3, -1],
    ),
    "a ring without edge stones has no path": (
        """
           . . . .
          . . . . .
         . . X X . .
        . . X . X . .
         . . X X . .
          . . . . .
           X . . .
        """,
        [-1, -6],
    ),
    "the ring of all edge points has L = 2": (
        """
           X X X X
          X . . . X
         X . . . . X
        X . . X . . X
         X . . . . X
          X . . . X
           X X X X
        """,
        [-1, 2 - 16],
    ),
    "points a knight's step apart, at (+1, +1) or (+2, -1), do not touch": (
        """
           . . . .
          . . . . .
         . . . X X X
        X X X . . . .
         . . . . . .
          . . X . .
           . . . .
        """,
        [-1, -3, -3],
    ),
    "on the smallest board every point but the center is an edge point": (
        """
          X .
         . X .
          . X
        """,
        [3],
    ),
    "a full smallest board has L = 2": (
        """
          X X
         X X X
          X X
        """,
        [2 - 5],
    ),
}


@pytest.mark.parametrize(("drawing", "values"), BLACK_ALONE.values(), ids=BLACK_ALONE.keys())
def test_group_values_of_black(drawing: str, values: list[int], drawn: Callable[..., State]) -> None:
    """V3 and V4: L is the path length, n the size of the group, 2L - n its value."""
    state = drawn("vadus", drawing)
    assert state.score() == (values, [])


def test_a_path_does_not_run_through_the_other_color(drawn: Callable[..., State]) -> None:
    """V3."""
    state = drawn(
        "vadus",
        """
           . . . .
          . . . . .
         . . X . . .
        X X X O X X X
         . . . . . .
          . . O . .
           . . . .
        """,
    )
    assert state.score() == ([-3, -4], [-1, -1])


def test_the_value_of_a_group_of_white_is_counted_alike(drawn: Callable[..., State]) -> None:
    """V4."""
    state = drawn(
        "vadus",
        """
           . O X .
          . O . . .
         . . O . . .
        . . O . . . .
         . . O O . .
          . . O . .
           . . O .
        """,
    )
    assert state.score() == ([-1], [7 - 1])


def test_the_game_ends_when_both_players_pass_one_after_the_other(play: Callable[..., State]) -> None:
    """V5."""
    assert not play("vadus(size=3)", "c3 pass").is_terminal()
    assert play("vadus(size=3)", "c3 pass pass").is_terminal()
    assert play("vadus(size=3)", "c3 a3 b2 pass pass").is_terminal()


def test_passes_with_stones_between_them_do_not_end_the_game(
    play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """V5: two turns in a row, one of each player, must both be passes."""
    state = play("vadus(size=3)", "c3 pass a3 b2 pass d3 d4 a5 b5 pass")
    assert not state.is_terminal()
    assert state.current_player() == 1
    assert state.outcome() is None
    apply_text(state, "pass")
    assert state.is_terminal()
    assert legal_texts(state) == set()


def test_on_a_full_board_passing_is_the_only_action(
    play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """V5."""
    state = play("vadus(size=2)", "b2 a2 a3 b1 c1 b3 c2")
    assert not state.is_terminal()
    assert legal_texts(state) == {"pass"}
    apply_text(state, "pass")
    assert not state.is_terminal()
    assert legal_texts(state) == {"pass"}
    apply_text(state, "pass")
    assert state.is_terminal()


ENDS = {
    "black has the best group": (
        """
          O . O
         . . . .
        X X X X X
         . . . .
          O . O
        """,
        ([5], [-1, -1, -1, -1]),
        Outcome(0, "groups"),
    ),
    "white has the best group": (
        """
          . O .
         . . . .
        O O O O O
         . . . .
          . X .
        """,
        ([-1], [5, -1]),
        Outcome(1, "groups"),
    ),
    "the first rank that differs decides, whatever comes after it": (
        """
          . X O
         X X . O
        O . . . X
         O . . .
          X O O
        """,
        ([3, -1, -1], [2, 2, 2]),
        Outcome(0, "groups"),
    ),
    "where the best groups are equal the next ones decide": (
        """
          X X .
         . . . .
        . . X . O
         . . . O
          O O .
        """,
        ([2, -1], [2, 2]),
        Outcome(1, "groups"),
    ),
    "a value of 0 is better than a value of -1": (
        """
          X X .
         . X . .
        . . X . X
         . . . .
          O . O
        """,
        ([0, -1], [-1, -1]),
        Outcome(0, "groups"),
    ),
    "groups past the shorter list do not count, for white": (
        """
          . X .
         X X . .
        O . . . .
         . . O O
          . O .
        """,
        ([3], [3, -1]),
        Outcome(None, "draw"),
    ),
    "groups past the shorter list do not count, for black": (
        """
          X X .
         . . . .
        . . X . .
         . . . .
          O O .
        """,
        ([2, -1], [2]),
        Outcome(None, "draw"),
    ),
    "where one player has no group nothing is compared": (
        """
          . . .
         . . . .
        . . X . .
         . . . .
          . . .
        """,
        ([-1], []),
        Outcome(None, "draw"),
    ),
}


@pytest.mark.parametrize(("drawing", "score", "outcome"), ENDS.values(), ids=ENDS.keys())
def test_groups_are_compared_rank_by_rank(
    drawing: str,
    score: tuple[list[int], list[int]],
    outcome: Outcome,
    drawn: Callable[..., State],
    passed_out: Callable[..., State],
) -> None:
    """V6: the first rank at which both have a group and the values differ decides; else it is a draw."""
    state = drawn("vadus", drawing)
    assert state.outcome() is None
    assert state.returns() == [0.0, 0.0]
    passed_out(state)
    assert state.score() == score
    assert state.outcome() == outcome
    assert state.returns() == {0: [1.0, -1.0], 1: [-1.0, 1.0], None: [0.0, 0.0]}[outcome.winner]


def test_a_draw_needs_lists_of_different_lengths(positions_of_random_game: Callable[..., Any]) -> None:
    """V6: Black's stones are odd in number and White's even, so values that pair off wholly would not add up."""
    draws = 0
    for seed in range(200):
        *_, state = positions_of_random_game(load_game("vadus(size=3)"), seed, 0.4)
        if state.outcome() == (None, "draw"):
            draws += 1
            black, white = state.score()
            assert len(black) != len(white)
    assert draws > 10
