"""Taigo: images of positions, maximum lengths and distances; its rulings are in tests/testdata/rulings.yaml."""

from __future__ import annotations

import numpy as np

from game_play import played
from stoneworks.envs.games.taigo.rules import DARK, LIGHT, joint_of, kind_of, makes_five
from stoneworks.envs.rules import load_game


def test_the_image_of_a_position_turns_its_tiles() -> None:
    """The first tile is m13-n13, its light half in the east; the next ones close a ring around the hole m14."""
    state = played("taigo", "n14-m15 l15-l14 m14+L")
    game = state.game
    by_name = {symmetry.name: symmetry for symmetry in game.symmetries}
    assert game.image(state, by_name["identity"]) == state
    turned = game.image(state, by_name["rotate 180"])

    def kind_and_joint(state: object, cell: str) -> tuple[int, int]:
        code = state.record["cells"][game.grid.cell_index(cell)]
        return kind_of(code), joint_of(code)

    assert [kind_and_joint(state, cell) for cell in ("m13", "n13", "m14")] == [(DARK, 1), (LIGHT, 4), (LIGHT, 0)]
    assert [kind_and_joint(turned, cell) for cell in ("m13", "l13", "m12")] == [(DARK, 4), (LIGHT, 1), (LIGHT, 0)]


def test_the_maximum_length_counts_tiles_cones_and_room() -> None:
    assert load_game("taigo").max_game_length() == 39 + 10
    assert load_game("taigo", handicap=(2, 1), tiles=30).max_game_length() == 29 + 13
    assert load_game("taigo(radius=1)").max_game_length() == 2, "five hexes are left, all at the border"
    assert load_game("taigo(radius=2)").max_game_length() == 5 + 6, "17 hexes are left, five of them off the border"


def test_five_hexes_and_no_fewer_make_five() -> None:
    """The dark hexes j10, i10, h10 and g10 are in a row."""
    three, four = (played("taigo(radius=9)", texts) for texts in ("i10-i11 h10-h9", "i10-i11 h10-h9 g10-g11"))
    for state, cell, expected in (
        (three, "g10", False),
        (four, "g10", False),
        (four, "f10", True),
        (four, "e10", False),
    ):
        board, index = state.game.board.view(np.recarray)[0], state.game.grid.cell_index(cell)
        assert makes_five(board, state.record, index, 0) == expected, cell
        assert not makes_five(board, state.record, index, 1)
