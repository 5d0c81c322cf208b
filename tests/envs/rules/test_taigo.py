"""Taigo: the rulings G1 to G6 on named positions, random games against the naive implementation, symmetries.

In the default window the first tile is m13-n13. Tiles that close a ring around the hole m14 are n14-m15 and l15-l14.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import Batch, Game, IllegalActionError, Outcome, State, load_game
from stoneworks.envs.rules.grid import HEX_DIRECTIONS
from stoneworks.envs.rules.taigo import DARK, LIGHT, Taigo, joint_of, kind_of

Play = Callable[..., State]
LegalTexts = Callable[[State], set[str]]

RING = "n14-m15 l15-l14"
#: Dark's third tile makes the holes m14 and o14 at once.
TWO_HOLES = "o13-p13 l14-l13 p14-o15 m15-l15 n14-n15"


def assert_illegal(state: State, *texts: str) -> None:
    """Every text is refused, and the state stays as it was."""
    before = state.clone()
    for text in texts:
        with pytest.raises(IllegalActionError):
            state.apply_action(state.string_to_action(text))
    assert state == before


def after(state: State, texts: str) -> State:
    """Return the state after more actions; ``state`` stays as it is."""
    state = state.clone()
    for text in texts.split():
        state.apply_action(state.string_to_action(text))
    return state


def cones_left(state: State) -> list[int]:
    return state.record["cones_left"].tolist()


# -- G1, G2: the first tile, and where tiles go ------------------------------------------------------------------------


def test_the_game_begins_with_one_tile_and_dark_to_move(play: Play, legal_texts: LegalTexts) -> None:
    """G1."""
    state = play("taigo")
    cells = state.record["cells"]
    kinds = {name: kind_of(cells[cell]) for cell, name in enumerate(state.game.grid.cell_names)}
    assert {name: kind for name, kind in kinds.items() if kind in (DARK, LIGHT)} == {"m13": DARK, "n13": LIGHT}
    assert state.current_player() == 0
    assert state.game.colors == ("Dark", "Light")
    assert int(state.record["tiles_left"]) == 39
    assert cones_left(state) == [5, 5]
    assert len(legal_texts(state)) == 60
    assert_illegal(state, "m13-n13", "n13-m13", "m14+D")
    assert after(state, "o13-p13").current_player() == 1


def test_a_tile_goes_in_any_direction_where_one_of_its_hexes_touches_an_occupied_one(
    play: Play, legal_texts: LegalTexts
) -> None:
    """G2: five directions from o13, whose western neighbor is taken; dark or light hex far from the rest."""
    state = play("taigo")
    from_o13 = {text for text in legal_texts(state) if text.startswith("o13-")}
    assert from_o13 == {"o13-p13", "o13-o14", "o13-n14", "o13-o12", "o13-p12"}
    assert {"p13-o13", "o14-o13", "n14-o13", "k13-l13", "l13-k13"} <= legal_texts(state)
    assert_illegal(
        state,
        "o13-n13",  # the light hex is taken
        "m13-l13",  # the dark hex is taken
        "p13-q13",  # touches nothing
        "y13-E",  # off the window
    )


def test_the_hexes_of_a_tile_are_neighbors(play: Play) -> None:
    """G2: there are no texts of other pairs."""
    state = play("taigo")
    for text in ("o13-q13", "o13-p14", "o13-o13", "o13", "o13-p13 ", "O13-p13", "m13-z13", ""):
        with pytest.raises(IllegalActionError, match="is not a valid action"):
            state.string_to_action(text)


def test_a_tile_lies_within_the_window_and_not_around_the_end_of_a_row(play: Play, legal_texts: LegalTexts) -> None:
    """G2. In the window of radius 1 the cell after c1 in its row's order is a2, on the far side."""
    state = play("taigo(radius=1)")
    ring = ["b3", "a3", "a2", "b1", "c1"]
    assert legal_texts(state) == {f"{a}-{b}" for pair in pairwise(ring) for a, b in (pair, pair[::-1])}
    assert_illegal(state, "c1-E", "a2-W", "b3-NE", "a3-W")


@pytest.mark.parametrize("radius", [1, 2, 3, 7, 12])
def test_a_tile_action_is_legal_only_where_its_light_hex_is_the_neighbor_of_its_dark_hex(radius: int) -> None:
    """G2, for every action that random games ever offer."""
    game = load_game("taigo", radius=radius)
    batch = Batch(game, 50, seed=radius)
    offered = np.zeros(game.num_actions, np.int64)
    for _ in range(game.max_game_length()):
        offered += batch.action_masks.sum(axis=0)
        batch.step(batch.random_actions())
    assert batch.terminated.all()
    side = 2 * radius + 1
    for action in np.flatnonzero(offered[: 6 * side * side]):
        plane, cell = divmod(int(action), side * side)
        q, r = cell % side - radius, cell // side - radius
        light_q, light_r = q + HEX_DIRECTIONS[plane][0], r + HEX_DIRECTIONS[plane][1]
        assert max(abs(q), abs(r), abs(q + r)) <= radius
        assert max(abs(light_q), abs(light_r), abs(light_q + light_r)) <= radius


def test_turns_alternate_and_a_tile_is_a_whole_turn_where_it_makes_no_hole(play: Play) -> None:
    """G2."""
    state = play("taigo")
    for player, text in enumerate(("o13-p13", "l13-k13", "m14-m15", "n12-o11")):
        assert state.current_player() == player % 2
        state.apply_action(state.string_to_action(text))
    assert int(state.record["tiles_left"]) == 35


# -- G3, G4: holes and cones -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cone", ["m14+D", "m14+L"])
def test_a_player_who_makes_a_hole_fills_it_with_a_cone_of_either_color(
    cone: str, play: Play, legal_texts: LegalTexts
) -> None:
    """G3, G4: Light closes the ring around m14."""
    before = play("taigo", RING.split()[0])
    assert_illegal(before, "m14+D", "m14+L")
    state = after(before, RING.split()[1])
    assert state.current_player() == 1, "the same player fills the hole"
    assert legal_texts(state) == {"m14+D", "m14+L"}
    assert_illegal(state, "o13-p13", "n14+D", "k13+L")
    state = after(state, cone)
    assert state.current_player() == 0
    assert cones_left(state) == ([4, 5] if cone == "m14+D" else [5, 4])
    assert kind_of(state.record["cells"][state.game.grid.cell_index("m14")]) == (DARK if cone == "m14+D" else LIGHT)
    assert len(legal_texts(state)) > 10
    assert not any("+" in text for text in legal_texts(state))


def test_a_hex_at_the_windows_border_is_not_a_hole(play: Play, legal_texts: LegalTexts) -> None:
    """G3: e3's three neighbors in the window of radius 2 are occupied. In a wider window it is a hole in time."""
    state = play("taigo(radius=2)", "d4-c5 e2-d2")
    assert state.current_player() == 0, "Light has no hole to fill"
    assert not any("e3" in text for text in legal_texts(state))
    assert_illegal(state, "e3+D", "e3+L")
    # The same tiles where the hex is off the border, and three more that close the ring around it, here f4.
    state = play("taigo(radius=3)", "e5-d6 f3-e3 g4-f5 g3-g2")
    assert state.current_player() == 1
    assert legal_texts(state) == {"f4+D", "f4+L"}


def test_a_gap_of_two_hexes_is_not_a_hole(play: Play, legal_texts: LegalTexts) -> None:
    """G3: m14 and n14 are enclosed together. No cone goes there, and one tile fits, either way around."""
    state = play("taigo", "o13-o14 n15-m15 l15-l14")
    assert state.current_player() == 1, "Dark has no hole to fill"
    assert_illegal(state, "m14+D", "n14+L")
    inside = {text for text in legal_texts(state) if {"m14", "n14"} & set(text.split("-"))}
    assert inside == {"m14-n14", "n14-m14"}
    assert after(state, "m14-n14").current_player() == 0


@pytest.mark.parametrize("order", ["m14+D o14+L", "o14+L m14+D"])
def test_two_holes_of_one_tile_are_filled_in_either_order(order: str, play: Play, legal_texts: LegalTexts) -> None:
    """G4."""
    state = play("taigo", TWO_HOLES)
    assert state.current_player() == 0
    assert legal_texts(state) == {"m14+D", "m14+L", "o14+D", "o14+L"}
    assert_illegal(state, "n16-n17", "m15+D")
    first, second = order.split()
    state = after(state, first)
    assert state.current_player() == 0, "one hole is left"
    assert legal_texts(state) == {f"{second[:3]}+D", f"{second[:3]}+L"}
    assert_illegal(state, first)
    state = after(state, second)
    assert state.current_player() == 1
    assert cones_left(state) == [4, 4]
    assert state == after(play("taigo", TWO_HOLES), "m14+D o14+L"), "the order leaves no trace"


def test_one_color_of_cone_left(play: Play, legal_texts: LegalTexts) -> None:
    """G4: with one cone of each color, the second hole gets the color that the first did not."""
    state = play("taigo(cones=1)", TWO_HOLES)
    assert legal_texts(state) == {"m14+D", "m14+L", "o14+D", "o14+L"}
    for first, left in (("m14+D", "o14+L"), ("m14+L", "o14+D"), ("o14+D", "m14+L"), ("o14+L", "m14+D")):
        half_way = after(state, first)
        assert half_way.current_player() == 0
        assert legal_texts(half_way) == {left}
        assert_illegal(half_way, f"{left[:3]}+{first[-1]}", "n16-n17")
        assert after(half_way, left).current_player() == 1


def test_a_player_may_be_forced_to_use_the_opponents_color(play: Play, legal_texts: LegalTexts) -> None:
    """G4: the only cone is dark, and Light has to place it."""
    state = play("taigo(cones=0,handicap=(1,0))", RING)
    assert state.current_player() == 1
    assert legal_texts(state) == {"m14+D"}
    assert_illegal(state, "m14+L")


def test_with_no_cone_left_a_hole_stays_open(play: Play, legal_texts: LegalTexts) -> None:
    """G4: no cone at all, and one cone for two holes."""
    state = play("taigo(cones=0)", TWO_HOLES)
    assert state.current_player() == 1
    assert_illegal(state, "m14+D", "m14+L", "o14+D")
    state = play("taigo(cones=0,handicap=(0,1))", TWO_HOLES)
    assert legal_texts(state) == {"m14+L", "o14+L"}
    state = after(state, "o14+L")
    assert state.current_player() == 1, "m14 stays open"
    for text in ("q13-q12", "k13-j13", "l12-l11"):
        assert not any("m14" in text for text in legal_texts(state))
        assert_illegal(state, "m14+D", "m14+L")
        state = after(state, text)


def test_a_later_hole_is_no_duty_either_once_the_cones_are_gone(play: Play) -> None:
    """G4: after one dark cone for m14, the tile that encloses o14 ends its turn at once."""
    state = play("taigo(cones=0,handicap=(1,0))", f"{RING} m14+D o13-p13 p14-o15")
    assert not state.is_terminal()
    before = state.current_player()
    state = after(state, "n15-n16")
    assert state.current_player() == 1 - before
    assert_illegal(state, "o14+D", "o14+L")


def test_handicap_cones_are_added_for_each_color(play: Play, legal_texts: LegalTexts) -> None:
    """The handicap variant: extra cones are in the common supply like the others."""
    state = play("taigo(handicap=(2,1))")
    assert cones_left(state) == [7, 6]
    state = play("taigo(cones=0,handicap=(2,0))", TWO_HOLES)
    assert legal_texts(state) == {"m14+D", "o14+D"}
    assert_illegal(state, "m14+L")
    assert cones_left(after(state, "m14+D o14+D")) == [0, 0]


# -- G5: the end -------------------------------------------------------------------------------------------------------

#: Dark tiles beside each other, upwards from the first one: dark five in column m, light five in column n.
LADDER = "m14-n14 m15-n15 m16-n16 m17-n17"


@pytest.mark.parametrize(("moves", "mover"), [(LADDER, 1), (f"p13-o13 {LADDER}", 0)])
def test_where_both_colors_get_five_in_one_turn_the_opponent_wins(moves: str, mover: int, play: Play) -> None:
    """G5."""
    before = play("taigo", " ".join(moves.split()[:-1]))
    assert before.current_player() == mover
    state = after(before, moves.split()[-1])
    assert state.record["five"].tolist() == [1, 1]
    assert state.outcome() == Outcome(1 - mover, "five")
    assert state.returns() == ([-1.0, 1.0] if mover == 0 else [1.0, -1.0])
    assert state.legal_actions() == []
    assert_illegal(state, "m18-n18", "m12-n12")
    # Four of each are no five.
    assert not after(before, "l17-m17").is_terminal()


@pytest.mark.parametrize(
    ("moves", "mover"), [("m14-n14 m15-l15 m16-n16 m17-l17", 1), ("p13-o13 m14-n14 m15-l15 m16-n16 m17-l17", 0)]
)
def test_five_of_one_color_win_for_that_color_whoever_made_them(moves: str, mover: int, play: Play) -> None:
    """G5: the light halves lie to the left and to the right of the dark five."""
    state = play("taigo", moves)
    assert state.record["five"].tolist() == [1, 0]
    assert state.outcome() == Outcome(0, "five")
    assert len(moves.split()) % 2 == 1 - mover


@pytest.mark.parametrize("number", range(12))
def test_five_in_a_row_count_along_each_axis(number: int) -> None:
    """G5: the images of dark five in column m."""
    game = load_game("taigo")
    symmetry = game.symmetries[number]
    state = game.initial_image(symmetry)
    for text in ("m14-n14", "m15-l15", "m16-n16", "m17-l17"):
        assert not state.is_terminal()
        state.apply_action(int(symmetry.actions[game.string_to_action(text)]))
    assert state.outcome() == Outcome(0, "five")


def test_a_gap_breaks_a_row_and_seven_in_a_row_win(play: Play) -> None:
    """G5: three and three dark hexes in column m, then the one between them."""
    state = play("taigo", "m14-l14 m15-n15 m17-n16 m18-n18 m19-l19 o12-p12")
    assert state.record["five"].tolist() == [0, 0]
    assert after(state, "m20-l20").outcome() is None, "four and three"
    assert after(state, "l16-m16").outcome() is None, "the row needs its own color"
    assert after(state, "m16-l16").outcome() == Outcome(0, "five")


def test_a_cone_completes_a_row_as_a_tile_does(play: Play, legal_texts: LegalTexts) -> None:
    """G5: k14, l14, n14, o14 are light; so is the cone in m14, if Light likes."""
    state = play("taigo", "l15-l14 k15-k14 o13-o14 m15-n14")
    assert state.current_player() == 1
    assert legal_texts(state) == {"m14+D", "m14+L"}
    assert after(state, "m14+L").outcome() == Outcome(1, "five")
    assert after(state, "m14+D").outcome() is None
    # Where it is Dark's turn and there are only light cones, Dark has to.
    state = play("taigo(cones=0,handicap=(0,1))", "m12-m11 l15-l14 k15-k14 o13-o14 m15-n14")
    assert state.current_player() == 0
    assert legal_texts(state) == {"m14+L"}
    assert after(state, "m14+L").outcome() == Outcome(1, "five")


def test_five_in_a_row_do_not_spare_the_mover_the_cone_and_the_cone_may_turn_the_game(
    play: Play, legal_texts: LegalTexts
) -> None:
    """G4, G5: Dark's tile makes dark five in column m, and the hole n16 between four light hexes of column n."""
    moves = "m14-n14 m15-n15 m16-l16 o15-o16 m17-n17"
    state = play("taigo", moves)
    assert state.record["five"].tolist() == [1, 0]
    assert state.outcome() is None
    assert state.current_player() == 0
    assert legal_texts(state) == {"n16+D", "n16+L"}
    assert_illegal(state, "m18-n18")
    assert after(state, "n16+D").outcome() == Outcome(0, "five")
    assert after(state, "n16+L").outcome() == Outcome(1, "five"), "the opponent's five comes first"
    assert play("taigo(cones=0)", moves).outcome() == Outcome(0, "five"), "no cone, no duty"


def test_the_last_tile_without_five_is_a_draw(play: Play) -> None:
    """G5. ``tiles`` counts the first one."""
    state = play("taigo(tiles=3)", "o13-p13")
    assert state.outcome() is None
    state = after(state, "l13-k13")
    assert state.outcome() == Outcome(None, "draw")
    assert state.returns() == [0.0, 0.0]
    assert_illegal(state, "m14-m15")
    assert play("taigo(tiles=2)", "o13-p13").outcome() == Outcome(None, "draw")


def test_the_last_tile_may_still_make_a_hole_and_five(play: Play, legal_texts: LegalTexts) -> None:
    """G5: looked at after the cone; and five come before the draw."""
    state = play("taigo(tiles=3)", RING)
    assert state.outcome() is None
    assert legal_texts(state) == {"m14+D", "m14+L"}
    assert after(state, "m14+D").outcome() == Outcome(None, "draw")
    assert play("taigo(cones=0,tiles=3)", RING).outcome() == Outcome(None, "draw")
    assert play("taigo(tiles=5)", LADDER).outcome() == Outcome(0, "five")
    state = play("taigo(tiles=5)", "l15-l14 k15-k14 o13-o14 m15-n14")
    assert after(state, "m14+L").outcome() == Outcome(1, "five")
    assert after(state, "m14+D").outcome() == Outcome(None, "draw")


# -- G6: no place ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moves", ["a3-a2 b1-c1", "a2-b1 b3-a3"])
def test_a_player_without_room_for_a_tile_draws(moves: str, play: Play) -> None:
    """G6: in the window of radius 1 two tiles leave one hex, b3 or c1."""
    first, second = moves.split()
    state = play("taigo(radius=1)", first)
    assert state.outcome() is None
    assert_illegal(state, first)
    state = after(state, second)
    assert state.outcome() == Outcome(None, "no_place")
    assert state.returns() == [0.0, 0.0]
    assert_illegal(state, "b3-NE", "c1-E", "b3+D", "c1+L")


def test_the_last_tile_and_five_come_before_no_place(play: Play) -> None:
    """G5 before G6."""
    assert play("taigo(radius=1,tiles=3)", "a3-a2 b1-c1").outcome() == Outcome(None, "draw")


# -- Against the naive implementation ----------------------------------------------------------------------------------

#: Games to compare in, and the number of random games of each.
SAMPLES = (
    ("taigo(radius=1)", 30),
    ("taigo(cones=1,radius=2)", 150),
    ("taigo(cones=0,radius=2,tiles=7)", 50),
    ("taigo(cones=1,radius=3)", 210),
    ("taigo(cones=2,radius=3,tiles=12)", 60),
    ("taigo(cones=0,handicap=(2,1),radius=4)", 110),
    ("taigo(cones=3,handicap=(0,1),radius=5)", 80),
    ("taigo(radius=12)", 8),
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
    assert min(seen[reason] for reason in ("five", "draw", "no_place")) >= 30, seen
    assert min(seen["five of the", who] for who in ("mover", "opponent")) >= 15, seen
    assert min(seen["holes to fill", number] for number in (1, 2)) >= 20, seen
    assert min(seen["colors of cones", number] for number in (1, 2)) >= 20, seen
    assert seen["hole left open"] >= 20, seen


# -- Kernels -----------------------------------------------------------------------------------------------------------


def test_masks_and_planes_are_written_everywhere(play: Play) -> None:
    for state in (
        play("taigo"),
        play("taigo", TWO_HOLES),
        play("taigo(radius=3)", "e5-d6 c6-c5"),
        play("taigo(radius=1)"),
    ):
        game, records = state.game, np.array([state.record])
        mask = np.full(game.num_actions, 77, np.int8)
        game._fill_mask(game.board, records, mask)
        assert (mask == state.legal_actions_mask()).all()
        assert set(np.unique(mask)) == {0, 1}
        planes = np.full(state.observation_tensor().shape, 77, np.float32).reshape(9, -1)
        game._fill_observation(game.board, records, state.current_player(), planes)
        assert (planes.ravel() == state.observation_tensor().ravel()).all()
        assert planes.min() == 0
        assert planes.max() == 1


# -- Symmetries --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["radius=1", "cones=1,radius=2", "cones=1,radius=3", "radius=12"])
def test_playing_the_image_of_a_game_from_the_image_of_its_start_gives_the_image_of_the_position(options: str) -> None:
    game = load_game(f"taigo({options})")
    assert isinstance(game, Taigo)
    assert len(game.symmetries) == 12
    starts = {game.initial_image(symmetry).record.tobytes() for symmetry in game.symmetries}
    assert len(starts) == 6, "the first tile points in each direction twice"
    cones = 0
    for number, symmetry in enumerate(game.symmetries):
        rng = np.random.default_rng(number)
        state, image = game.new_initial_state(), game.initial_image(symmetry)
        while True:
            assert image.current_player() == state.current_player()
            assert image.outcome() == state.outcome()
            assert (image.legal_actions_mask() == symmetry.of_policy(state.legal_actions_mask())).all()
            for player in (0, 1):
                assert (
                    image.observation_tensor(player) == symmetry.of_observation(state.observation_tensor(player))
                ).all()
            assert image == game.image(state, symmetry)
            if state.is_terminal():
                break
            action = choose(state, rng, 2)
            cones += action >= 6 * game.grid.num_cells
            state.apply_action(action)
            image.apply_action(int(symmetry.actions[action]))
    assert cones > 0 or options == "radius=1"


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


# -- Options, actions, texts -------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    "options", [{}, {"radius": 1}, {"radius": 2, "cones": 10}, {"tiles": 2}, {"cones": 0, "radius": 4}]
)
def test_no_game_is_longer_than_the_greatest_length(options: dict[str, Any]) -> None:
    game = load_game("taigo", **options)
    _, num_actions = Batch(game, 500, seed=5).random_playouts()
    assert num_actions.max() <= game.max_game_length()


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


def test_nothing_is_counted(play: Play) -> None:
    assert play("taigo").score() is None
    assert play("taigo(tiles=2)", "o13-p13").score() is None


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
Light (L, player 1) to fill a hole; 37 tiles, 5 dark and 5 light cones left"""
    assert str(state) == picture
    assert ". . L d D . ." in str(after(state, "m14+D"))
    assert "Dark (D, player 0) to place a tile; 37 tiles, 4 dark and 5 light cones left" in str(after(state, "m14+D"))
    assert "Dark (player 0) wins by five" in str(play("taigo", LADDER))
    assert "the game is a draw: the last tile has been placed" in str(play("taigo(tiles=2)", "o13-p13"))
    assert "the game is a draw: the window has no place for a tile" in str(play("taigo(radius=1)", "a3-a2 b1-c1"))


# -- The window --------------------------------------------------------------------------------------------------------


def test_distance_reached_is_that_of_the_farthest_hex_in_use(play: Play) -> None:
    state = play("taigo")
    game = state.game
    assert isinstance(game, Taigo)
    states = (state, after(state, "o13-p13"), after(state, "m14-l15"), play("taigo", TWO_HOLES))
    records = np.array([each.record for each in states])
    assert game.distance_reached(records).tolist() == [1, 3, 2, 4]
    assert game.distance_reached(records[0]) == 1
