"""Learning weights: the fit finds the weights that results were drawn with, and a run gives equal weights again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.compiler.weights import Phases
from tools import fit_heuristic
from tools.fit_heuristic import Penalties, Plan, Positions, Run, Terms, fit_weights, quality, traced_targets


def made_up_positions(results: np.ndarray, games: np.ndarray, players: np.ndarray) -> Positions:
    """Return positions of which only the player to move is known."""
    states = np.zeros(len(results), [("current_player", "i1")])
    states["current_player"] = players
    return Positions(states, games.astype(np.int32), np.ones(len(results), np.int32), results.astype(np.int8))


def test_the_fit_finds_the_weights_that_results_were_drawn_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_heuristic, "NUM_TD_FITS", 0)
    generator, number = np.random.default_rng(0), 60_000
    phases = Phases((0, 2, 4))
    of_knots = np.array([[0.5, -0.5, 0.1], [-0.2, 0.6, 0.3], [1.0, -0.3, -0.4]], np.float32)
    counts = np.concatenate([generator.integers(0, 4, (number, 2)), np.ones((number, 1))], axis=1).astype(np.int16)
    phase = generator.integers(0, 5, number).astype(np.int16)
    logits = (counts * (phases.shares() @ of_knots)[phase]).sum(axis=1)
    results = np.where(generator.random(number) < 1 / (1 + np.exp(-logits)), 1, -1)
    positions = made_up_positions(results, np.arange(number), np.zeros(number))
    terms = Terms(counts, phase, np.zeros(number, np.bool_))
    found, fitted = fit_weights(positions, terms, phases, np.ones(number, np.bool_), Penalties(0, 0, 0))
    np.testing.assert_allclose(found, of_knots, atol=0.08)
    np.testing.assert_allclose(fitted, logits, atol=0.3)
    (row,) = quality(fitted, positions, np.ones(number, np.bool_))[:1]
    assert row["positions"] == number
    assert row["log_loss"] == pytest.approx(np.log1p(np.exp(-results * fitted)).mean(), rel=1e-5)
    assert 0.2 < row["correlation"] < 1


def test_targets_are_traced_from_the_end_of_each_game() -> None:
    decay = fit_heuristic.TRACE_DECAY
    players = np.array([0, 1, 0, 1, 1, 0])
    results = np.array([1, -1, 1, 1, 1, -1])  # of the player to move: player 0 wins game 0, player 1 game 1
    positions = made_up_positions(results, np.array([0, 0, 0, 1, 1, 1]), players)
    logits = np.array([0.3, -0.8, 1.2, 0.4, 2.0, 0.5], np.float32)
    chance = 1 / (1 + np.exp(-logits.astype(np.float64)))
    decided = np.array([False] * 5 + [True])
    targets = traced_targets(positions, logits, decided)
    assert targets[2] == 1  # the last of its game has the result
    after_second = (1 - decay) * chance[2] + decay * 1  # for player 0
    assert targets[1] == pytest.approx(1 - after_second)
    assert targets[0] == pytest.approx((1 - decay) * (1 - chance[1]) + decay * after_second)
    assert targets[5] == 0
    assert targets[4] == 1  # a decided position passes the result on
    assert targets[3] == pytest.approx((1 - decay) * chance[4] + decay * 1)


@pytest.mark.slow
def test_a_run_that_is_repeated_or_continued_gives_equal_weights(tmp_path: Path) -> None:
    game = load_game("trugo(radius=3,tiles=18,max_turns=100)")
    plan = Plan(depth=1, num_games=30, random_share=0.1, seed=4, pairs=2, seconds=0.001)
    runs = [Run(game, tmp_path / name, plan) for name in ("first", "second")]
    games = [run.games(0, None) for run in runs]
    assert games[0].states.tobytes() == games[1].states.tobytes()
    assert 15 < len(np.unique(games[0].games)) <= 30  # some games end in their openings
    assert set(np.unique(games[0].results)) <= {-1, 0, 1}
    assert games[0].left.min() >= 1
    weights = [run.fit(0, of_run) for run, of_run in zip(runs, games, strict=True)]
    np.testing.assert_array_equal(*weights)
    assert np.abs(weights[0]).max() > 0
    before = sorted(path.stat().st_mtime_ns for path in (tmp_path / "first").iterdir())
    again = Run(game, tmp_path / "first", plan)
    assert again.games(0, None).states.tobytes() == games[0].states.tobytes()
    np.testing.assert_array_equal(again.fit(0, games[0]), weights[0])
    assert sorted(path.stat().st_mtime_ns for path in (tmp_path / "first").iterdir()) == before
    assert 0 <= runs[0].match(0, weights[0], None) <= 1
    assert (tmp_path / "first" / "match-0.json").exists()
    with pytest.raises(ValueError, match="folder must be that of a run with equal options"):
        Run(game, tmp_path / "first", replace(plan, depth=2))


@pytest.mark.parametrize(
    ("name", "message"),
    [("vadus(size=3)", "vadus.*TERMS"), ("trugo(tiles=37)", r"tiles=37.*tiles=18 or tiles=36")],
)
def test_a_game_without_terms_and_a_board_without_weights_are_errors_that_name_them(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Run(load_game(name), Path("nowhere"), Plan(1, 20, 0.0, 0, 1, 0.01))
