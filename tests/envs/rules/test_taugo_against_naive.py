"""Taugo in random games that prefer cuts and long lines, compared at every action with the naive implementation.

Uniform random play rarely cuts, so it would hardly cover T5 to T7.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from stoneworks.envs.rules import Game, State, load_game

#: How players choose: the weight of each kind of action.
STYLES = {
    "fills the board": {"end": 0.01, "alone": 1, "start": 1, "further": 1, "cut": 1, "cut to the edge": 1},
    "cuts": {"end": 0.05, "alone": 0.3, "start": 3, "further": 1, "cut": 50, "cut to the edge": 50},
    "cuts inside": {"end": 0.3, "alone": 1, "start": 1, "further": 1, "cut": 200, "cut to the edge": 0.02},
    "long lines": {"end": 0.01, "alone": 1, "start": 50, "further": 200, "cut": 20, "cut to the edge": 20},
}

LegalTexts = Callable[[State], set[str]]


def kind_of_action(naive: Any, text: str) -> str:
    if text == "end":
        return "end"
    if text[0].isupper():
        return "cut to the edge" if naive.point(text[1:]) in naive.edge_points else "cut"
    if naive.last is not None:
        return "further"
    return "start" if naive.friends(naive.point(text), naive.to_act) else "alone"


def assert_same(state: State, naive: Any, legal_texts: LegalTexts) -> None:
    assert legal_texts(state) == naive.legal_texts(), str(state)
    assert (None if state.is_terminal() else state.current_player()) == naive.to_act, str(state)
    assert state.score() == naive.score()
    assert (state.record["last_stone"] != -1) == (naive.last is not None)
    outcome = state.outcome()
    assert (outcome and outcome.reason) == naive.reason
    assert (outcome and outcome.winner) == (None if naive.result == "draw" else naive.result)


def assert_labels_are_those_of_the_strings(state: State, naive: Any) -> None:
    """The labels, and the row words, are a function of the stones: equal positions are equal records."""
    record, grid = state.record, state.game.grid
    labels = {}
    for color in (0, 1):
        for string in naive.strings(color):
            cells = [grid.cell_index(naive.name(point)) for point in string]
            labels.update(dict.fromkeys(cells, min(cells)))
        words = [
            sum(1 << x for x, y in naive.stones if y == row and naive.stones[x, y] == color)
            for row in range(grid.height)
        ]
        assert record["rows"][color].tolist() == [0, *words, *[0] * (record["rows"].shape[1] - len(words) - 1)]
    assert {cell: int(label) for cell, label in enumerate(record["strings"]) if label != 0xFFFF} == labels


def compare_game(naive: Any, style: str, seed: int, legal_texts: LegalTexts, every: int = 1) -> Counter[str]:
    """Play a random game with both implementations, compare them ``every`` so many actions, and count what was played."""
    generator = random.Random(seed)
    state = load_game("taugo", size=naive.size).new_initial_state()
    played: Counter[str] = Counter()
    while naive.result is None:
        if state.move_number() % every == 0:
            assert_same(state, naive, legal_texts)
            assert_labels_are_those_of_the_strings(state, naive)
        texts = sorted(legal_texts(state))
        text = generator.choices(texts, [STYLES[style][kind_of_action(naive, text)] for text in texts])[0]
        kind, mover, in_line = kind_of_action(naive, text), naive.to_act, naive.last is not None
        played[kind] += 1
        played["stop" if in_line else "pass"] += kind == "end"
        if kind.startswith("cut"):
            played["flips"] += len(naive.run_behind(naive.point(text[1:]), text[0])[0])
        state.apply_action(state.string_to_action(text))
        naive.play(text)
        played["turn ended by itself"] += kind not in ("end", "alone") and naive.to_act != mover
    assert_same(state, naive, legal_texts)
    assert state.move_number() <= state.game.max_game_length()
    return played


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("size", "num_games"), [(3, 15), (4, 12), (6, 8), (7, 5)])
def test_games_with_cuts_and_long_lines_agree_with_the_naive_implementation(
    size: int, num_games: int, style: str, naive_state: Callable[[Game], Any], legal_texts: LegalTexts
) -> None:
    game = load_game("taugo", size=size)
    played: Counter[str] = Counter()
    for seed in range(num_games):
        played += compare_game(naive_state(game), style, seed, legal_texts)
    assert min(played[kind] for kind in ("alone", "start", "further", "turn ended by itself")) > num_games
    if size > 5:
        cuts = played["cut"] + played["cut to the edge"]
        assert played["cut"] > (num_games if style.startswith("cuts") else 0)
        assert played["flips"] > cuts, "some run had two stones or more"
    if style == "cuts inside":
        assert played["stop"] > num_games / 2


@pytest.mark.slow
@pytest.mark.parametrize("style", ["cuts", "cuts inside", "long lines"])
def test_games_of_the_usual_size_agree_with_the_naive_implementation(
    style: str, naive_state: Callable[[Game], Any], legal_texts: LegalTexts
) -> None:
    played = compare_game(naive_state(load_game("taugo")), style, 0, legal_texts)
    assert played["cut"] > 5
    assert played["flips"] > 30


@pytest.mark.slow
def test_a_game_on_the_largest_board_agrees_with_the_naive_implementation(
    naive_state: Callable[[Game], Any], legal_texts: LegalTexts
) -> None:
    """Its cells do not fit in records of the usual size."""
    played = compare_game(naive_state(load_game("taugo(size=24)")), "long lines", 0, legal_texts, every=11)
    assert played["flips"] > 50


def scatter_stones(naive: Any, generator: random.Random) -> None:
    """Put stones at random on most points, edge points with a stone beside them included; no knots."""
    of_black = generator.uniform(0.2, 0.8)
    density = generator.uniform(0.5, 0.9)
    points = sorted(naive.intersections) + sorted(naive.edge_points)
    generator.shuffle(points)
    for point in sorted(points, key=lambda point: point in naive.edge_points):
        beside_stone = any(other in naive.stones for other in naive.neighbors(point))
        if generator.random() < density and (beside_stone or point in naive.intersections):
            naive.to_act = int(generator.random() > of_black)
            if not naive.makes_knot({point}):
                naive.stones[point] = naive.to_act


def state_of(naive: Any) -> State:
    """Return the position of the naive implementation as a state, written into a record."""
    game = load_game("taugo", size=naive.size)
    grid = game.grid
    record = game.new_initial_state().record
    record["current_player"] = naive.to_act
    for (column, row), color in naive.stones.items():
        record["stones"][row * grid.width + column] = color + 1
        record["rows"][color][row + 1] |= 1 << column
    for color in (0, 1):
        for string in naive.strings(color):
            cells = [row * grid.width + column for column, row in string]
            record["strings"][cells] = min(cells)
    if naive.last is not None:
        record["last_stone"] = naive.last[1] * grid.width + naive.last[0]
        record["direction"] = -1 if naive.heading is None else "NESW".index(naive.heading)
    return State.from_record(game, record, trusted=True)


@pytest.mark.parametrize(("size", "num_positions"), [(3, 60), (4, 80), (5, 80), (6, 50)])
def test_scattered_stones_allow_the_same_actions_and_one_of_them_leads_to_the_same_position(
    size: int, num_positions: int, naive_state: Callable[[Game], Any], legal_texts: LegalTexts
) -> None:
    """At the start of a turn, and as if each stone of the player to move were the last one of a line."""
    generator = random.Random(size)
    num_cuts: Counter[bool] = Counter()
    for _ in range(num_positions):
        start = naive_state(load_game("taugo", size=size))
        scatter_stones(start, generator)
        start.to_act = generator.randrange(2)
        own = sorted(point for point in start.intersections if start.stones.get(point) == start.to_act)
        for last in [None, *own]:
            naive = copy.deepcopy(start)
            naive.last = last
            naive.heading = generator.choice([None, None, None, *"NESW"]) if last else None
            state = state_of(naive)
            texts = legal_texts(state)
            assert texts == naive.legal_texts(), str(state)
            cuts = sorted(text for text in texts if text[0].isupper())
            num_cuts[last is not None] += len(cuts)
            if last is not None and not cuts:
                continue
            text = generator.choice(cuts or sorted(texts))
            state.apply_action(state.string_to_action(text))
            naive.play(text)
            assert_same(state, naive, legal_texts)
            assert_labels_are_those_of_the_strings(state, naive)
    assert num_cuts[False] > num_positions / 20
    assert num_cuts[True] > num_positions / 20


def drawn_with_edge_points(naive: Any, drawing: str) -> None:
    """Put the stones of a drawing of the whole grid, # for its corners, the top row first."""
    for row, line in enumerate(reversed(drawing.split())):
        for column, symbol in enumerate(line):
            if symbol in "XO":
                naive.stones[column, row] = "XO".index(symbol)


@pytest.mark.parametrize("last", [None, (1, 1)])
def test_two_edge_stones_beside_a_run_make_no_knot(
    last: tuple[int, int] | None, naive_state: Callable[[Game], Any], legal_texts: LegalTexts
) -> None:
    """T3: the cut Nb6 flips b3 and b4 beside a3 and a4."""
    naive = naive_state(load_game("taugo(size=5)"))
    drawn_with_edge_points(naive, "#.....# ....... .OO.... XO..... XOO.... .X..... #.....#")
    naive.last = last
    state = state_of(naive)
    assert "Nb6" in legal_texts(state)
    assert legal_texts(state) == naive.legal_texts()


def test_there_is_no_cut_along_edge_points(naive_state: Callable[[Game], Any], legal_texts: LegalTexts) -> None:
    """T1, T7: a3, a4, a5 and a6 are no line; only a6 by way of b6 could be cut to."""
    naive = naive_state(load_game("taugo(size=5)"))
    drawn_with_edge_points(naive, "#.....# .O..... OO..... OO..... XX..... ....... #.....#")
    state = state_of(naive)
    assert "Na6" not in legal_texts(state)
    assert legal_texts(state) == naive.legal_texts()
