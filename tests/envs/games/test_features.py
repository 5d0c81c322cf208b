"""Feature planes: they fit the position, do not depend on orientation, and say what the rules say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from game_play import played, random_state, random_states
from stoneworks.envs.rules import State, game_names, load_game
from stoneworks.envs.rules.parts import features_of, has_features
from stoneworks.models import load_bot
from stoneworks.models.network_inputs import NetworkInputs

GAMES = ("vadus(size=4)", "laido(size=4)", "taugo(size=5)", "taigo(radius=4,tiles=20)", "trugo(radius=4,tiles=18)")
#: The breadth-first search of walls visits points in the order of the cells, which rotations change.
ORDERED = ("vadus", "laido")


def plane(state: State, name: str) -> npt.NDArray[np.float32]:
    """Return a feature plane for the player to move, ``float32[cells]``."""
    game = state.get_game()
    index = [feature.name for feature in features_of(game)].index(name)
    planes = NetworkInputs(game, True).of_state(state)[0]
    flat: npt.NDArray[np.float32] = planes[len(game.observation_planes) + index].ravel()
    return flat


@pytest.mark.parametrize("name", GAMES)
def test_inputs_are_the_observation_and_then_finite_features_of_unique_names(name: str) -> None:
    game = load_game(name)
    inputs = NetworkInputs(game, True)
    states = random_states(game, 30, seed=0)
    planes, masks = inputs.of_records(np.array([state.record for state in states], game.state_dtype))
    assert planes.shape[1:] == inputs.shape
    assert len(planes[0]) == len(game.observation_planes) + len(features_of(game))
    for state, of_state, mask in zip(states, planes, masks, strict=True):
        observation, expected_mask = state.observation_and_mask(state.current_player())
        np.testing.assert_array_equal(of_state[: len(observation)], observation)
        np.testing.assert_array_equal(mask, expected_mask)
        np.testing.assert_array_equal(inputs.of_state(state)[0], of_state)
        np.testing.assert_array_equal(NetworkInputs(game, False).of_state(state)[0], observation)
    assert np.isfinite(planes).all()
    assert np.abs(planes[:, len(game.observation_planes) :]).max() < 10
    assert planes.std(axis=0).max(axis=(1, 2))[len(game.observation_planes) :].min() > 0, "a plane never changes"
    games = [load_game(name) for name in GAMES]
    assert {name for name in game_names() if has_features(load_game(name))} == {game.name for game in games}
    for game in games:
        names = [feature.name for feature in features_of(game)]
        assert len({*names, *game.observation_planes}) == len(names) + len(game.observation_planes)
        assert {feature.same_symmetry_as for feature in features_of(game)} <= {None, *game.observation_planes}


@pytest.mark.parametrize("name", GAMES)
def test_features_of_the_image_are_the_image_of_the_features(name: str) -> None:
    game = load_game(name)
    inputs = NetworkInputs(game, True)
    names = [*game.observation_planes, *(feature.name for feature in features_of(game))]
    is_exact = {*game.observation_planes, "standing", "own_group_values"} if game.name in ORDERED else set(names)
    exact = [name in is_exact for name in names]
    for index, symmetry in enumerate(game.symmetries):
        images = inputs.symmetry_images[index]
        assert sorted(images) == list(range(images.size))
        for seed in range(4):
            state = random_state(game, 7 + 5 * seed, 100 * index + seed)
            image = game.initial_image(symmetry)
            for action in state.history():
                image.apply_action(int(symmetry.actions[action]))
            expected = np.empty(images.size, np.float32)
            expected[images] = inputs.of_state(state).ravel()
            found = inputs.of_state(image).ravel()
            of_planes = np.abs(found - expected).reshape(inputs.shape).max(axis=(1, 2))
            assert of_planes[exact].max() < 1e-5


def test_features_of_trugo_stay_those_that_its_network_was_trained_with() -> None:
    sums = {
        "trugo(max_turns=100,radius=5,tiles=18)": [71.85, 77.267, 4.5, 4.75, 4.75, 4.5, 1923.9, 1827.1, 489.983],
        "trugo(radius=10,tiles=36)": [168.517, 174.117, 9.75, 10.5, 10.5, 9.75, 16493.4, 17551.8, 1438.014],
    }
    for name, expected in sums.items():
        game = load_game(name)
        states = [state for state in random_states(game, 60, seed=0) if not state.is_terminal()]
        planes, _ = NetworkInputs(game, True).of_records(np.array([state.record for state in states], game.state_dtype))
        found = planes[:, len(game.observation_planes) :].sum(axis=(0, 2, 3), dtype=np.float64)
        np.testing.assert_allclose(found, expected, atol=2e-3)


@pytest.mark.parametrize(
    "name", ["vadus(size=3)", "laido(size=3)", "laido(size=3,tie_break='first_pass')", "taugo(size=5)"]
)
def test_standing_is_the_result_of_ending_the_game_now(name: str) -> None:
    game = load_game(name)
    last = game.num_actions - 1 if game.name == "taugo" else game.num_action_planes * game.grid.num_cells
    compared = 0
    for state in random_states(game, 60, seed=0):
        player = state.current_player()
        standing = set(plane(state, "standing").tolist())
        while not state.is_terminal() and last in state.legal_actions():
            state.apply_action(last)
        if state.is_terminal():
            compared += 1
            assert standing == {state.returns()[player]}
            assert set(plane(state, "standing").tolist()) == {state.returns()[0]}, "player 0 is shown"
    assert compared > 20


def test_walls_of_a_finished_group_have_its_value() -> None:
    # Two adjacent edge stones are a path of length 2 and worth 2 (V3, V4).
    state = played("vadus(size=3)", "c3 a3 a4 d3 e3")
    assert state.score()[1] == [2]
    cells = [state.get_game().grid.cell_index(cell) for cell in ("a3", "a4", "c3")]
    assert plane(state, "own_group_values")[cells] == pytest.approx([0.2, 0.2, 0])
    assert plane(state, "opponent_group_values")[cells] == pytest.approx([0, 0, 0])


def test_fives_of_taigo_are_the_hexes_that_win_at_once() -> None:
    game, found = load_game("taigo(radius=5)"), 0
    greedy, neighbors, num_cells = load_bot("greedy", game, 0), game.board[0]["neighbors"], game.grid.num_cells
    for seed in range(4):
        state = random_state(game, 10 * seed, seed)
        while not state.is_terminal():
            player = state.current_player()
            tiles = [action for action in state.legal_actions() if action < 6 * num_cells]
            winning = [divmod(tile, num_cells) for tile in tiles if state.child(tile).returns()[player] > 0]
            own_halves = {int(neighbors[cell, direction]) if player else cell for direction, cell in winning}
            if not state.record["holes_to_fill"]:
                assert own_halves <= set(np.flatnonzero(plane(state, "own_fives")).tolist())
                found += len(own_halves)
            state.apply_action(greedy.step(state))
    assert found > 0


def test_cuts_and_strings_of_taugo() -> None:
    game, marked = load_game("taugo(size=5)"), 0
    for state in random_states(game, 60, seed=0):
        if state.record["last_stone"] >= 0:
            continue  # within a line, only its own cuts are legal
        cuts = [action for action in state.legal_actions() if game.grid.num_cells <= action < game.num_actions - 1]
        cells = {action % game.grid.num_cells for action in cuts}
        assert cells == set(np.flatnonzero(plane(state, "ends_of_own_cuts")).tolist())
        marked += len(cells)
        lead = np.subtract(*game.score(state)) * (1 - 2 * state.current_player())
        assert np.unique(plane(state, "lead")) == pytest.approx(np.tanh(lead / 40))
    assert marked > 0


def test_groups_in_danger_have_one_open_corner() -> None:
    in_danger = 0
    for state in random_states("trugo(radius=4,tiles=18)", 40, seed=0):
        for kind in ("top", "bottom"):
            danger, freedom, gap = (plane(state, f"{name}_on_{kind}_corners") for name in ("danger", "freedom", "gap"))
            assert (freedom[danger > 0] == 1).all()
            assert (freedom[gap > 0] == 0).all()
            in_danger += int((danger > 0).sum())
    assert in_danger > 0
