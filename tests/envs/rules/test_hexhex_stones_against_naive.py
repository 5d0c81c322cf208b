"""Random games, compared at every action with a second implementation that shares no code with the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import Game, State, game_names, load_game

#: Games to compare in, the number of random games of each, and the reasons of endings that the sample must contain.
SAMPLES = (
    ("vadus(size=2)", 150, {"groups", "draw"}),
    ("vadus(size=3)", 150, {"groups", "draw"}),
    ("vadus(size=4)", 150, {"groups", "draw"}),
    ("vadus(size=5)", 60, {"groups"}),
    ("vadus(size=9)", 3, set()),
    ("laido(size=2)", 150, {"groups", "hills"}),
    ("laido(pie_rule=False,size=2)", 150, {"groups", "hills", "draw"}),
    ("laido(size=3)", 150, {"groups", "hills"}),
    ("laido(pie_rule=False,size=3)", 150, {"groups", "hills", "draw"}),
    ("laido(size=4)", 150, {"groups", "hills"}),
    ("laido(pie_rule=False,size=4)", 150, {"groups", "hills"}),
    ("laido(size=5)", 60, {"groups"}),
    ("laido(pie_rule=False,size=5)", 60, {"groups"}),
    ("laido(size=9)", 3, set()),
    # test_taigo.py compares more games of Taigo, of players that make holes.
    ("taigo(cones=1,radius=3)", 40, set()),
    ("taugo(size=3)", 80, {"score", "draw"}),
    ("taugo(size=4)", 40, {"score"}),
    ("trugo(radius=2,tiles=9)", 24, set()),
)

#: How often a random player passes or swaps where it can: from never (None: full boards) to mostly (empty ones).
GLOBAL_WEIGHTS = (None, 0.0, 0.02, 0.07, 0.15, 0.3, 0.5, 0.8)


def test_every_game_is_compared() -> None:
    assert {sample[0].split("(")[0] for sample in SAMPLES} == set(game_names())


def compare(state: State, naive: Any) -> None:
    assert {state.action_to_string(action) for action in state.legal_actions()} == set(naive.legal_texts())
    assert (None if state.is_terminal() else state.current_player()) == naive.to_act
    outcome = state.outcome()
    if outcome is None:
        assert naive.result is None
    else:
        result = "truncated" if state.is_truncated() else "draw" if outcome.winner is None else outcome.winner
        assert (result, outcome.reason) == (naive.result, naive.reason)


@pytest.mark.parametrize(
    ("game_string", "num_games", "expected_reasons"), SAMPLES, ids=[sample[0] for sample in SAMPLES]
)
def test_random_games_are_the_same_to_both_implementations(
    game_string: str,
    num_games: int,
    expected_reasons: set[str],
    naive_state: Callable[[Game], Any],
    positions_of_random_game: Callable[..., Any],
) -> None:
    game = load_game(game_string)
    endings: Counter[tuple[str, int | None]] = Counter()
    passes_in_a_row_broken = 0
    for number in range(num_games):
        weight = GLOBAL_WEIGHTS[number % len(GLOBAL_WEIGHTS)]
        naive = naive_state(game)
        for state in positions_of_random_game(game, seed=number, global_weight=weight):
            history = state.history()
            if history:
                naive.play(state.action_to_string(history[-1]))
            compare(state, naive)
            if state.is_terminal() or (number + len(history)) % 9 == 0:
                assert state.score() == naive.score()
        texts = state.serialize().split()
        passes_in_a_row_broken += not {"pass", "end"}.isdisjoint(texts[:-2])
        endings[state.outcome().reason, state.outcome().winner] += 1
    assert sum(endings.values()) == num_games
    assert expected_reasons <= {reason for reason, _ in endings}
    if expected_reasons:
        # The sample is worth something: both players win, and some passes are answered by a stone.
        assert {0, 1} <= {winner for _, winner in endings}
        assert passes_in_a_row_broken > 0
    for reason in expected_reasons - {"draw"}:
        assert {winner for of_reason, winner in endings if of_reason == reason} <= {0, 1}


def test_hills_decide_for_each_player_and_after_swaps_in_the_sample(
    naive_state: Callable[[Game], Any], positions_of_random_game: Callable[..., Any]
) -> None:
    """L5 and L1: small boards, many passes."""
    game = load_game("laido(size=2)")
    seen = set()
    for seed in range(300):
        naive = naive_state(game)
        for state in positions_of_random_game(game, seed=1000 + seed, global_weight=0.5):
            if state.history():
                naive.play(state.action_to_string(state.history()[-1]))
        compare(state, naive)
        outcome = state.outcome()
        if outcome.reason == "hills":
            seen.add((outcome.winner, "swap" in state.serialize().split()))
    assert seen == {(0, False), (0, True), (1, False), (1, True)}


def smallest_connected_subset_with_two_edge_stones(board: Any, group: set[Any]) -> int:
    """V3 to the letter: try all subsets of the group, the small ones first."""
    for size in range(2, len(group) + 1):
        for subset in combinations(sorted(group), size):
            if sum(board.is_edge(stone) for stone in subset) >= 2 and len(board.groups(set(subset))) == 1:
                return size
    return 0


def test_path_length_is_the_smallest_connected_subset_with_two_edge_stones(naive_state: Callable[[Game], Any]) -> None:
    """V3: the naive walk from edge stone to edge stone finds what its wording asks for."""
    board = naive_state(load_game("vadus(size=4)")).board
    rng = np.random.default_rng(3)
    lengths: Counter[int] = Counter()
    for _ in range(150):
        points = sorted(board.points)
        stones = {points[i] for i in rng.choice(len(points), size=14, replace=False)}
        for group in board.groups(stones):
            if len(group) <= 12:
                length = board.path_length(group)
                lengths[length] += 1
                assert length == smallest_connected_subset_with_two_edge_stones(board, group)
    assert {0, 2, 3, 4, 5} <= set(lengths)
