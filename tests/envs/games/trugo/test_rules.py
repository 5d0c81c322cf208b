"""Trugo: the pattern of a tile, and what ``Trugo.position`` and the planes say; its rulings are in tests/testdata/rulings.yaml.

Corners are named as in action texts. In a window of radius 4 the center is e5, and its neighbors are f5 (E), e6 (NE), d6 (NW),
d5 (W), e4 (SW) and f4 (SE).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from side_by_side import trugo_position
from stoneworks.envs.rules import State, load_game

CORNERS_OF_E5 = {"N": "e5^", "NE": "e6v", "SE": "f4^", "S": "e5v", "SW": "e4^", "NW": "d6v"}

#: The corners that each rotation joins.
JOINED = {0: ("SE SW", "NE NW"), 1: ("N SW", "S NE"), 2: ("N SE", "S NW")}

#: Rotations of the tiles around e5 that cut off those corners of e5 that are of one kind.
CUT_OFF_AROUND = {"^": "e6/2 d6/1 d5/1 e4/0 f4/0 f5/2", "v": "e4/2 f4/1 f5/1 e6/0 d6/0 d5/2"}


@pytest.mark.parametrize("rotation", JOINED)
@pytest.mark.parametrize("name", CORNERS_OF_E5)
def test_a_tile_cuts_off_two_opposite_corners_and_joins_the_others_in_pairs(name: str, rotation: int) -> None:
    """R1, R6: steps are barred by pieces, so that only the way through the one tile is left."""
    corner = CORNERS_OF_E5[name]
    bars = {other: "O" for other in CORNERS_OF_E5.values() if other[-1] != corner[-1]}
    tiles = f"e5/{rotation} {CUT_OFF_AROUND[corner[-1]]}"
    both = trugo_position("trugo(stacking=False)", tiles, {corner: "X", **bars})
    joined = {other for pair in JOINED[rotation] if name in pair.split() for other in pair.split()} - {name}
    assert (corner in both.assert_same()) == bool(joined)
    if joined:
        assert both.play(corner).assert_same() == {f">{CORNERS_OF_E5[other]}" for other in joined}


def planes_of(state: State, player: int) -> dict[str, Any]:
    """Return what each plane shows: a cell by cell array, or one number for all cells."""
    position = state.game.position(state)
    planes = {"board": state.game.grid.on_board, **{f"tiles_rotation_{n}": position.tiles == n for n in range(3)}}
    for height, pieces in (("top", position.top), ("pinned", position.below)):
        for owner, color in (("own", player), ("opponent", 1 - player)):
            for kind, corners in enumerate(("top", "bottom")):
                planes[f"{owner}_{height}_pieces_on_{corners}_corners"] = pieces[kind] == color
    for kind, corners in enumerate(("top", "bottom")):
        planes[f"junctions_on_{corners}_corners"] = position.junctions[kind]
    for kind, corners in enumerate(("top", "bottom")):
        planes[f"picked_on_{corners}_corners"] = np.zeros(position.tiles.shape)
        if position.picked is not None and position.picked[0] == kind:
            planes[f"picked_on_{corners}_corners"][position.picked[1]] = 1
    return planes | {
        "destination_to_choose": position.picked is not None,
        "waning": position.pool == 0,
        "pool": position.pool / 14,
        "own_reserve": position.reserve[player] / 6,
        "opponent_reserve": position.reserve[1 - player] / 6,
        "turns_played": position.turns / 70,
        "white_to_act": state.current_player() == 0,
    }


def test_each_plane_matches_its_name_for_both_players() -> None:
    """In random games in which pieces are moved as often as tiles are laid or removed."""
    rng, game = np.random.default_rng(0), load_game("trugo(max_turns=70,pieces=6,radius=6,tiles=14)")
    seen: dict[str, set[float]] = {plane: set() for plane in game.observation_planes}
    for _ in range(4):
        state = game.new_initial_state()
        while not state.is_terminal():
            for player in (0, 1):
                expected = planes_of(state, player)
                assert tuple(expected) == game.observation_planes
                for (plane, shown), found in zip(expected.items(), state.observation_tensor(player), strict=True):
                    np.testing.assert_array_equal(
                        found, np.broadcast_to(np.float32(shown), found.size).reshape(found.shape)
                    )
                    seen[plane] |= set(found.ravel().tolist())
            texts = {action: state.action_to_string(action) for action in state.legal_actions()}
            moves = [action for action, text in texts.items() if text[-1] in "^v"]
            state.apply_action(int(rng.choice(moves if moves and rng.random() < 0.5 else list(texts))))
    assert [plane for plane in seen if len(seen[plane]) == 1] == []


@pytest.mark.parametrize("pieces", [0, 1, 2])
def test_reserves_are_shown_as_shares_of_all_pieces(pieces: int) -> None:
    game = load_game("trugo", pieces=pieces, radius=1, tiles=4)
    planes = game.new_initial_state().observation_tensor()
    for name in ("own_reserve", "opponent_reserve"):
        assert (planes[game.observation_planes.index(name)] == (pieces > 0)).all()
