"""Taigo: random games against the naive implementation, symmetries, texts; its rulings are in tests/testdata/rulings.yaml.

In the default window the first tile is m13-n13. Tiles that close a ring around the hole m14 are n14-m15 and l15-l14.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import Game, IllegalActionError, State, load_game
from stoneworks.envs.rules.taigo import DARK, LIGHT, Taigo, joint_of, kind_of

Play = Callable[..., State]
LegalTexts = Callable[[State], set[str]]

RING = "n14-m15 l15-l14"
#: Dark's third tile makes the holes m14 and o14 at once.
TWO_HOLES = "o13-p13 l14-l13 p14-o15 m15-l15 n14-n15"


def after(state: State, texts: str) -> State:
    """Return the state after more actions; ``state`` stays as it is."""
    state = state.clone()
    for text in texts.split():
        state.apply_action(state.string_to_action(text))
    return state


def cones_left(state: State) -> list[int]:
    return state.record["cones_left"].tolist()


def test_the_hexes_of_a_tile_are_neighbors(play: Play) -> None:
    """G2: there are no texts of other pairs."""
    state = play("taigo")
    for text in ("o13-q13", "o13-p14", "o13-o13", "o13", "o13-p13 ", "O13-p13", "m13-z13", ""):
        with pytest.raises(IllegalActionError, match="is not a valid action"):
            state.string_to_action(text)


#: Dark tiles beside each other, upwards from the first one: dark five in column m, light five in column n.
LADDER = "m14-n14 m15-n15 m16-n16 m17-n17"


#: Games to compare in, and the number of random games of each.
SAMPLES = (
    ("taigo(radius=1)", 30),
    ("taigo(cones=1,radius=2)", 75),
    ("taigo(cones=0,radius=2,tiles=7)", 25),
    ("taigo(cones=1,radius=3)", 105),
    ("taigo(cones=2,radius=3,tiles=12)", 30),
    ("taigo(cones=0,handicap=(2,1),radius=4)", 60),
    ("taigo(cones=3,handicap=(0,1),radius=5)", 40),
    ("taigo(radius=12)", 2),
)


def choose(state: State, rng: np.random.Generator, style: int) -> int:
    """Return a random action (style 0), or where possible one that goes on with the game (1), or makes a hole (2)."""
    legal = [int(action) for action in rng.permutation(state.legal_actions())]
    if style == 0:
        return legal[0]
    going_on = [action for action in legal[:12] if not state.child(action).is_terminal()]
    tried = legal[:40] if style == 2 else []
    making_holes = [action for action in tried if state.child(action).record["holes_to_fill"]]
    return (making_holes or going_on or legal)[0]


def test_random_games_are_the_same_to_both_implementations(naive_state: Callable[[Game], Any]) -> None:
    """G1 to G6. The counts say that the sample holds what it is meant to hold."""
    seen: Counter[Any] = Counter()
    for sample, num_games in SAMPLES:
        game = load_game(sample)
        for number in range(num_games):
            rng = np.random.default_rng(number)
            state, naive = game.new_initial_state(), naive_state(game)
            while True:
                texts = {state.action_to_string(action) for action in state.legal_actions()}
                assert texts == naive.legal_texts(), state
                outcome = state.outcome()
                if outcome is not None:
                    result = "draw" if outcome.winner is None else outcome.winner
                    assert (naive.to_act, naive.result, naive.reason) == (None, result, outcome.reason)
                    break
                assert (naive.to_act, naive.result, naive.reason) == (state.current_player(), None, None)
                assert cones_left(state) == list(naive.cones_left.values())
                mover, cones = state.current_player(), len(naive.to_fill)
                seen["holes to fill", cones] += 1
                seen["colors of cones", len({text[-1] for text in texts}) if cones else None] += 1
                seen["hole left open"] += bool(naive.holes() - naive.to_fill)
                action = choose(state, rng, number % 3)
                state.apply_action(action)
                naive.play(state.action_to_string(action))
            seen[outcome.reason] += 1
            if outcome.reason == "five":
                seen["five of the", "mover" if outcome.winner == mover else "opponent"] += 1
            assert state.move_number() <= game.max_game_length()
    assert min(seen[reason] for reason in ("five", "draw", "no_place")) >= 12, seen
    assert min(seen["five of the", who] for who in ("mover", "opponent")) >= 6, seen
    assert min(seen["holes to fill", number] for number in (1, 2)) >= 8, seen
    assert min(seen["colors of cones", number] for number in (1, 2)) >= 8, seen
    assert seen["hole left open"] >= 8, seen


def test_the_image_of_a_position_turns_its_tiles(play: Play) -> None:
    state = play("taigo", f"{RING} m14+L")
    game = state.game
    assert isinstance(game, Taigo)
    by_name = {symmetry.name: symmetry for symmetry in game.symmetries}
    assert game.image(state, by_name["identity"]) == state
    turned = game.image(state, by_name["rotate 180"])
    before, cells = state.record["cells"], turned.record["cells"]
    assert {name: kind_of(cells[game.grid.cell_index(name)]) for name in ("m13", "l13", "m12")} == {
        "m13": DARK,
        "l13": LIGHT,
        "m12": LIGHT,
    }
    assert joint_of(before[game.grid.cell_index("m13")]) == 1 + 0  # the light half of the first tile is in the east
    assert joint_of(cells[game.grid.cell_index("m13")]) == 1 + 3
    assert joint_of(before[game.grid.cell_index("n13")]) == 1 + 3, "and the dark half is west of it"
    assert joint_of(cells[game.grid.cell_index("l13")]) == 1 + 0
    assert joint_of(cells[game.grid.cell_index("m12")]) == 0


def test_the_game_string_shows_the_radius_and_what_differs_from_its_default() -> None:
    assert str(load_game("taigo")) == "taigo(radius=12)"
    assert str(load_game("taigo", cones=1, radius=2)) == "taigo(cones=1,radius=2)"
    game = load_game("taigo", tiles=20, handicap=[2, 1])
    assert str(game) == "taigo(handicap=(2, 1),radius=12,tiles=20)"
    assert load_game(str(game)) == game
    assert load_game("taigo(handicap=(2,1),tiles=20)") == game


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("tiles", 1, "from 2 to"),
        ("cones", -1, "from 0 to"),
        ("cones", 2.0, "integer"),
        ("radius", 0, "from 1 to 90"),
        ("radius", 91, "from 1 to 90"),
        ("handicap", 1, "two integers"),
        ("handicap", (1,), "two integers"),
        ("handicap", (1, 2, 3), "two integers"),
        ("handicap", (0, -1), "two integers"),
        ("handicap", (True, 0), "two integers"),
        ("handicap", "12", "two integers"),
    ],
)
def test_a_bad_option_is_named_with_its_value_and_what_is_allowed(option: str, value: object, allowed: str) -> None:
    with pytest.raises(ValueError, match=rf"taigo: option {option} must be .*{allowed}") as raised:
        load_game("taigo", **{option: value})
    assert repr(value) in str(raised.value)


def test_action_indices_and_texts_agree_with_the_formula() -> None:
    """Plane * 625 + row * 25 + column; planes are the directions E, NE, NW, W, SW, SE, then the dark and the light cone."""
    game = load_game("taigo")
    assert game.num_actions == 5000
    m13 = 12 * 25 + 12
    for plane, text in enumerate(("m13-n13", "m13-m14", "m13-l14", "m13-l13", "m13-m12", "m13-n12", "m13+D", "m13+L")):
        assert game.action_to_string(plane * 625 + m13) == text
        assert game.string_to_action(text) == plane * 625 + m13
    assert game.action_to_string(5 * 625 + 12 * 25 + 24) == "y13-SE", "off the window: no cell to name"
    assert len(set(game.action_texts)) == 5000


def test_the_greatest_length_counts_tiles_cones_and_room() -> None:
    assert load_game("taigo").max_game_length() == 39 + 10
    assert load_game("taigo", handicap=(2, 1), tiles=30).max_game_length() == 29 + 13
    assert load_game("taigo(radius=1)").max_game_length() == 2, "five hexes are left, all at the border"
    assert [load_game("taigo(radius=1)").perft(depth) for depth in (2, 3)] == [24, 0]
    assert load_game("taigo(radius=2)").max_game_length() == 5 + 6, "17 hexes are left, five of them off the border"


def test_equal_positions_are_equal_after_different_histories(play: Play) -> None:
    assert play("taigo", "o13-p13 l13-k13 m14-m15") == play("taigo", "m14-m15 l13-k13 o13-p13")
    # Equal hexes and player to move, but other pairs of hexes are tiles.
    pairs = ("o13-p13 p14-o14", "o13-o14 p14-p13")
    assert play("taigo", pairs[0]) != play("taigo", pairs[1])


def test_the_picture_shows_the_part_in_use_holes_and_cones(play: Play) -> None:
    state = play("taigo", RING)
    picture = """\
       17  . . . . . . .
      16  . . . . . . .
     15  . . D L . . .
    14  . . L * D . .
   13  . . . D L . .
  12  . . . . . . .
 11  . . . . . . .
    j k l m n o p
Light (L, player 1) to move: a cone for the hole at m14; tiles left: 37; cones left: 5 dark, 5 light"""
    assert str(state) == picture
    assert ". . L d D . ." in str(after(state, "m14+D"))
    assert "Dark (D, player 0) to move: a tile; tiles left: 37; cones left: 4 dark, 5 light" in str(
        after(state, "m14+D")
    )
    assert "Dark (player 0) wins by five" in str(play("taigo", LADDER))
    assert "the game is a draw: the last tile has been placed" in str(play("taigo(tiles=2)", "o13-p13"))
    assert "the game is a draw: the window has no place for a tile" in str(play("taigo(radius=1)", "a3-a2 b1-c1"))


def test_distance_reached_is_that_of_the_farthest_hex_in_use(play: Play) -> None:
    state = play("taigo")
    game = state.game
    assert isinstance(game, Taigo)
    states = (state, after(state, "o13-p13"), after(state, "m14-l15"), play("taigo", TWO_HOLES))
    records = np.array([each.record for each in states])
    assert game.distance_reached(records).tolist() == [1, 3, 2, 4]
    assert game.distance_reached(records[0]) == 1
