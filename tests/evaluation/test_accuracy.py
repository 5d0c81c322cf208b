"""The accuracy of players on solved positions, and best responses."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from stoneworks.documents import DocumentError
from stoneworks.envs.rules import State, game_names, load_game
from stoneworks.evaluation.solved_accuracy.measure import best_response_value, measure_solved_accuracy
from stoneworks.evaluation.solved_accuracy.positions import (
    SolvedPositions,
    image_key,
    load_solved_positions,
    make_solved_positions,
    shipped_solved_positions,
)
from stoneworks.models import Solver, load_bot

GAME = load_game("laido(size=2)")


@pytest.fixture(scope="module")
def sample() -> SolvedPositions:
    return make_solved_positions(GAME, 12, seed=1)


def test_samples_hold_different_positions_with_mistakes_and_are_stored(sample: SolvedPositions, tmp_path: Path) -> None:
    assert len(sample.positions) == 12
    for position in sample.positions:
        assert 0 < len(position.keeping) < len(position.state(GAME).legal_actions())
    sample.save(tmp_path / "sample.json")
    assert load_solved_positions(GAME, tmp_path / "sample.json") == sample == make_solved_positions(GAME, 12, seed=1)
    with pytest.raises(DocumentError, match=r"laido\(size=2\)"):
        load_solved_positions(load_game("laido(size=3)"), tmp_path / "sample.json")
    with pytest.raises(DocumentError, match=r"no sample .* vadus\(size=17\)"):
        load_solved_positions(load_game("vadus(size=17)"))


def test_no_position_of_a_sample_is_an_image_of_another(sample: SolvedPositions) -> None:
    for one in (sample, *(stored for name in game_names() for stored in shipped_solved_positions(name))):
        game = load_game(one.game)
        assert len({image_key(position.state(game)) for position in one.positions}) == len(one.positions)
    state = GAME.new_initial_state()
    first = state.legal_actions()[0]
    for symmetry in GAME.symmetries:
        assert image_key(state.child(int(symmetry.actions[first]))) == image_key(state.child(first)) != image_key(state)


def test_the_perfect_player_keeps_every_result_and_a_random_one_does_not(sample: SolvedPositions) -> None:
    with pytest.raises(ValueError, match="seconds"):
        load_bot("perfect:seconds=0", GAME)
    perfect = measure_solved_accuracy(load_bot("perfect:memory=1", GAME, 0), GAME, sample)
    assert perfect.share()[0] == 1
    assert sum(perfect.share(phase)[2] for phase in range(3)) == 12
    thirds = [1, 1, 0, 2, 2, 1, 0, 0, 0, 0, 0, 0]
    shares = [1 / 3, 0.5, 0.33, 2 / 3, 0.999, 0.66, *[0.0] * 6]
    moved = [position.replace(phase=round(share, 3)) for position, share in zip(sample.positions, shares, strict=True)]
    phases = measure_solved_accuracy(load_bot("random", GAME, 0), GAME, sample.replace(positions=tuple(moved))).phases
    assert phases.tolist() == thirds
    assert all(value == result for value, result, _ in perfect.calibration())
    random = measure_solved_accuracy(load_bot("random", GAME, 0), GAME, sample)
    share, (low, high), number = random.share()
    assert low < share < high < 1
    assert (number, random.calibration()) == (12, [])
    assert np.isnan(random.values).all()


def test_no_response_beats_perfect_play_and_one_beats_a_random_player() -> None:
    result = Solver(GAME, memory_mib=1).value(GAME.new_initial_state())
    perfect, random = load_bot("perfect:memory=1", GAME, 0), load_bot("random", GAME, 0)
    for player in (0, 1):
        exact = result * (1 - 2 * player)
        assert best_response_value(perfect, GAME, player) == pytest.approx(exact)
        assert best_response_value(random, GAME, player) > exact - 1e-9
    assert best_response_value(random, GAME, 0) > result

    # A bot that does not sample from its policy plays its actions, whatever else the policy may have.
    def step_with_policy(state: State) -> tuple[list[tuple[int, float]], int]:
        legal = state.legal_actions()
        return [(legal[0], 1.0)], legal[-1]

    values = [
        best_response_value(
            Mock(samples_policy=samples, step_with_policy=step_with_policy), load_game("vadus(size=2)"), 0
        )
        for samples in (True, False)
    ]
    assert values == [1.0, 0.0]


@pytest.mark.parametrize(
    "name",
    [
        *("vadus(size=2)", "laido(size=2)", "taugo(size=3)", "vadus(size=9)", "laido(size=9)", "taugo"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("taigo", "trugo")),
    ],
)
def test_stored_samples_have_the_results_that_the_solver_finds(name: str) -> None:
    solved = load_game(name)
    solver = Solver(solved, memory_mib=1)
    step = 3 if name == "trugo" else 1  # its positions take seconds each
    for position in load_solved_positions(solved).positions[::step]:
        solution = solver.solve(position.state(solved))
        assert solution.result == position.result
        assert tuple(map(solved.action_to_string, solution.actions)) == position.keeping
