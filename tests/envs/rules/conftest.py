"""What the tests of the rules share: the sample of games, random play, drawn positions, the naive implementations.

A new game joins most tests by the samples of its entry in the registry, and by a file ``naive_<game>.py`` beside this one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.games import GAMES

HERE = Path(__file__).resolve().parent

#: The games and options that every property test runs on: small boards, each option at least once at each value.
SAMPLES = tuple(sample for entry in GAMES.loadable() for sample in entry.samples)


def read_test_data(name: str) -> list[dict[str, Any]]:
    """Return the lines of a file of tests/testdata."""
    return [json.loads(line) for line in (HERE.parents[1] / "testdata" / name).read_text(encoding="utf-8").splitlines()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test one run per line of the test data, or per game that can be exhausted, by the name of its argument."""
    if "exhaustible_game" in metafunc.fixturenames:
        facts = json.loads((HERE.parents[1] / "testdata" / "games.json").read_text(encoding="utf-8"))
        metafunc.parametrize(
            "exhaustible_game", [game for of_game in facts.values() for game in of_game["exhaustible"]]
        )
    for argument, name in (("game_record", "records.jsonl"), ("perft_line", "perft.jsonl")):
        if argument in metafunc.fixturenames:
            lines = read_test_data(name)
            metafunc.parametrize(argument, lines, ids=[f"{line['game']}-{number}" for number, line in enumerate(lines)])


@pytest.fixture(scope="session")
def perft_games() -> set[str]:
    """The names of the games that perft.jsonl holds."""
    return {line["game"].split("(")[0] for line in read_test_data("perft.jsonl")}


@pytest.fixture(scope="session")
def record_games() -> set[str]:
    """The names of the games that records.jsonl holds."""
    return {line["game"].split("(")[0] for line in read_test_data("records.jsonl")}


@pytest.fixture(params=SAMPLES)
def game(request: pytest.FixtureRequest) -> Game:
    """Each game of the sample in turn."""
    return load_game(request.param)


@pytest.fixture(scope="session")
def sampled_games() -> tuple[str, ...]:
    """The game strings of the sample."""
    return SAMPLES


# -- Playing -----------------------------------------------------------------------------------------------------------


def choose_action(state: State, rng: np.random.Generator, global_weight: float | None) -> int:
    """Return a random legal action.

    With probability ``global_weight`` it is a global action, where one is legal; with None only where no other is.
    """
    legal = state.legal_actions()
    first_global = state.game.num_actions - len(state.game.global_actions)
    special = [action for action in legal if action >= first_global]
    if global_weight is None:
        legal = [action for action in legal if action < first_global] or legal
    elif special and rng.random() < global_weight:
        legal = special
    return int(rng.choice(legal))


@pytest.fixture(scope="session")
def positions_of_random_game() -> Callable[..., Iterator[State]]:
    """``positions_of_random_game(game, seed, global_weight)`` yields one state after each action, the start first."""

    def positions(game: Game, seed: int, global_weight: float | None = 0.1) -> Iterator[State]:
        rng = np.random.default_rng(seed)
        state = game.new_initial_state()
        yield state
        while not state.is_terminal():
            state.apply_action(choose_action(state, rng, global_weight))
            yield state

    return positions


@pytest.fixture(scope="session")
def play() -> Callable[..., State]:
    """``play("vadus(size=3)", "c3 a3 b2")`` returns the state after those actions."""

    def play_texts(game: str, texts: str = "") -> State:
        state = load_game(game).new_initial_state()
        for text in texts.split():
            state.apply_action(state.string_to_action(text))
        return state

    return play_texts


@pytest.fixture(scope="session")
def legal_texts() -> Callable[[State], set[str]]:
    """``legal_texts(state)``: the texts of the legal actions."""

    def texts(state: State) -> set[str]:
        return {state.action_to_string(action) for action in state.legal_actions()}

    return texts


# -- Drawn positions on a hexhex board ---------------------------------------------------------------------------------


def cells_of_drawing(drawing: str) -> dict[str, str]:
    """Return the symbol of each cell, by name, of a hexhex board drawn with its top row first."""
    rows = [line.split() for line in drawing.strip().splitlines()]
    size = len(rows[0])
    assert [len(row) for row in rows] == [2 * size - 1 - abs(size - 1 - i) for i in range(2 * size - 1)], "not a hexhex"
    symbols = {}
    for row_number, row in enumerate(reversed(rows), start=1):
        first_column = max(0, size - row_number)
        for column, symbol in enumerate(row, start=first_column):
            assert symbol in ".XO"
            symbols[f"{'abcdefghijklmnopqrstuvwxyz'[column]}{row_number}"] = symbol
    return symbols


@pytest.fixture(scope="session")
def drawn() -> Callable[[str, str], State]:
    """``drawn("vadus", drawing)`` plays to a drawn position: X is Black, O is White, the top row first.

    Who has no stones left to place passes; no two passes follow each other. Vadus needs an odd number of X and an
    even number of O.
    """

    def play_to(game: str, drawing: str) -> State:
        symbols = cells_of_drawing(drawing)
        size = len(drawing.strip().splitlines()[0].split())
        name, _, options = game.rstrip(")").partition("(")
        state = load_game(f"{name}({options}{',' if options else ''}size={size})").new_initial_state()
        stones = {symbol: [cell for cell, found in symbols.items() if found == symbol] for symbol in "XO"}
        stones_of_turn = 2 if name == "vadus" else 1
        in_this_turn = 1
        for turn in range(1000):
            if not any(stones.values()):
                break
            waiting = stones["XO"[turn % 2]]
            texts = [waiting.pop() for _ in range(in_this_turn)] if waiting else ["pass"]
            in_this_turn = stones_of_turn
            for text in texts:
                state.apply_action(state.string_to_action(text))
        assert not state.is_terminal()
        on_board = {
            name: ".XO"[int(state.record["stones"][cell])]
            for name, cell in ((name, state.game.grid.cell_index(name)) for name in symbols)
        }
        assert on_board == symbols
        return state

    return play_to


@pytest.fixture(scope="session")
def passed_out() -> Callable[[State], State]:
    """``passed_out(state)``: the same state after passes until the game is over."""

    def pass_until_over(state: State) -> State:
        while not state.is_terminal():
            state.apply_action(state.string_to_action("pass"))
        return state

    return pass_until_over


# -- The naive implementations -----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def naive_state(load_module: Callable[[str, Path], ModuleType]) -> Callable[[Game], Any]:
    """``naive_state(game)``: the start of a game as a ``naive_*.py`` plays it (see ``naive_vadus_laido.py``)."""
    makers: dict[str, Callable[..., Any]] = {}
    for path in sorted(HERE.glob("naive_*.py")):
        makers.update(load_module(path.stem, path).NAIVE_GAMES)

    def start(game: Game) -> Any:
        return makers[game.name](**game.options)

    return start
