"""What the tests of the rules share: the sample of games, random play, the naive implementations.

A new game joins most tests by the samples of its entry in the registry, and by a file ``naive_<game>.py`` beside this one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.games import GAMES
from stoneworks.envs.rules.trugo.plane import plane_hexes

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


def corner_codes(stack: list[int] | None, is_junction: bool) -> int:
    if not is_junction:
        return 0
    if not stack:
        return 1
    return 2 + stack[0] if len(stack) == 1 else 4 + 2 * stack[0] + stack[1]


def record_of_trugo(game: Game, naive: Any) -> np.void:
    """Return the record of the position that the naive implementation is in."""
    radius = game.options["radius"]
    hexes = plane_hexes(radius)

    def hex_of(corner_or_hex: tuple[Any, ...]) -> int:
        return int(hexes[(corner_or_hex[1] + radius) * game.grid.width + corner_or_hex[0] + radius])

    def bits(members: Iterable[tuple[int, int]]) -> np.ndarray[Any, Any]:
        words = [0] * len(record["tiles"])
        for member in members:
            words[hex_of(member) // 64] |= 1 << hex_of(member) % 64
        return np.array(words, np.uint64)

    record = np.zeros(1, game.state_dtype)[0]
    record["game_tag"] = game.record_tag
    over = naive.result is not None
    record["current_player"] = -4 if over else naive.to_act
    record["winner"] = naive.result if naive.result in (0, 1) else -1
    record["ending"] = {None: 0, "pieces": 1, "max_turns": 2}[naive.reason]
    record["truncated"] = naive.result == "truncated"
    record["turns"] = naive.turns
    record["picked"] = -1 if naive.picked is None else 2 * hex_of(naive.picked) + (naive.picked[2] == "v")
    record["pool"] = naive.pool
    record["reserve"] = naive.reserve
    on_board = Counter(color for stack in naive.stacks.values() for color in stack)
    record["num_pieces"] = [on_board[0], on_board[1]]
    record["tiles"] = bits(naive.tiles)
    if naive.pool:
        beside = {at for tile in naive.tiles for at in naive.neighbors(tile)} or {(0, 0)}
        record["targets"] = bits(beside & naive.window - set(naive.tiles))
    else:
        record["targets"] = bits(at for at in naive.tiles if naive.is_removable(at))
    for at, rotation in naive.tiles.items():
        codes = [corner_codes(naive.stacks.get((*at, kind)), naive.is_junction((*at, kind))) for kind in "^v"]
        record["contents"][hex_of(at)] = 1 + rotation | codes[0] << 2 | codes[1] << 5
    return record


@pytest.fixture(scope="session")
def trugo_record() -> Callable[[Game, Any], np.void]:
    """``trugo_record(game, naive)``: the record of the position that the naive implementation is in."""
    return record_of_trugo


@pytest.fixture(scope="session")
def trugo_position(naive_state: Callable[[Game], Any]) -> Callable[..., tuple[State, Any]]:
    """``trugo_position(game, tiles, pieces, ...)``: a position of any tiles and pieces, waning without a pool, in both.

    Tiles are names, in rotation 0, or names with rotations: ``"e5 e6/1"``; ``DISC`` is those at most two steps from e5.
    """

    def make(
        game: str,
        tiles: str,
        pieces: dict[str, str] | None = None,
        to_move: int = 0,
        pool: int = 0,
        reserve: Any = (0, 0),
    ) -> tuple[State, Any]:
        disc = "e3 f3 g3 d4 e4 f4 g4 c5 d5 e5 f5 g5 c6 d6 e6 f6 c7 d7 e7"
        rotations = dict((*tile.split("/"), 0)[:2] for tile in tiles.replace("DISC", disc).split())
        name, _, options = game.rstrip(")").partition("(")
        given = [] if "radius" in options else ["radius=4"]
        text = ",".join([*filter(None, [options]), *given, f"tiles={len(rotations) + pool}"])
        loaded = load_game(f"{name}({text})")
        naive = naive_state(loaded)
        naive.pool, naive.reserve, naive.to_act, naive.turns = pool, list(reserve), to_move, len(rotations)
        naive.tiles = {naive.hex_of[name]: int(rotation) for name, rotation in rotations.items()}
        naive.stacks = {
            naive.corner_from(name): ["XO".index(piece) for piece in reversed(stack)]
            for name, stack in (pieces or {}).items()
        }
        assert all(map(naive.is_junction, naive.stacks)), "a piece stands on no junction"
        assert not naive.surrounded_groups(0) + naive.surrounded_groups(1), "a group is surrounded already"
        return State.from_record(loaded, record_of_trugo(loaded, naive), trusted=True), naive

    return make
