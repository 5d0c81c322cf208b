"""Each observation plane of Trugo, by name, against what ``Trugo.position`` says in random games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from stoneworks.envs.rules import State, load_game
from stoneworks.envs.rules.trugo.position import TrugoPosition

WHITE = 0
TOP_CORNERS, BOTTOM_CORNERS = 0, 1
GAME = "trugo(max_turns=70,pieces=6,radius=3,tiles=14)"


def picked(position: TrugoPosition, kind: int) -> npt.NDArray[np.bool_]:
    cells = np.zeros(position.tiles.shape, np.bool_)
    if position.picked is not None and position.picked[0] == kind:
        cells[position.picked[1]] = True
    return cells


#: By plane, what it shows: a cell by cell array, or one number for all cells.
PLANES: dict[str, Callable[[State, TrugoPosition, int], Any]] = {
    "board": lambda state, position, player: state.get_game().grid.on_board,
    "tiles_rotation_0": lambda state, position, player: position.tiles == 0,
    "tiles_rotation_1": lambda state, position, player: position.tiles == 1,
    "tiles_rotation_2": lambda state, position, player: position.tiles == 2,
    "own_top_pieces_on_top_corners": lambda state, position, player: position.top[TOP_CORNERS] == player,
    "own_top_pieces_on_bottom_corners": lambda state, position, player: position.top[BOTTOM_CORNERS] == player,
    "opponent_top_pieces_on_top_corners": lambda state, position, player: position.top[TOP_CORNERS] == 1 - player,
    "opponent_top_pieces_on_bottom_corners": lambda state, position, player: position.top[BOTTOM_CORNERS] == 1 - player,
    "own_pinned_pieces_on_top_corners": lambda state, position, player: position.below[TOP_CORNERS] == player,
    "own_pinned_pieces_on_bottom_corners": lambda state, position, player: position.below[BOTTOM_CORNERS] == player,
    "opponent_pinned_pieces_on_top_corners": lambda state, position, player: position.below[TOP_CORNERS] == 1 - player,
    "opponent_pinned_pieces_on_bottom_corners": lambda state, position, player: (
        position.below[BOTTOM_CORNERS] == 1 - player
    ),
    "junctions_on_top_corners": lambda state, position, player: position.junctions[TOP_CORNERS],
    "junctions_on_bottom_corners": lambda state, position, player: position.junctions[BOTTOM_CORNERS],
    "picked_on_top_corners": lambda state, position, player: picked(position, TOP_CORNERS),
    "picked_on_bottom_corners": lambda state, position, player: picked(position, BOTTOM_CORNERS),
    "destination_to_choose": lambda state, position, player: position.picked is not None,
    "waning": lambda state, position, player: position.pool == 0,
    "pool": lambda state, position, player: position.pool / 14,
    "own_reserve": lambda state, position, player: position.reserve[player] / 6,
    "opponent_reserve": lambda state, position, player: position.reserve[1 - player] / 6,
    "turns_played": lambda state, position, player: position.turns / 70,
    "white_to_act": lambda state, position, player: state.current_player() == WHITE,
}


@pytest.fixture(scope="module")
def states() -> list[State]:
    """All positions of random games in which pieces are moved as often as tiles are laid or removed."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(4):
        state = load_game(GAME).new_initial_state()
        found.append(state.clone())
        while not state.is_terminal():
            texts = {action: state.action_to_string(action) for action in state.legal_actions()}
            moves = [action for action, text in texts.items() if text[-1] in "^v"]
            state.apply_action(int(rng.choice(moves if moves and rng.random() < 0.5 else list(texts))))
            found.append(state.clone())
    return found


def test_the_planes_are_named_in_this_order() -> None:
    assert load_game(GAME).observation_planes == tuple(PLANES)


@pytest.mark.parametrize("plane", PLANES)
def test_a_plane_matches_its_name_for_both_players(plane: str, states: list[State]) -> None:
    seen = set()
    for state in states:
        game = state.get_game()
        for player in (0, 1):
            values = state.observation_tensor(player)[game.observation_planes.index(plane)].ravel()
            expected = PLANES[plane](state, game.position(state), player)  # type: ignore[attr-defined]
            np.testing.assert_array_equal(values, np.broadcast_to(np.asarray(expected, np.float32), values.shape))
            seen.update(values.tolist())
    assert len(seen) > 1
