"""Optimized evaluations against the simple ones that they have replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import numba
import numpy as np
import numpy.typing as npt
import pytest

import simple_taigo
import simple_taugo
import simple_trugo
from game_play import played, positions_of_random_games
from stoneworks.envs.games.taigo.heuristic import survey_windows
from stoneworks.envs.games.taugo.lines import NONE
from stoneworks.envs.games.trugo.heuristic import hand_written_heuristic
from stoneworks.envs.games.trugo.position import NOTHING_PICKED
from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.compiler.types import (
    BoardArray,
    Float32s,
    Float32Table,
    Int8Table,
    Int16s,
    Int16Table,
    StateArray,
)
from stoneworks.envs.rules.contract import heuristic, legal_actions, rate_actions
from stoneworks.envs.rules.parts import game_part, heuristic_kernels

Totals: TypeAlias = Annotated[npt.NDArray[np.float64], numba.float64[:, ::1]]
Completions: TypeAlias = Annotated[npt.NDArray[np.int64], numba.int64[:, :, ::1]]
Values: TypeAlias = Annotated[npt.NDArray[np.float64], numba.float64[:, :, ::1]]


def values_of(game: Game, states: npt.NDArray[np.void], kernels: Mapping[str, Any]) -> npt.NDArray[np.float32]:
    """Return the values of positions for both players, ``float32[n, 2]``."""
    masks, ratings = (np.zeros((len(states), game.num_actions), dtype) for dtype in (np.int8, np.float32))
    values = np.zeros((len(states), 2), np.float32)
    game.compiled(evaluate_all, kernels)(game.board, states, values, masks, ratings)
    return values


def evaluate_all(
    board: BoardArray, states: StateArray, values: Float32Table, masks: Int8Table, ratings: Float32Table
) -> None:
    """Evaluate each position for both players, and rate its legal actions: a template."""
    for row in range(states.shape[0]):
        for player in range(2):
            values[row, player] = heuristic(board[0], states[row], player)
        legal_actions(board[0], states[row], masks[row])
        rate_actions(board[0], states[row], masks[row], ratings[row])


#: The simple evaluation by game. That of Taugo is of starts of turns after no pass.
SIMPLE = {
    game: {"heuristic": module.heuristic, "rate_actions": module.rate_actions}
    for game, module in (("taugo", simple_taugo), ("trugo", simple_trugo))
}


@pytest.mark.parametrize(
    "name",
    [
        *("taugo(size=3)", "taugo(size=5)", "taugo(size=8)", "taugo(cut_point='run',size=8)"),
        *("trugo(radius=4,tiles=18)", "trugo(radius=4,tiles=8)"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("taugo(size=16)", "trugo(tiles=36)")),
    ],
)
def test_values_and_ratings_are_those_of_the_simple_evaluation(name: str) -> None:
    game = load_game(name)
    states, simple = positions_of_random_games(game, 32, 40, 3), SIMPLE[game.name]
    if game.name == "taugo":
        states = positions_of_random_games(game, 16, 60, 7)
        states = states[(states["last_stone"] == NONE) & (states["consecutive_passes"] == 0)]
    assert len(states) > 100
    before, kernels = states.tobytes(), dict(heuristic_kernels(game))
    assert kernels.keys() == simple.keys()
    if game.name == "trugo":
        kernels["heuristic"] = hand_written_heuristic
    masks, ratings = (np.zeros((2, len(states), game.num_actions), dtype) for dtype in (np.int8, np.float32))
    values = np.zeros((2, len(states), 2), np.float32)
    for row, chosen in enumerate((kernels, simple)):
        game.compiled(evaluate_all, chosen)(game.board, states, values[row], masks[row], ratings[row])
    assert states.tobytes() == before
    assert len(np.unique(values[0])) > 100
    assert len(np.unique(ratings[0])) > 20
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(ratings[0], ratings[1])


def survey_all(board: BoardArray, states: StateArray, totals: Totals, completions: Completions, values: Values) -> None:
    """Survey the windows of each position of Taigo: a template."""
    for row in range(states.shape[0]):
        survey_windows(board[0], states[row], totals[row], completions[row], values[row])


@pytest.mark.parametrize(
    "name",
    ["taigo(radius=4,tiles=18)", "taigo(radius=5,tiles=30,cones=9)", pytest.param("taigo", marks=pytest.mark.slow)],
)
def test_windows_are_found_from_their_first_occupied_hex(name: str) -> None:
    game = load_game(name)
    states = positions_of_random_games(game, 32, 20, 3)
    totals = np.zeros((2, len(states), 2))
    completions = np.zeros((2, len(states), 2, 2), np.int64)
    values = np.zeros((2, len(states), 2, game.grid.num_cells))
    for row, kernel in enumerate((survey_windows, simple_taigo.survey_windows)):
        survey = game.compiled(survey_all, {"survey_windows": kernel})
        survey(game.board, states, totals[row], completions[row], values[row])
    for found in (totals, completions, values):
        np.testing.assert_array_equal(found[0], found[1])
    assert (completions >= 0).any(), "no window lacks only one hex"


def test_a_double_threat_of_taigo_is_seen_in_all_orientations() -> None:
    game = load_game("taigo(radius=4,tiles=20)")
    texts = "e4-f3 f6-g6 f1-f2 g3-h3 g5-h5 i5-i4 h6-g7 e6-e7 i2-h2 d8-d7 c6-d6 c5-d5 c4-c3 e2-d3 g4-h4 f4+L d9-e8"
    state = played(str(game), texts)
    images = [game.initial_image(symmetry) for symmetry in game.symmetries]
    for image, symmetry in zip(images, game.symmetries, strict=True):
        for action in state.history():
            image.apply_action(int(symmetry.actions[action]))
    records = np.array([image.record for image in images], game.state_dtype)
    values = values_of(game, records, heuristic_kernels(game))
    np.testing.assert_allclose(values, [[-50026.5, 50026.5]] * len(images))


# -- Learned weights ---------------------------------------------------------------------------------------------------


def weigh(board: Any, state: Any, weights: Any, counts: Any) -> float:
    """Stand for the kernel of the heuristic."""
    raise NotImplementedError


def phase_of(board: Any, state: Any) -> int:
    """Stand for the kernel of the heuristic."""
    raise NotImplementedError


def weigh_all(
    board: BoardArray, states: StateArray, weights: Float32s, values: Float32Table, counts: Int16Table, phases: Int16s
) -> None:
    """Weigh the terms of each position, without and with counting them: a template."""
    for row in range(states.shape[0]):
        values[row, 0] = weigh(board[0], states[row], weights, None)
        values[row, 1] = weigh(board[0], states[row], weights, counts[row])
        phases[row] = phase_of(board[0], states[row])


def weighed(
    name: str, weights: npt.NDArray[np.float32] | None = None
) -> tuple[Any, npt.NDArray[Any], list[npt.NDArray[Any]]]:
    """Return a heuristic, positions of random games, and their values without and with counts, counts and phases.

    Weights are 0 unless given.
    """
    game = load_game(name)
    states, module = positions_of_random_games(game, 32, 40, 3), game_part(game, "heuristic")
    weights = np.zeros(len(module.TERMS), np.float32) if weights is None else weights
    values, phases = np.zeros((len(states), 2), np.float32), np.zeros(len(states), np.int16)
    counts = np.zeros((len(states), weights.size), np.int16)
    template = game.compiled(weigh_all, {kernel: getattr(module, kernel) for kernel in ("weigh", "phase_of")})
    template(game.board, states, weights, values, counts, phases)
    return module, states, [values[:, 0], values[:, 1], counts, phases]


def test_a_learned_value_is_the_sum_of_the_weights_of_its_terms_in_a_phase() -> None:
    name = "trugo(radius=4,tiles=18)"
    terms = game_part(load_game(name), "heuristic").TERMS
    assert len(set(terms)) == len(terms)
    weights = np.random.default_rng(0).normal(size=len(terms)).astype(np.float32)
    module, _, (values, with_counts, counts, phases) = weighed(name, weights)
    np.testing.assert_array_equal(values, with_counts)
    decided = np.abs(values) > 1e4
    assert 0 < (~decided).sum() >= 100
    np.testing.assert_allclose(values[~decided], (counts @ weights)[~decided], rtol=1e-4, atol=1e-3)
    assert (counts[:, terms.index("constant")] == 1).all()
    assert ((phases >= 0) & (phases < module.WEIGHTS.shape[1])).all()
    assert len(np.unique(phases)) > 5
    assert module.WEIGHTS.shape == (len(module.BOARDS), module.PHASES.shares().shape[0], len(terms))


def test_the_terms_of_trugo_count_every_piece_and_every_top_piece() -> None:
    game = load_game("trugo(radius=4,tiles=18)")
    module, states, (_, _, counts, phases) = weighed(str(game))
    for row, record in enumerate(states):
        mover = int(record["current_player"])
        for side, color in enumerate((mover, 1 - mover)):
            of_side = counts[row, side * module.NUM_OF_SIDE : (side + 1) * module.NUM_OF_SIDE]
            pieces = (
                of_side[: module.NEIGHBORS].reshape(4, 5).sum(axis=1)
            )  # two of them if a piece is on one of its color
            assert pieces @ [1, 2, 1, 1] == record["num_pieces"][color]
            assert of_side[module.NUM_PIECES :].sum() == (record["num_pieces"][color] < 8)
        num_tops = sum(((record["contents"] >> shift & 7) >= 2).sum() for shift in (2, 5))
        assert counts[row, :-1].reshape(2, -1)[:, module.NEIGHBORS : module.TILE].sum() == num_tops
        assert (phases[row] <= module.PHASES_OF_HALF) == (record["pool"] > 0)


@pytest.mark.parametrize(
    ("tiles", "board"), [(8, None), (9, None), (10, 0), (18, 0), (19, 1), (36, 1), (37, None), (60, None)]
)
def test_boards_of_trugo_play_with_learned_weights_where_these_are_stronger(tiles: int, board: int | None) -> None:
    game = load_game(f"trugo(radius=6,tiles={tiles})")
    module, states, (_, _, counts, phases) = weighed(str(game))
    kernels = heuristic_kernels(game)
    values = values_of(game, states, kernels)
    by_hand = values_of(game, states, {**kernels, "heuristic": module.hand_written_heuristic})
    if board is None:
        np.testing.assert_array_equal(values, by_hand)
        return
    np.testing.assert_array_equal(values[:, 0], -values[:, 1])
    is_open = (np.abs(values[:, 0]) < module.LAST_PIECES / 2) & (states["picked"] == NOTHING_PICKED)
    expected = (counts * module.WEIGHTS[board][phases]).sum(axis=1)
    of_mover = values[np.arange(len(states)), states["current_player"]]
    np.testing.assert_allclose(of_mover[is_open], expected[is_open], rtol=1e-4, atol=1e-3)
    assert is_open.sum() > 100
    assert np.abs(values - by_hand)[is_open].max() > 1


def test_a_value_learned_by_trugo_includes_the_promise_of_the_picked_piece() -> None:
    game = load_game("trugo(radius=4,tiles=18)")
    module, states, (_, _, counts, phases) = weighed(str(game))
    values = values_of(game, states, heuristic_kernels(game))[np.arange(len(states)), states["current_player"]]
    promise = values - (counts * module.WEIGHTS[0][phases]).sum(axis=1)
    picked = (np.abs(values) < module.LAST_PIECES / 2) & (states["picked"] != NOTHING_PICKED)
    assert picked.sum() > 20
    assert ((promise[picked] > -2.01) & (promise[picked] < 12)).all()
    assert np.abs(promise[picked]).max() > 0.1
