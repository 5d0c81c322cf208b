"""Hex of examples/hex.py: against OpenSpiel's, and in everything that plays games by name."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest

pytest.importorskip("pyspiel")
pytest.importorskip("torch")

import pyspiel

import tiny_runs
from fresh_runs import run_python
from processes import Run
from stoneworks import load_bot, load_game
from stoneworks.envs.rules import Game, MissingHeuristicError, texts
from stoneworks.envs.rules.game_registry import GAMES
from stoneworks.evaluation.ladder import ANCHORS
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.bots.loading import default_bot, playable_bots
from stoneworks.models.compiling import PARTS, compile_part
from stoneworks.training.runs.config_files import parse_config
from stoneworks.training.runs.run import train_run

pytestmark = pytest.mark.usefixtures("hex_module")


@pytest.fixture(scope="module")
def hex_module(repository: Path) -> Iterator[ModuleType]:
    """Register Hex while the tests run, as another package would."""
    folder = str(repository / "examples")
    sys.path.insert(0, folder)
    sys.modules.pop("hex", None)
    import hex as module

    entry = GAMES.added("hex")
    assert entry is not None
    yield module
    del GAMES._added["hex"]
    del sys.modules["hex"]
    sys.path.remove(folder)


def their_action(game: Game, action: int, *, swapped: bool) -> int:
    """Return OpenSpiel's action for ours.

    Both number cells by row and column, and in both player 0 begins and connects the rows. At a swap our players exchange
    colors: the first stone stays, and from then on player 1 connects the rows. OpenSpiel's players keep their colors: the
    stone is mirrored and becomes player 1's, who goes on connecting the columns. So after a swap the boards mirror each other.
    """
    size = game.options["size"]
    if action == size * size or not swapped:
        return action
    row, column = divmod(action, size)
    return column * size + row


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("size", "num_games"), [(2, 100), (3, 150), (5, 100), (8, 30), (11, 12)])
def test_random_games_agree_with_openspiel(size: int, num_games: int, swap: bool) -> None:
    game = load_game("hex", size=size, swap=swap)
    theirs = pyspiel.load_game(f"hex(board_size={size},swap={swap})")
    rng = np.random.default_rng(size)
    num_swaps = 0
    winners = set()
    for _ in range(num_games):
        state, their_state = game.new_initial_state(), theirs.new_initial_state()
        while not state.is_terminal():
            assert state.current_player() == their_state.current_player()
            swapped = bool(state.record["swapped"])
            legal = state.legal_actions()
            expected = sorted(their_action(game, action, swapped=swapped) for action in legal)
            assert expected == their_state.legal_actions()
            action = int(rng.choice(legal))
            if size * size in legal and rng.random() < 0.5:
                action = size * size
            num_swaps += action == size * size
            their_state.apply_action(their_action(game, action, swapped=swapped))
            state.apply_action(action)
        assert their_state.is_terminal()
        assert state.returns() == their_state.returns()
        assert state.outcome().reason == "connection"
        assert state.move_number() <= game.max_game_length()
        winners.add(state.outcome().winner)
    assert winners == {0, 1}
    assert num_games / 4 < num_swaps < num_games if swap else num_swaps == 0


def test_the_maximum_length_is_reached_and_a_swap_gives_player_1_the_first_stone() -> None:
    for swap, longest in ((False, 4), (True, 5)):
        game = load_game("hex", size=2, swap=swap)
        assert game.max_game_length() == longest
        assert game.perft(longest) > 0 == game.perft(longest + 1)
    state = load_game("hex(size=2)").deserialize_state("a1\nswap")
    assert (state.current_player(), state.color_of(0), state.color_of(1)) == (0, 1, 0)
    assert state.observation_tensor(1)[:, 0, 0].tolist() == [1, 0, 1, 0, 1]
    assert state.observation_tensor(0)[:, 0, 0].tolist() == [0, 1, 1, 0, 0]
    for text in ("b1", "a2"):
        state.apply_action(state.string_to_action(text))
    assert state.outcome() == (1, "connection")


def test_pettingzoos_conformance_tests_pass() -> None:
    from pettingzoo.test import api_test, seed_test

    from stoneworks.envs import BoardGameEnv

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Observation")  # what dicts of observation and mask get
        api_test(BoardGameEnv("hex", size=4), num_cycles=100)
        seed_test(lambda: BoardGameEnv("hex", size=4), num_cycles=60)
    assert pettingzoo.make("aec", "stoneworks/hex-v0", size=3).game == load_game("hex(size=3)")


def test_what_needs_an_evaluation_reports_that_hex_has_none_and_defaults_do_not_need_it(tmp_path: Path) -> None:
    missing = partial(pytest.raises, MissingHeuristicError, match="hex has no heuristic")
    for name in ("greedy", "alphabeta:2"):
        with pytest.raises(MissingHeuristicError, match=f"no heuristic, and {name.split(':')[0]} needs one"):
            load_bot(name, "hex(size=3)")
        with missing():
            gymnasium.make("stoneworks/Hex-v0", size=3, opponent=name)
    with missing():
        GreedyBot(load_game("hex(size=3)"))
    alphazero: dict[str, Any] = {"algorithm": "alphazero", "positions": 10, "processes": 0}
    alphazero["matches"] = {"opponents": ["greedy"]}
    for values in (alphazero, {"algorithm": "ppo", "frames": 10, "opponents": {"greedy": 0.5}}):
        with missing():
            train_run(parse_config({"game": "hex(size=3)", **values}, "test"), tmp_path / "run")
    game = load_game("hex(size=3)")
    assert default_bot(game) == "mcts:100"
    assert playable_bots(ANCHORS, game) == ("random", "mcts:10", "mcts:100", "mcts:1000")
    assert playable_bots(ANCHORS, load_game("vadus")) == ANCHORS
    assert playable_bots([f"mcts:10,leaf={leaf}" for leaf in ("playout", "heuristic", "end_of_turn")], game) == (
        "mcts:10,leaf=playout",
    )
    for part in PARTS:
        compile_part(game, part)


def test_pickles_bring_the_registration_along_and_the_example_runs(hex_module: ModuleType, tmp_path: Path) -> None:
    state = load_game("hex(size=3)").deserialize_state("b2\nswap")
    (tmp_path / "state.pickle").write_bytes(pickle.dumps(state))
    code = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
state = pickle.load(open(sys.argv[2], "rb"))
import stoneworks
print(state.serialize().split(), stoneworks.game_names()[-1])
"""
    arguments = [str(Path(hex_module.__file__ or "").parent), str(tmp_path / "state.pickle")]
    assert run_python(code, *arguments).split()[:3] == ["['b2',", "'swap']", "hex"]
    printed = subprocess.check_output([sys.executable, str(hex_module.__file__)], text=True)
    assert printed.splitlines()[-1].startswith("Black (player 0) wins by connection: ")


#: What depends on the game has its default.
TINY_RUNS: dict[str, dict[str, Any]] = {
    "alphazero": {
        **tiny_runs.ALPHAZERO,
        "processes": 1,
        "positions": 60,
        "search": {"simulations": 4, "capped_simulations": 2},
        "matches": {"positions": 60, "num_pairs": 1, "search_opponents": ["random"], "simulations": 4},
    },
    "ppo": {**tiny_runs.PPO, "frames": 256, "opponents": {}, "matches": {"frames": 256, "num_pairs": 1}},
}


@pytest.mark.parametrize("algorithm", [pytest.param("alphazero", marks=pytest.mark.slow), "ppo"])
def test_training_learns_hex_from_defaults_that_fit_it(algorithm: str, tmp_path: Path) -> None:
    config = parse_config({**TINY_RUNS[algorithm], "game": "hex(size=3)"}, "test")
    result = train_run(config, tmp_path / "run")
    assert result.finished
    assert "greedy" not in config.matches.opponents
    assert "random" in config.matches.opponents
    bot = load_bot(str(result.checkpoint), "hex(size=4)", seed=1)
    state = load_game("hex(size=4)").new_initial_state()
    while not state.is_terminal():
        state.apply_action(bot.step(state))


def test_texts_may_be_functions_of_the_module(hex_module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def describe_supplies(board: Any, state: Any, words: texts.Words) -> None:
        text = "{number} stones of {color}, next {cell}"
        texts.say(words, text, state.num_stones, 1, 2)

    monkeypatch.setattr(hex_module, "say", texts.say, raising=False)
    monkeypatch.setattr(hex_module, "describe_supplies", describe_supplies, raising=False)
    texts._module.cache_clear()
    try:
        game = load_game("hex(size=2)")
        assert game.describe_supplies(game.new_initial_state()) == "0 stones of White, next a2"
    finally:
        texts._module.cache_clear()


def test_hex_says_of_itself_what_others_do_also_in_the_terminal(hex_module: ModuleType, run_command: Run) -> None:
    state = load_game("hex(size=2)").deserialize_state("a1")
    assert str(state).endswith("White (O, player 1) to move: a stone, or a swap of colors")
    assert [state.explain_illegal(action) for action in range(5)] == ["a1 is occupied", None, None, None, None]
    state = load_game("hex(size=2)").deserialize_state("a1\nb1\na2")
    assert state.explain_result() == ("2 stones connect both edges", (0, 2))
    assert [state.explain_illegal(action) for action in range(5)] == ["the game is over"] * 5
    code, out, _ = run_command("play", "hex", "--size", "3", typed="hint\na1\nquit\n")
    assert code == 0
    assert "mcts:100 would play" in out
    assert "mcts:100 plays" in out
