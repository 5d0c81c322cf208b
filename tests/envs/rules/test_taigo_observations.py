"""Each observation plane of Taigo, by name, on named positions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stoneworks.envs.rules import State


def cells_of_plane(state: State, player: int, name: str) -> set[str]:
    """Return the names of the cells where a plane of zeros and ones is one."""
    plane = state.observation_tensor(player)[state.game.observation_planes.index(name)].ravel()
    assert set(np.unique(plane)) <= {0.0, 1.0}
    return {state.game.grid.cell_names[cell] for cell in np.flatnonzero(plane)}


def constants(state: State, player: int) -> dict[str, float]:
    """Return the values of the constant planes."""
    planes = state.observation_tensor(player)[4:]
    assert (planes == planes[:, :1, :1]).all()
    return dict(zip(state.game.observation_planes[4:], planes[:, 0, 0].tolist(), strict=True))


def test_observation_planes_on_a_named_position(play: Callable[..., State]) -> None:
    """d5 is a hole that Light has to fill."""
    state = play("taigo(cones=1,handicap=(1,0),radius=3,tiles=5)", "e5-d6 c6-c5")
    assert state.observation_tensor().shape == (9, 7, 7)
    dark, light = {"d4", "e5", "c6"}, {"e4", "d6", "c5"}
    for player, own, opponent in ((0, dark, light), (1, light, dark)):
        assert cells_of_plane(state, player, "own_hexes") == own
        assert cells_of_plane(state, player, "opponent_hexes") == opponent
        assert cells_of_plane(state, player, "holes_to_fill") == {"d5"}
        assert len(cells_of_plane(state, player, "window")) == 37
        assert "a3" not in cells_of_plane(state, player, "window")
        assert constants(state, player) == {
            "own_cones_left": 1.0,
            "opponent_cones_left": 1.0,
            "tiles_left": 0.5,
            "cone_to_place": 1.0,
            "dark_to_act": 0.0,
        }
    assert (state.observation_tensor() == state.observation_tensor(1)).all()
    state = state.child(state.string_to_action("d5+D"))
    assert cells_of_plane(state, 0, "own_hexes") == dark | {"d5"}
    assert cells_of_plane(state, 1, "opponent_hexes") == dark | {"d5"}
    assert cells_of_plane(state, 0, "holes_to_fill") == set()
    assert constants(state, 0) == {
        "own_cones_left": 0.5,
        "opponent_cones_left": 1.0,
        "tiles_left": 0.5,
        "cone_to_place": 0.0,
        "dark_to_act": 1.0,
    }
    assert constants(state, 1)["opponent_cones_left"] == 0.5


def test_a_hole_that_stays_is_not_shown_as_one_to_fill_and_no_cones_are_none_left(play: Callable[..., State]) -> None:
    state = play("taigo(cones=0)", "n14-m15 l15-l14")
    for player in (0, 1):
        assert cells_of_plane(state, player, "holes_to_fill") == set()
        assert constants(state, player)["own_cones_left"] == 0.0
        assert constants(state, player)["opponent_cones_left"] == 0.0
        assert constants(state, player)["cone_to_place"] == 0.0
