"""The comparison on Hex, with the real libraries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pgx")
pytest.importorskip("mctx")
pytest.importorskip("pyspiel")

import jax

from benchmarks import hex as comparison
from benchmarks.learners import mctx_hex, openspiel_hex
from benchmarks.learners.mctx_hex import make_env
from benchmarks.speed.example_games import load_measured_game
from stoneworks.envs.rules import Game
from stoneworks.models import load_bot

pytestmark = pytest.mark.slow


@pytest.fixture
def game() -> Game:
    return load_measured_game("hex(size=3,swap=False)")


def test_hex_of_pgx_has_our_actions_players_and_results(game: Game) -> None:
    env = make_env(game)
    start, step = jax.jit(env.init), jax.jit(env.step)
    rng = np.random.default_rng(0)
    for seed in range(30):
        state, theirs = game.new_initial_state(), start(jax.random.PRNGKey(seed))
        first = int(theirs.current_player)
        while not state.is_terminal():
            assert not theirs.terminated
            assert np.flatnonzero(theirs.legal_action_mask).tolist() == state.legal_actions()
            assert (int(theirs.current_player) != first) == state.current_player()
            action = int(rng.choice(state.legal_actions()))
            state.apply_action(action)
            theirs = step(theirs, action)
        assert theirs.terminated
        assert [float(theirs.rewards[first]), float(theirs.rewards[1 - first])] == state.returns()


@pytest.mark.usefixtures("game")
def test_all_are_trained_and_play_each_other_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openspiel_hex, "SETTINGS", openspiel_hex.SETTINGS | {"max_simulations": 2, "nn_depth": 1})
    settings = mctx_hex.Settings(blocks=1, num_games=4, num_steps=8, num_simulations=4, batch_size=16)
    monkeypatch.setattr(mctx_hex, "SETTINGS", settings)
    monkeypatch.setattr(comparison, "PAUSES", 2)
    page = tmp_path / "page.md"
    name = "results of hex 3, by benchmarks.hex"
    page.write_text(f"<!-- {name} -->\nold\n<!-- end of the {name} -->\n")
    comparison.main(size=3, seconds=0.5, pairs=1, folder=tmp_path / "hex", page=page)
    rows = [line.split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")][1:]
    assert [row[0].strip("| ") for row in rows] == [
        f"{number} {player}" for number, player in enumerate([*comparison.LEARNERS, "OpenSpiel MCTSBot"], 1)
    ]
    for row in rows[:4]:
        assert int(row[1].replace(",", "")) > 0
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "hex").rglob("*.json")}
    comparison.main(size=3, seconds=0.5, pairs=1, folder=tmp_path / "hex", page=None)
    with pytest.raises(ValueError, match="must have been trained for 3600 s, got"):
        comparison.main(size=3, seconds=3600, pairs=1, folder=tmp_path / "hex", page=None)
    assert {file: file.stat().st_mtime_ns for file in before} == before


def test_the_search_of_openspiel_finds_a_win(game: Game) -> None:
    state = game.deserialize_state("b2\na1\nb1\na2")  # Black has b1 and b2 of the way from row 1 to row 3
    state.apply_action(load_bot("openspiel_mcts:300", game, seed=0).step(state))
    assert state.returns() == [1, -1]
