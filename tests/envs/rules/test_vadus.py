"""What rulings of Vadus imply for every game; the rulings themselves are in tests/testdata/rulings.yaml."""

from __future__ import annotations

from itertools import pairwise

import pytest

from game_play import random_game
from stoneworks.envs.rules import load_game


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_number_of_empty_points_is_even_at_the_start_of_a_later_turn(size: int) -> None:
    """V2: so that the second stone always has a place."""
    for seed in range(5):
        states = [state.clone() for state in random_game(load_game("vadus", size=size), seed)]
        for before, state in pairwise(states):
            starts_turn = state.current_player() != before.current_player()
            assert int((state.record["stones"] == 0).sum()) % 2 == (not starts_turn)


def test_a_draw_needs_lists_of_different_lengths() -> None:
    """V6: Black's stones are odd in number and White's even, so values that pair off wholly would not add up."""
    draws = 0
    for seed in range(100):
        *_, state = random_game(load_game("vadus(size=3)"), seed, 0.4)
        if state.outcome() == (None, "draw"):
            draws += 1
            black, white = state.score()
            assert len(black) != len(white)
    assert draws > 5
