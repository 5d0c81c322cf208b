"""Taugo: the rulings T1 to T9, each on a named position, and whole games against a second implementation."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from stoneworks.envs.rules import State, load_game


def _load_beside(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NaiveTaugo = _load_beside("naive_taugo").NaiveTaugo


def legal(state: State) -> set[str]:
    return set(map(state.action_to_string, state.legal_actions()))


def play(state: State, texts: str) -> State:
    for text in texts.split():
        state.apply_action(state.string_to_action(text))
    return state


# -- Whole games, compared at every action -----------------------------------------------------------------------------


class Style:
    """How the players of a random game choose: the weight of each kind of action."""

    def __init__(self, name: str, *, end: float, start: float, alone: float, further: float, cut: float) -> None:
        self.name = name
        self.weights = {"end": end, "start": start, "alone": alone, "further": further, "cut": cut}

    def choose(self, generator: random.Random, game: NaiveTaugo, texts: list[str]) -> str:  # type: ignore[valid-type]
        def weight(text: str) -> float:
            if text == "end":
                return self.weights["end"]
            if text[0].isupper():
                return self.weights["cut"]
            if game.last is not None:  # type: ignore[attr-defined]
                return self.weights["further"]
            alone = not game.friends(game.point(text), game.to_act)  # type: ignore[attr-defined]
            return self.weights["alone" if alone else "start"]

        return generator.choices(texts, [weight(text) for text in texts])[0]


UNIFORM = Style("uniform", end=1, start=1, alone=1, further=1, cut=1)
FILLS_THE_BOARD = Style("fills the board", end=0.01, start=1, alone=1, further=1, cut=1)
CUTS = Style("cuts", end=0.01, start=3, alone=0.3, further=1, cut=50)
LONG_LINES = Style("long lines", end=0.01, start=50, alone=1, further=200, cut=20)


def compare_game(size: int, style: Style, seed: int) -> dict[str, int]:
    """Play a random game with both implementations, compare them at every action, and count what happened."""
    generator = random.Random(f"{size} {style.name} {seed}")
    state = load_game("taugo", size=size).new_initial_state()
    naive = NaiveTaugo(size)
    seen = {"cuts": 0, "edge": 0, "longest run": 0, "longest line": 0, "ended by itself": 0, "stopped": 0}
    line = 0
    while naive.result is None:
        texts = legal(state)
        assert texts == naive.legal_texts(), str(state)
        assert state.score() == tuple(naive.score)
        text = style.choose(generator, naive, sorted(texts))
        mover, line_before = naive.to_act, naive.last
        if text[0].isupper():
            seen["cuts"] += 1
            seen["edge"] += naive.point(text[1:]) in naive.edge_points
            seen["longest run"] = max(seen["longest run"], len(naive.run_behind(naive.point(text[1:]), text[0])[0]))
        play(state, text)
        naive.play(text)
        line = line + 1 if line_before is not None and text != "end" else 1
        seen["longest line"] = max(seen["longest line"], line)
        seen["stopped"] += line_before is not None and text == "end"
        seen["ended by itself"] += line > 1 and naive.to_act != mover
        if naive.result is None:
            assert state.current_player() == naive.to_act, str(state)
    outcome = state.outcome()
    assert outcome is not None
    assert outcome.winner == (None if naive.result == "draw" else naive.result)
    assert outcome.reason == ("draw" if naive.result == "draw" else "score")
    assert state.score() == tuple(naive.score)
    assert not state.legal_actions()
    assert len(state.history()) <= state.game.max_game_length()
    for colour in (0, 1):
        for string in naive.strings(colour):
            cells = [state.game.grid.cell_index(naive.name(point)) for point in string]
            assert {int(state.record["strings"][cell]) for cell in cells} == {min(cells)}
    return seen


@pytest.mark.parametrize("style", [UNIFORM, FILLS_THE_BOARD, CUTS, LONG_LINES], ids=lambda style: style.name)
@pytest.mark.parametrize(("size", "num_games"), [(3, 12), (4, 12), (5, 10), (6, 8), (7, 5), (8, 4)])
def test_small_games_agree_with_the_naive_implementation(size: int, num_games: int, style: Style) -> None:
    for seed in range(num_games):
        compare_game(size, style, seed)


@pytest.mark.parametrize("style", [FILLS_THE_BOARD, CUTS, LONG_LINES], ids=lambda style: style.name)
def test_a_game_at_the_usual_size_agrees_with_the_naive_implementation(style: Style) -> None:
    seen = compare_game(16, style, 0)
    print(seen)


def test_the_compared_games_hold_cuts_long_lines_and_both_ends_of_a_turn() -> None:
    """Uniform play hardly cuts: without this the comparison could be empty where it matters."""
    seen = compare_game(8, CUTS, 0)
    assert seen["cuts"] > 20
    assert seen["edge"] > 3
    assert seen["longest run"] >= 2
    seen = compare_game(8, LONG_LINES, 0)
    assert seen["longest line"] >= 6
    assert seen["ended by itself"] > 3
    seen = compare_game(8, UNIFORM, 0)
    assert seen["stopped"] > 1
    print(seen)
