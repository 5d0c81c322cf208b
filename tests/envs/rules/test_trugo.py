"""The rulings R1 to R10 of Trugo, each on named positions, and random positions and games compared with the naive one.

Corners are named as in action texts. Of pieces, X is White's and O Blue's; of two letters the first is the upper piece.
In a window of radius 4 the center is e5, and its neighbors are f5 (E), e6 (NE), d6 (NW), d5 (W), e4 (SW) and f4 (SE).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import Batch, Game, IllegalActionError, Outcome, State, load_game
from stoneworks.envs.rules.trugo.plane import plane_hexes

NaiveState = Callable[[Game], Any]


def names(text: str) -> list[str]:
    """Return the words of ``text``."""
    return text.split()


#: The hexes at most two steps from e5: 24 junctions, the six corners of e5 with junctions all around.
DISC = names("e3 f3 g3 d4 e4 f4 g4 c5 d5 e5 f5 g5 c6 d6 e6 f6 c7 d7 e7")


# -- A position in both implementations ------------------------------------------------------------------------------


def corner_codes(stack: list[int] | None, is_junction: bool) -> int:
    if not is_junction:
        return 0
    if not stack:
        return 1
    return 2 + stack[0] if len(stack) == 1 else 4 + 2 * stack[0] + stack[1]


def record_of(game: Game, naive: Any) -> np.void:
    """Return the record of the position that the naive implementation is in."""
    radius = game.options["radius"]
    hexes = plane_hexes(radius)

    def hex_of(corner_or_hex: tuple[Any, ...]) -> int:
        return int(hexes[(corner_or_hex[1] + radius) * game.grid.width + corner_or_hex[0] + radius])

    def bits(members: Iterable[tuple[int, int]]) -> np.ndarray[Any, Any]:
        words = [0] * len(record["tiles"])
        for member in members:
            words[hex_of(member) // 64] |= 1 << hex_of(member) % 64
        return np.array(words, np.uint64)

    record = np.zeros(1, game.state_dtype)[0]
    record["game_tag"] = game.record_tag
    over = naive.result is not None
    record["current_player"] = -4 if over else naive.to_act
    record["winner"] = naive.result if naive.result in (0, 1) else -1
    record["ending"] = {None: 0, "pieces": 1, "max_turns": 2}[naive.reason]
    record["truncated"] = naive.result == "truncated"
    record["turns"] = naive.turns
    record["picked"] = -1 if naive.picked is None else 2 * hex_of(naive.picked) + (naive.picked[2] == "v")
    record["pool"] = naive.pool
    record["reserve"] = naive.reserve
    on_board = Counter(color for stack in naive.stacks.values() for color in stack)
    record["num_pieces"] = [on_board[0], on_board[1]]
    record["tiles"] = bits(naive.tiles)
    if naive.pool:
        beside = {at for tile in naive.tiles for at in naive.neighbors(tile)} or {(0, 0)}
        record["targets"] = bits(beside & naive.window - set(naive.tiles))
    else:
        record["targets"] = bits(at for at in naive.tiles if naive.is_removable(at))
    for at, rotation in naive.tiles.items():
        codes = [corner_codes(naive.stacks.get((*at, kind)), naive.is_junction((*at, kind))) for kind in "^v"]
        record["contents"][hex_of(at)] = 1 + rotation | codes[0] << 2 | codes[1] << 5
    return record


class Both:
    """One game in the kernels and in the naive implementation, compared whenever something is asked."""

    def __init__(self, game: Game, naive: Any) -> None:
        self.game = game
        self.naive = naive
        self.state = State.from_record(game, record_of(game, naive), trusted=True)

    def legal(self) -> set[str]:
        texts = {self.state.action_to_string(action) for action in self.state.legal_actions()}
        assert texts == self.naive.legal_texts()
        return texts

    def moves(self) -> set[str]:
        """The texts of the legal actions with pieces."""
        return {text for text in self.legal() if text[-1] in "^v"}

    def play(self, *texts: str) -> Both:
        for text in texts:
            assert text in self.legal()
            self.state.apply_action(self.state.string_to_action(text))
            self.naive.play(text)
            self.compare()
        return self

    def compare(self) -> None:
        naive = self.naive
        assert self.state.record.tobytes() == record_of(self.game, naive).tobytes()
        outcome = self.state.outcome()
        if naive.result is None:
            assert outcome is None
        else:
            assert outcome == Outcome(None if naive.result == "truncated" else naive.result, naive.reason)
            assert self.state.is_truncated() == (naive.result == "truncated")

    def refuses(self, *texts: str) -> None:
        for text in texts:
            before = self.state.clone()
            with pytest.raises(IllegalActionError):
                self.state.apply_action(self.state.string_to_action(text))
            assert self.state == before

    def pieces(self) -> dict[str, str]:
        position = self.game.position(self.state)
        return {
            self.game.grid.cell_names[cell] + "^v"[kind]: "".join(
                "XO"[color] for color in (position.top[kind, cell], position.below[kind, cell]) if color >= 0
            )
            for kind, cell in zip(*np.nonzero(position.top >= 0), strict=True)
        }


SetUp = Callable[..., Both]


@pytest.fixture
def start(naive_state: NaiveState) -> Callable[..., Both]:
    """``start("trugo", "e5/0 e6/1")``: a game after those actions."""

    def start_game(game: str, texts: str = "") -> Both:
        loaded = load_game(game)
        return Both(loaded, naive_state(loaded)).play(*texts.split())

    return start_game


@pytest.fixture
def set_up(naive_state: NaiveState) -> SetUp:
    """``set_up(tiles, pieces)``: a waning position of any tiles (names, or names with rotations) and pieces."""

    def make(
        tiles: Iterable[str] | Mapping[str, int],
        pieces: Mapping[str, str],
        /,
        to_act: int = 0,
        pool: int = 0,
        **options: object,
    ) -> Both:
        rotations = tiles if isinstance(tiles, Mapping) else dict.fromkeys(tiles, 0)
        game = load_game("trugo", **{"radius": 4, "tiles": len(rotations) + pool, **options})
        naive = naive_state(game)
        naive.pool, naive.reserve, naive.to_act, naive.turns = pool, [0, 0], to_act, len(rotations)
        naive.tiles = {naive.hex_of[name]: rotation for name, rotation in rotations.items()}
        naive.stacks = {
            naive.corner_from(name): ["XO".index(piece) for piece in reversed(stack)] for name, stack in pieces.items()
        }
        assert all(map(naive.is_junction, naive.stacks)), "a piece stands on no junction"
        assert not naive.surrounded_groups(0) + naive.surrounded_groups(1), "a group is surrounded already"
        both = Both(game, naive)
        assert both.pieces() == dict(pieces)
        return both

    return make


# -- R1, R2: tiles and junctions ---------------------------------------------------------------------------------------

CORNERS_OF_E5 = {"N": "e5^", "NE": "e6v", "SE": "f4^", "S": "e5v", "SW": "e4^", "NW": "d6v"}

#: The corner to which each rotation joins each corner of a tile.
JOINED = {
    0: {"SE": "SW", "SW": "SE", "NE": "NW", "NW": "NE"},
    1: {"N": "SW", "SW": "N", "S": "NE", "NE": "S"},
    2: {"N": "SE", "SE": "N", "S": "NW", "NW": "S"},
}

#: Rotations of the tiles around e5 that cut off those corners of e5 that are of one kind.
CUT_OFF_AROUND = {
    "^": {"e6": 2, "d6": 1, "d5": 1, "e4": 0, "f4": 0, "f5": 2},
    "v": {"e4": 2, "f4": 1, "f5": 1, "e6": 0, "d6": 0, "d5": 2},
}


@pytest.mark.parametrize("rotation", [0, 1, 2])
@pytest.mark.parametrize("name", CORNERS_OF_E5)
def test_a_tile_cuts_off_two_opposite_corners_and_joins_the_others_in_pairs(
    set_up: SetUp, name: str, rotation: int
) -> None:
    """R1, R6: steps are barred by pieces, so that only the way through the one tile is left."""
    corner = CORNERS_OF_E5[name]
    tiles = {"e5": rotation, **CUT_OFF_AROUND[corner[-1]]}
    bars = {other: "O" for other in CORNERS_OF_E5.values() if other[-1] != corner[-1]}
    both = set_up(tiles, {corner: "X", **bars}, stacking=False)
    joined = JOINED[rotation].get(name)
    if joined is None:
        assert corner not in both.legal()
        both.refuses(corner)
    else:
        assert both.play(corner).legal() == {">" + CORNERS_OF_E5[joined]}


def test_a_corner_becomes_a_junction_with_its_third_tile_and_brings_its_color_into_play(
    start: Callable[..., Both],
) -> None:
    """R2, R3: a ^ is White, a v Blue, whoever lays the tile."""
    both = start("trugo(radius=4,tiles=18)", "e5/0 e6/1")
    assert both.pieces() == {}
    assert not both.game.position(both.state).junctions.any()
    both.play("d6/2")
    assert both.pieces() == {"e5^": "X"}
    both.play("f5/2")
    assert both.pieces() == {"e5^": "X", "e6v": "O"}
    assert both.game.position(both.state).junctions.sum() == 2
    assert both.game.position(both.state).reserve == (24, 24)


# -- R3: laying ----------------------------------------------------------------------------------------------------------


def test_the_first_tile_goes_to_the_center_in_any_rotation(start: Callable[..., Both]) -> None:
    """R2, R3."""
    both = start("trugo(radius=4,tiles=18)")
    assert both.state.current_player() == 0
    assert both.game.colors == ("White", "Blue")
    assert both.legal() == {"e5/0", "e5/1", "e5/2"}
    both.refuses("e6/0", "d5/2", "xe5", "e5^", ">e5v")


def test_a_tile_goes_next_to_a_tile_inside_the_window(start: Callable[..., Both]) -> None:
    """R3."""
    both = start("trugo(radius=1,tiles=6)", "b2/1")
    around = {"c2", "b3", "a3", "a2", "b1", "c1"}
    assert both.legal() == {f"{name}/{rotation}" for name in around for rotation in range(3)}
    assert both.state.current_player() == 1
    both.play("c2/0")
    assert both.legal() == {f"{name}/{rotation}" for name in around - {"c2"} for rotation in range(3)}
    both.refuses("c2/1", "b2/0", "c3/0", "a1/0", "xc2")
    assert start("trugo(radius=4,tiles=18)", "e5/0 f5/0").refuses("c5/0", "h5/0") is None


RING_THEN_MIDDLE = "e5/0 f5/0 f6/0 e7/0 d7/0 d6/0 e6/0"


@pytest.mark.parametrize(
    ("pieces", "served"),
    [
        (0, {}),
        (1, {"e6^": "X", "e7v": "O"}),
        (2, {"e6^": "X", "e7v": "O", "f5^": "X", "e6v": "O"}),
        (3, {"e6^": "X", "e7v": "O", "f5^": "X", "e6v": "O", "e5^": "X", "d7v": "O"}),
        (4, {"e6^": "X", "e7v": "O", "f5^": "X", "e6v": "O", "e5^": "X", "d7v": "O"}),
    ],
)
def test_a_reserve_that_runs_short_serves_the_corners_clockwise_from_north(
    start: Callable[..., Both], pieces: int, served: dict[str, str]
) -> None:
    """R3: one tile makes six junctions."""
    both = start(f"trugo(pieces={pieces},radius=4,tiles=18)", RING_THEN_MIDDLE)
    assert both.pieces() == served
    position = both.game.position(both.state)
    assert position.junctions.sum() == 6
    assert position.reserve == (max(pieces - 3, 0), max(pieces - 3, 0))


def test_the_reserves_of_the_colors_run_out_independently(set_up: SetUp) -> None:
    """R3."""
    for reserve, served in (
        ((0, 2), {"e7v": "O", "e6v": "O"}),
        ((2, 0), {"e6^": "X", "f5^": "X"}),
        ((1, 0), {"e6^": "X"}),
    ):
        both = set_up(names("e5 f5 f6 e7 d7 d6"), {}, pool=2)
        both.naive.reserve = list(reserve)
        both = Both(both.game, both.naive).play("e6/1")
        assert both.pieces() == served


def test_captured_and_removed_pieces_do_not_return_to_the_reserve(set_up: SetUp) -> None:
    """R3, R4, R7."""
    both = set_up(DISC, {"e5^": "O", "e6v": "X", "d6v": "X", "e6^": "X", "f4^": "O"}, pool=3)
    both.play("e6^", ">d7v")
    assert "e5^" not in both.pieces()
    assert both.game.position(both.state).reserve == (0, 0)
    both = set_up(DISC, {"e7v": "O", "f4^": "O", "e5v": "X"}).play("xe7")
    assert both.pieces() == {"f4^": "O", "e5v": "X"}
    assert both.game.position(both.state).reserve == (0, 0)


def test_the_arrays_of_a_position_are_signed_and_hold_minus_one_where_nothing_lies(set_up: SetUp) -> None:
    """The contents of a record are unsigned, where -1 has no place."""
    both = set_up(DISC, {"e6^": "XO", "e7v": "O"})
    position = both.game.position(both.state)
    assert {array.dtype for array in (position.tiles, position.top, position.below)} == {np.dtype(np.int8)}
    assert Counter(position.top[position.top != -1].tolist()) == {0: 1, 1: 1}
    assert position.below[position.below != -1].tolist() == [1]
    assert (position.tiles == -1).sum() == position.tiles.size - len(DISC)
    assert "White (X, player 0) to move" in str(both.state)


# -- R4: removing --------------------------------------------------------------------------------------------------------


def removals(both: Both) -> set[str]:
    return {text[1:] for text in both.legal() if text[0] == "x"}


#: Two junctions with a piece each, far from what a test is about.
CORNER_PIECES = {"e5^": "X", "e6v": "O"}
CORNER_TILES = names("e5 e6 d6 f5")


def test_only_a_tile_with_three_consecutive_empty_neighbors_may_be_removed(set_up: SetUp) -> None:
    """R4: of the disc its outer tiles, of which each has three or two outer neighbors; of the rest none."""
    both = set_up(DISC, {"e5^": "X", "e6v": "O"})
    assert removals(both) == {"e3", "g3", "g5", "e7", "c7", "c5"}
    both.refuses("xe5", "xe6", "xf3", "xh5", "xe8")
    both.play("xe7")
    assert removals(both) == {"e3", "g3", "g5", "c7", "c5", "f6", "d7"}


def test_a_tile_with_empty_neighbors_that_are_not_consecutive_stays(set_up: SetUp) -> None:
    """R4: e8 in a straight row has four empty neighbors, two on each side."""
    both = set_up([*CORNER_TILES, "e7", "e8", "e9"], CORNER_PIECES)
    assert removals(both) == {"e9", "d6", "f5", "e5"}
    both.refuses("xe8", "xe7", "xe6")


def test_a_tile_whose_removal_would_disconnect_the_rest_stays(set_up: SetUp) -> None:
    """R4: e7 joins f7 to e6 round a bend, with three consecutive empty neighbors."""
    both = set_up([*CORNER_TILES, "e7", "f7"], CORNER_PIECES)
    assert removals(both) == {"f7", "d6", "f5", "e5"}
    both.refuses("xe7")


def test_a_bend_in_a_ring_of_tiles_may_be_removed_but_only_one(set_up: SetUp) -> None:
    """R4: without one tile of the ring around e8 the others still hang together."""
    ring = names("e7 f7 f8 e9 d9 d8")
    both = set_up([*CORNER_TILES, *ring], CORNER_PIECES, radius=5)
    assert removals(both) == {"d6", "f5", "e5", "f7", "f8", "e9", "d9", "d8"}
    both.play("xe9")
    assert removals(both) == {"d6", "f5", "e5", "f8", "d9"}


def test_a_hex_outside_the_window_counts_as_empty(set_up: SetUp) -> None:
    """R4: with radius 1 the window's outer hexes have three neighbors outside."""
    both = set_up({"b2": 0, "c2": 0, "b3": 0, "a3": 0, "a2": 0, "b1": 0}, {"b2^": "X", "b3v": "O"}, radius=1)
    assert removals(both) == {"c2", "b3", "a3", "a2", "b1"}
    both.refuses("xb2", "xc1")


def test_pieces_on_the_six_corners_leave_with_the_tile_pinned_ones_too(set_up: SetUp) -> None:
    """R4: e7's corners e7v (S) and e6^ (SW) are junctions."""
    both = set_up(DISC, {"e7v": "XO", "e6^": "OO", "e5^": "X", "e5v": "O"})
    assert both.play("xe7").pieces() == {"e5^": "X", "e5v": "O"}
    position = both.game.position(both.state)
    names = {
        both.game.grid.cell_names[cell] + "^v"[kind] for kind, cell in zip(*np.nonzero(position.junctions), strict=True)
    }
    assert not names & {"e7v", "e6^"}, "corners of a removed tile are junctions no more"
    assert both.state.record["num_pieces"].tolist() == [1, 1]


def test_tiles_are_laid_while_the_pool_lasts_and_then_only_removed(start: Callable[..., Both]) -> None:
    """R3, R4: from the moment that the last tile has been laid."""
    both = start("trugo(radius=4,tiles=5)", "e5/0 e6/1 d6/2 f5/0")
    assert {text[-2] for text in both.legal() if text not in ("e5^", "e6v")} == {"/"}
    both.play("e4/0")
    assert both.state.current_player() == 1
    assert not any("/" in text for text in both.legal())
    assert removals(both) == {"d6", "e6", "f5", "e4"}
    both.play("xe4")
    assert not any("/" in text for text in both.legal()), "for good"
    assert both.game.position(both.state).pool == 0


# -- R5: picking ---------------------------------------------------------------------------------------------------------


def test_a_move_is_two_actions_of_one_turn_and_a_pick_is_final(set_up: SetUp) -> None:
    """R5."""
    both = set_up(DISC, {"e5^": "X", "e5v": "X", "f4^": "O"})
    assert both.moves() == {"e5^", "e5v"}
    both.refuses(">e5v", ">e6v", "f4^", "e6v")
    turns = both.game.position(both.state).turns
    both.play("e5^")
    assert both.state.current_player() == 0
    assert both.game.position(both.state).turns == turns
    assert all(text[0] == ">" for text in both.legal())
    both.refuses("e5^", "e5v", ">e5^", "xe7")
    both.play(">e6v")
    assert both.state.current_player() == 1
    assert both.game.position(both.state).turns == turns + 1
    assert both.pieces() == {"e6v": "X", "e5v": "X", "f4^": "O"}


def test_a_pinned_piece_cannot_be_picked_until_the_upper_one_leaves(set_up: SetUp) -> None:
    """R5, R6."""
    both = set_up(DISC, {"e5^": "OX", "e5v": "XO", "f4^": "O"})
    assert both.moves() == {"e5v"}
    both.refuses("e5^")
    both.play("e5v", ">e4^")
    assert both.pieces() == {"e5^": "OX", "e5v": "O", "e4^": "X", "f4^": "O"}
    assert both.moves() == {"e5^", "e5v", "f4^"}, "the freed piece can move"
    both.play("e5^", ">e6v")
    assert both.pieces() == {"e5^": "X", "e6v": "O", "e5v": "O", "e4^": "X", "f4^": "O"}
    assert both.moves() == {"e5^", "e4^"}


def test_a_piece_without_a_destination_cannot_be_picked(set_up: SetUp) -> None:
    """R5: all that e5^ reaches holds two pieces already."""
    tiles = {"e5": 0, **CUT_OFF_AROUND["^"]}
    both = set_up(tiles, {"e5^": "X", "e6v": "XX", "d6v": "OO", "f4^": "O"})
    assert "e5^" not in both.legal()
    both.refuses("e5^")
    both = set_up(tiles, {"e5^": "X", "e6v": "XX", "d6v": "O", "f4^": "O"})
    assert both.play("e5^").legal() == {">d6v"}


# -- R6: slides, landings, steps -----------------------------------------------------------------------------------------

#: A row of tiles that rotation 0 joins by their SW and SE corners: c4^ d4^ e4^ f4^ g4^ h4^ are one region.
ROW = dict.fromkeys(names("c5 d5 e5 f5 g5"), 0)


def destinations(both: Both, corner: str) -> set[str]:
    """Pick the piece on ``corner`` and return where it may go."""
    return {text[1:] for text in both.play(corner).legal()}


@pytest.mark.parametrize(
    ("rotation", "expected"),
    [(0, {"g4^", "d6v"}), (1, {"d6v"}), (2, set())],
)
def test_a_slide_passes_partial_junctions_and_a_step_may_start_from_one(
    set_up: SetUp, rotation: int, expected: set[str]
) -> None:
    """R6: only d4^, g4^ and d6v are junctions. From partial e4^, or with rotation 1 of d5 from d5^, a step leads to d6v."""
    both = set_up({**ROW, "d4": 0, "g4": 0, "d6": 0, "d5": rotation}, {"d4^": "X"})
    assert both.game.position(both.state).junctions.sum() == 3
    if expected:
        assert destinations(both, "d4^") == expected
        both.refuses(">e4^", ">f4^", ">d5^", ">h4^", ">d4^")
    else:
        both.refuses("d4^")


@pytest.mark.parametrize(
    ("on_f4", "stacking", "expected"),
    [
        ("", True, {"e4^", "f4^", "g4^", "d5v", "e5v", "f5v"}),
        ("O", True, {"e4^", "f4^", "d5v", "e5v"}),
        ("X", True, {"e4^", "f4^", "d5v", "e5v"}),
        ("OX", True, {"e4^", "d5v", "e5v"}),
        ("XX", True, {"e4^", "d5v", "e5v"}),
        ("", False, {"e4^", "f4^", "g4^", "d5v", "e5v", "f5v"}),
        ("O", False, {"e4^", "d5v", "e5v"}),
        ("X", False, {"e4^", "d5v", "e5v"}),
    ],
)
def test_a_slide_may_end_on_one_piece_but_does_not_pass_it_nor_step_from_it(
    set_up: SetUp, on_f4: str, stacking: bool, expected: set[str]
) -> None:
    """R6: g4^ lies behind f4^, and f5v is next to those two only."""
    both = set_up(
        {**ROW, **dict.fromkeys(names("d4 e4 f4 g4"), 0)},
        {"d4^": "X", **({"f4^": on_f4} if on_f4 else {})},
        stacking=stacking,
    )
    assert destinations(both, "d4^") == expected
    if "f4^" in expected:
        both.play(">f4^")
        assert both.pieces() == {"f4^": "X" + on_f4}


@pytest.mark.parametrize(
    ("on_d5v", "stacking", "steps"), [("O", True, True), ("X", True, True), ("XO", True, False), ("O", False, False)]
)
def test_a_step_ends_on_an_empty_junction_or_on_one_piece(
    set_up: SetUp, on_d5v: str, stacking: bool, steps: bool
) -> None:
    """R6: f4^ keeps the other junctions away; d5v is next to d4^ and e4^."""
    tiles = {**ROW, **dict.fromkeys(names("d4 e4 f4 g4"), 0)}
    both = set_up(tiles, {"d4^": "X", "d5v": on_d5v, "f4^": "O"}, stacking=stacking)
    assert ("d5v" in destinations(both, "d4^")) == steps


def test_a_slide_that_comes_round_to_its_start_does_not_end_there(set_up: SetUp) -> None:
    """R6: e5, e4 and f4 cut off e5v, so that e4^, f4^ and f3^ form a ring; only e4^ and e5v are junctions."""
    tiles = {"e5": 0, "e4": 2, "f4": 1, "d5": 1}
    assert destinations(set_up(tiles, {"e4^": "X"}), "e4^") == {"e5v"}
    for pieces in ("X", "XO"):
        both = set_up(tiles, {"e4^": pieces, "e5v": "OO"})
        assert both.moves() == set()
        both.refuses("e4^")


def test_the_upper_piece_of_a_stack_moves_alone_and_frees_the_lower(set_up: SetUp) -> None:
    """R6."""
    tiles = {**ROW, **dict.fromkeys(names("d4 e4 f4 g4"), 0)}
    both = set_up(tiles, {"d4^": "XX", "e4^": "XO", "g4^": "O"}).play("d4^", ">d5v")
    assert both.pieces() == {"d4^": "X", "d5v": "X", "e4^": "XO", "g4^": "O"}
    both.play("g4^", ">f4^", "e4^", ">e5v")
    assert both.pieces() == {"d4^": "X", "d5v": "X", "e4^": "O", "e5v": "X", "f4^": "O"}


# -- R7: captures --------------------------------------------------------------------------------------------------------

# All on the disc: e5^ neighbors e6v, d6v and d7v; e6v neighbors e5^, f5^ and f4^; d7v neighbors e5^, d6^ and e6^.


def test_a_piece_with_an_enemy_on_every_neighboring_junction_is_captured(set_up: SetUp) -> None:
    """R7."""
    pieces = {"e5^": "O", "e6v": "X", "d6v": "X", "e6^": "X", "f4^": "O"}
    both = set_up(DISC, pieces).play("e6^", ">d7v")
    assert both.pieces() == {"e6v": "X", "d6v": "X", "d7v": "X", "f4^": "O"}
    both = set_up(DISC, pieces).play("e6^", ">e7v")
    assert both.pieces()["e5^"] == "O", "d7v is empty"


def test_a_partial_junction_keeps_a_group_safe(set_up: SetUp) -> None:
    """R7: e6^ neighbors e7v, d7v and d8v, where only two tiles meet."""
    both = set_up(DISC, {"e6^": "O", "e7v": "X", "e5^": "X"}).play("e5^", ">d7v")
    assert both.pieces() == {"e6^": "O", "e7v": "X", "d7v": "X"}


def test_a_group_is_captured_as_a_whole(set_up: SetUp) -> None:
    """R7: e5^ and e6v."""
    pieces = {"e5^": "O", "e6v": "O", "d6v": "X", "f5^": "X", "f4^": "X", "e6^": "X", "e5v": "O"}
    both = set_up(DISC, pieces).play("e6^", ">d7v")
    assert both.pieces() == {"d6v": "X", "d7v": "X", "f5^": "X", "f4^": "X", "e5v": "O"}
    del pieces["f5^"]
    both = set_up(DISC, pieces).play("e6^", ">d7v")
    assert both.pieces()["e5^"] == both.pieces()["e6v"] == "O", "f5^ is empty"


@pytest.mark.parametrize(("stack", "left"), [("O", {}), ("OO", {}), ("OX", {"e5^": "X"})])
def test_of_a_captured_stack_the_lower_piece_goes_too_if_it_has_the_same_color(
    set_up: SetUp, stack: str, left: dict[str, str]
) -> None:
    """R7."""
    both = set_up(DISC, {"e5^": stack, "e6v": "X", "d6v": "X", "e6^": "X", "f4^": "O"}).play("e6^", ">d7v")
    assert both.pieces() == {"e6v": "X", "d6v": "X", "d7v": "X", "f4^": "O", **left}


def test_each_stack_of_a_captured_group_is_treated_by_itself(set_up: SetUp) -> None:
    """R7."""
    pieces = {"e5^": "OX", "e6v": "OO", "d6v": "XO", "f5^": "XX", "f4^": "X", "e6^": "X", "e5v": "O"}
    both = set_up(DISC, pieces).play("e6^", ">d7v")
    assert both.pieces() == {"e5^": "X", "d6v": "XO", "d7v": "X", "f5^": "XX", "f4^": "X", "e5v": "O"}
    assert both.state.record["num_pieces"].tolist() == [6, 2]


def test_pinning_a_piece_makes_its_junction_the_other_colors(set_up: SetUp) -> None:
    """R7: the group e5^ and d7v is cut, and e5^ surrounded, by landing on d7v."""
    both = set_up(DISC, {"e5^": "O", "d7v": "O", "e6v": "X", "d6v": "X", "e6^": "X", "f4^": "O"}).play("e6^", ">d7v")
    assert both.pieces() == {"d7v": "XO", "e6v": "X", "d6v": "X", "f4^": "O"}


def test_moving_off_a_pinned_piece_captures_it_where_it_is_surrounded(set_up: SetUp) -> None:
    """R7: e6v is freed between three White pieces."""
    both = set_up(DISC, {"e6v": "XO", "e5^": "X", "f5^": "X", "f4^": "X", "e5v": "O"}).play("e6v", ">d6v")
    assert both.pieces() == {"d6v": "X", "e5^": "X", "f5^": "X", "f4^": "X", "e5v": "O"}


def test_moving_off_a_pinned_piece_may_leave_a_friend_surrounded(set_up: SetUp) -> None:
    """R7, suicide: e5^ was linked to the empty f4^ by the piece on e6v."""
    both = set_up(DISC, {"e6v": "XO", "e5^": "X", "d6v": "O", "d7v": "O"}).play("e6v", ">f5^")
    assert both.pieces() == {"e6v": "O", "f5^": "X", "d6v": "O", "d7v": "O"}


@pytest.mark.parametrize(("mover", "left"), [(0, {"e5^": "X"}), (1, {"d7v": "O"})])
def test_where_both_are_surrounded_the_opponent_is_captured_first(
    set_up: SetUp, mover: int, left: dict[str, str]
) -> None:
    """R7: the tile d7 brings O to d7v and X to d6^ and e6^. Now e5^ and d7v are surrounded, each by the other among others."""
    both = set_up([name for name in DISC if name != "d7"], {"e5^": "X", "e6v": "O", "d6v": "O"}, to_act=mover, pool=2)
    both.naive.reserve = [9, 9]
    both = Both(both.game, both.naive).play("d7/0")
    assert both.pieces() == {"e6v": "O", "d6v": "O", "d6^": "X", "e6^": "X", **left}


def test_a_capture_saves_the_piece_that_makes_it(set_up: SetUp) -> None:
    """R7: on d7v White has Blue on all sides; with e5^ captured it has an empty neighbor."""
    both = set_up(DISC, {"e5^": "O", "e6v": "X", "d6v": "X", "d6^": "O", "e6^": "XO"}).play("e6^", ">d7v")
    assert both.pieces() == {"e6v": "X", "d6v": "X", "d7v": "X", "d6^": "O", "e6^": "O"}


def test_opponent_and_mover_may_both_lose_a_group_in_one_turn(set_up: SetUp) -> None:
    """R7: going from e6v to f4^, White captures e5v; and O, freed on e6v, completes the ring around White's e5^."""
    pieces = {"e6v": "XO", "e5^": "X", "d6v": "O", "d7v": "O", "e5v": "O", "e4^": "X", "f3^": "X"}
    both = set_up(DISC, pieces).play("e6v", ">f4^")
    assert both.pieces() == {"e6v": "O", "d6v": "O", "d7v": "O", "f4^": "X", "e4^": "X", "f3^": "X"}


@pytest.mark.parametrize(("on_e5", "left"), [("", {}), ("O", {"e5^": "O"})])
def test_a_piece_that_moves_to_where_it_is_surrounded_is_captured(
    set_up: SetUp, on_e5: str, left: dict[str, str]
) -> None:
    """R7, suicide: rotation 0 of e6 joins f5^ and e5^. A piece that it has pinned there is freed."""
    pieces = {"f5^": "X", "e6v": "O", "d6v": "O", "d7v": "O", "e5v": "X"}
    both = set_up(DISC, {**pieces, **({"e5^": on_e5} if on_e5 else {})}).play("f5^", ">e5^")
    assert both.pieces() == {"e6v": "O", "d6v": "O", "d7v": "O", "e5v": "X", **left}


@pytest.mark.parametrize(("stack", "left"), [("X", {}), ("XX", {}), ("XO", {"e5^": "O"})])
def test_suicide_takes_stacks_as_capture_does(set_up: SetUp, stack: str, left: dict[str, str]) -> None:
    """R7: d7v was the last empty neighbor of the group on e5^."""
    enemies = dict.fromkeys(("e6v", "d6v", "d6^", "e6^"), "O")
    both = set_up(DISC, {"e5^": stack, "e7v": "X", "e5v": "X", **enemies}).play("e7v", ">d7v")
    assert both.pieces() == {"e5v": "X", **enemies, **left}


def test_an_empty_new_junction_keeps_a_group_safe(set_up: SetUp) -> None:
    """R3, R7: Blue's reserve is empty, so that the tile d7 brings no piece to d7v."""
    both = set_up([name for name in DISC if name != "d7"], {"e5^": "X", "e6v": "O", "d6v": "O"}, to_act=1, pool=2)
    both.naive.reserve = [9, 0]
    both = Both(both.game, both.naive).play("d7/2")
    assert both.pieces() == {"e5^": "X", "e6v": "O", "d6v": "O", "d6^": "X", "e6^": "X"}


# -- R8: the end ---------------------------------------------------------------------------------------------------------


def test_there_is_no_winner_in_the_waxing_phase(set_up: SetUp) -> None:
    """R8: the capture of Blue's last piece wins in the waning phase only."""
    pieces = {"e5^": "O", "e6v": "X", "d6v": "X", "e6^": "X"}
    both = set_up(DISC, pieces, pool=1).play("e6^", ">d7v")
    assert both.state.outcome() is None
    assert both.legal()
    both = set_up(DISC, pieces, pool=0).play("e6^", ">d7v")
    assert both.state.outcome() == Outcome(0, "pieces")
    assert both.state.returns() == [1, -1]
    assert both.state.score() is None
    assert both.legal() == set()


@pytest.mark.parametrize("mover", [0, 1])
def test_the_mover_wins_if_both_are_left_without_pieces(set_up: SetUp, mover: int) -> None:
    """R8: the tile e7 goes with all pieces."""
    both = set_up(DISC, {"e6^": "X", "e7v": "OX"}, to_act=mover).play("xe7")
    assert both.pieces() == {}
    assert both.state.outcome() == Outcome(mover, "pieces")


def test_the_opponent_wins_if_only_the_mover_is_left_without_pieces(set_up: SetUp) -> None:
    """R8."""
    assert set_up(DISC, {"e6^": "X", "e5v": "O"}).play("xe7").state.outcome() == Outcome(1, "pieces")
    assert set_up(DISC, {"e6^": "X", "e5v": "O"}, to_act=1).play("xe7").state.outcome() == Outcome(1, "pieces")
    suicide = set_up(DISC, {"f5^": "X", "e6v": "O", "d6v": "O", "d7v": "O"}).play("f5^", ">e5^")
    assert suicide.state.outcome() == Outcome(1, "pieces")


def test_a_pinned_piece_counts_as_left(set_up: SetUp) -> None:
    """R8."""
    both = set_up(DISC, {"e6^": "X", "e5v": "OX"}).play("xe7")
    assert both.state.outcome() is None
    assert both.state.current_player() == 1


@pytest.mark.parametrize(("tiles", "texts", "winner"), [(1, "e5/2", 0), (2, "e5/0 e6/1", 1), (3, "e5/0 e6/0 e7/0", 0)])
def test_the_mover_wins_if_the_last_tile_is_laid_with_no_piece_on_the_board(
    start: Callable[..., Both], tiles: int, texts: str, winner: int
) -> None:
    """R8."""
    both = start(f"trugo(radius=4,tiles={tiles})", texts)
    assert both.pieces() == {}
    assert both.state.outcome() == Outcome(winner, "pieces")


@pytest.mark.parametrize(("texts", "winner"), [("e5/0 e6/0 d6/0", 0), ("e5/0 e6/0 f5/0", 1)])
def test_the_turn_that_lays_the_last_tile_may_win(start: Callable[..., Both], texts: str, winner: int) -> None:
    """R8: of three tiles with one junction, its color wins, whoever laid the last."""
    assert start("trugo(radius=4,tiles=3)", texts).state.outcome() == Outcome(winner, "pieces")


def test_captures_precede_the_check_for_a_winner(set_up: SetUp) -> None:
    """R7, R8: the last tile, d7, brings O to d7v, which captures White's only piece."""
    both = set_up([name for name in DISC if name != "d7"], {"e5^": "X", "e6v": "O", "d6v": "O"}, to_act=1, pool=1)
    both.naive.reserve = [0, 9]
    both = Both(both.game, both.naive).play("d7/0")
    assert both.state.outcome() == Outcome(1, "pieces")


# -- R9: truncation ------------------------------------------------------------------------------------------------------


def test_a_game_without_a_winner_is_truncated_after_max_turns(start: Callable[..., Both]) -> None:
    """R9: a pick and its destination are one turn."""
    both = start("trugo(max_turns=5,radius=4,tiles=18)", "e5/0 e6/0 d6/0 f5/0 e5^")
    assert both.state.outcome() is None
    both.play(">e6v")
    assert both.state.outcome() == Outcome(None, "max_turns")
    assert both.state.is_truncated()
    assert both.state.is_terminal()
    assert both.state.returns() == [0, 0]
    assert both.legal() == set()
    assert both.state.move_number() == both.game.max_game_length() == 6


def test_a_win_on_the_last_turn_counts(start: Callable[..., Both]) -> None:
    """R9: the same game with one turn less is truncated."""
    texts = "e5/0 e6/0 f5/0"
    both = start("trugo(max_turns=3,radius=4,tiles=3)", texts)
    assert both.state.outcome() == Outcome(1, "pieces")
    assert not both.state.is_truncated()
    both = start("trugo(max_turns=2,radius=4,tiles=3)", "e5/0 e6/0")
    assert both.state.outcome() == Outcome(None, "max_turns")
    both = start("trugo(max_turns=3,radius=4,tiles=4)", texts)
    assert both.state.outcome() == Outcome(None, "max_turns"), "in the waxing phase nobody has won"


def test_batches_distinguish_truncated_games_from_won_ones() -> None:
    """R9."""
    batch = Batch(load_game("trugo(max_turns=2,radius=1,tiles=2)"), 1)
    text_to_action = batch.game.string_to_action
    for text in ("b2/0", "b3/0"):
        batch.step([text_to_action(text)])
    assert (batch.terminated[0], batch.truncated[0], batch.rewards[0].tolist()) == (True, False, [-1, 1])
    batch = Batch(load_game("trugo(max_turns=2,radius=1,tiles=3)"), 1)
    for text in ("b2/0", "b3/0"):
        batch.step([text_to_action(text)])
    assert (batch.terminated[0], batch.truncated[0], batch.rewards[0].tolist()) == (False, True, [0, 0])


# -- R10 and options -----------------------------------------------------------------------------------------------------


def test_the_window_must_have_more_hexes_than_there_are_tiles() -> None:
    """R10."""
    assert load_game("trugo(radius=1,tiles=6)").options["tiles"] == 6
    for radius, tiles, hexes in ((1, 7, 7), (2, 36, 19), (10, 331, 331)):
        with pytest.raises(ValueError, match=rf"tiles must be less than {hexes}.* radius {radius}, got {tiles}"):
            load_game("trugo", radius=radius, tiles=tiles)
    with pytest.raises(ValueError, match=r"tiles must be .* radius 2, got 36"):
        load_game("trugo", radius=2)


def test_a_window_with_room_for_one_more_tile_is_filled(start: Callable[..., Both]) -> None:
    """R10."""
    both = start("trugo(radius=1,tiles=6)", "b2/0 c2/0 b3/0 a3/0 a2/0")
    assert {text for text in both.legal() if "/" in text} == {
        f"{name}/{rotation}" for name in ("b1", "c1") for rotation in range(3)
    }
    both.play("c1/0")
    assert removals(both)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tiles", 0), ("tiles", 2.5), ("tiles", True), ("pieces", -1), ("pieces", 65_536), ("stacking", 1), ("max_turns", 0),
        ("radius", 0), ("radius", 91), ("size", 5),
    ],
)  # fmt: skip
def test_a_bad_option_is_an_error_that_names_it(option: str, value: object) -> None:
    with pytest.raises(ValueError, match=option):
        load_game("trugo", **{option: value})


def test_radius_and_tiles_are_always_shown() -> None:
    assert str(load_game("trugo")) == "trugo(radius=10,tiles=36)"
    assert str(load_game("trugo(tiles=3,radius=2)")) == "trugo(radius=2,tiles=3)"
    full = "trugo(max_turns=9,pieces=0,radius=4,stacking=False,tiles=18)"
    assert str(load_game(full)) == full


def test_windows_of_equal_and_of_different_capacity_do_not_interfere(start: Callable[..., Both]) -> None:
    """The numbers of hexes and corners depend on the window."""
    games = [start(f"trugo(radius={radius},tiles=3)") for radius in (1, 4, 9, 10)]
    for both, texts in zip(
        games, (("b2/0", "b3/0"), ("e5/0", "e6/0"), ("j10/0", "j11/0"), ("k11/0", "k12/0")), strict=True
    ):
        both.play(*texts)


def test_positions_have_no_gaps_between_their_fields() -> None:
    """Numpy does not copy what is in gaps, and equal positions are to have equal bytes."""
    for radius in (1, 10, 15):
        layout = load_game("trugo", radius=radius, tiles=6).state_dtype
        assert layout.itemsize == sum(field[0].itemsize for field in layout.fields.values())


# -- Actions and texts ---------------------------------------------------------------------------------------------------


def test_action_indices_follow_the_planes() -> None:
    game = load_game("trugo(radius=4,tiles=18)")
    cell = 3 * 9 + 7
    texts = ["h4/0", "h4/1", "h4/2", "xh4", "h4^", "h4v", ">h4^", ">h4v"]
    assert [game.string_to_action(text) for text in texts] == [plane * 81 + cell for plane in range(8)]
    assert game.num_actions == 648
    assert load_game("trugo").num_actions == 3528
    for text in ("h4", "h4/3", "H4/0", "h4 ^", ">h4", "xh4^", "h4V"):
        with pytest.raises(IllegalActionError):
            game.string_to_action(text)


def test_the_diagram_shows_tiles_pieces_and_the_player_to_move(set_up: SetUp, start: Callable[..., Both]) -> None:
    both = set_up({"e5": 0, "e6": 1, "d6": 2, "f5": 0}, {"e5^": "X", "e6v": "OX"}, to_act=1).play("e6v")
    assert str(both.state).splitlines() == [
        "        7       .     .     .     .     .",
        "",
        "     6       .     2     1     .     .",
        "                      X  OX",
        "  5       .     .     0     0     .",
        "",
        "4      .     .     .     .     .",
        "",
        "    c     d     e     f     g",
        "waning; 4 of at most 400 turns played",
        "Blue (O, player 1) to move, with the piece on e6v picked",
    ]
    both.play(">e5^")
    assert "OX X" in str(both.state)
    assert str(both.state).endswith("White (X, player 0) to move")
    won = set_up(CORNER_TILES, CORNER_PIECES).play("xd6")
    assert str(won.state).endswith("Blue (player 1) wins by pieces")
    waxing = start("trugo(radius=4,tiles=18)", "e5/0 f5/1")
    assert "waxing, 16 tiles in the pool, 25 White and 25 Blue pieces in reserve; 2 of" in str(waxing.state)
    assert str(start("trugo(max_turns=1,radius=4,tiles=18)", "e5/0").state).endswith("the game was truncated")


# -- Observations --------------------------------------------------------------------------------------------------------


def names_on(both: Both, player: int, plane: str) -> set[str]:
    """The cells on which a plane of zeros and ones is one."""
    planes = both.state.observation_tensor(player)[both.game.observation_planes.index(plane)].ravel()
    assert set(np.unique(planes)) <= {0, 1}
    return {both.game.grid.cell_names[cell] for cell in np.flatnonzero(planes)}


def value_of(both: Both, player: int, plane: str) -> float:
    """The value of a constant plane."""
    planes = both.state.observation_tensor(player)[both.game.observation_planes.index(plane)]
    assert len(np.unique(planes)) == 1
    return float(planes[0, 0])


def test_each_observation_plane_on_a_named_position(set_up: SetUp) -> None:
    tiles = {**dict.fromkeys(DISC, 0), "e5": 1, "e6": 2, "d6": 2}
    both = set_up(
        tiles,
        {"e5^": "XO", "e5v": "OX", "e6v": "O", "f4^": "O", "e4^": "X", "d6v": "XX", "f5^": "OO", "e6^": "X"},
        pool=5,
        pieces=10,
        max_turns=50,
    )
    both.naive.reserve = [4, 1]
    both = Both(both.game, both.naive)
    window = {name for cell, name in enumerate(both.game.grid.cell_names) if both.game.grid.on_board[cell]}
    inner = {"e3", "f3", "g3", "d4", "e4", "f4", "g4", "d5", "e5", "f5", "d6", "e6"}
    for player in (0, 1):
        assert names_on(both, player, "board") == window
        assert len(window) == 61
        assert names_on(both, player, "tiles_rotation_0") == set(DISC) - {"e5", "e6", "d6"}
        assert names_on(both, player, "tiles_rotation_1") == {"e5"}
        assert names_on(both, player, "tiles_rotation_2") == {"e6", "d6"}
        white, blue = ("own", "opponent") if player == 0 else ("opponent", "own")
        assert names_on(both, player, f"{white}_top_pieces_on_top_corners") == {"e5", "e4", "e6"}
        assert names_on(both, player, f"{white}_top_pieces_on_bottom_corners") == {"d6"}
        assert names_on(both, player, f"{blue}_top_pieces_on_top_corners") == {"f4", "f5"}
        assert names_on(both, player, f"{blue}_top_pieces_on_bottom_corners") == {"e5", "e6"}
        assert names_on(both, player, f"{white}_pinned_pieces_on_top_corners") == set()
        assert names_on(both, player, f"{white}_pinned_pieces_on_bottom_corners") == {"e5", "d6"}
        assert names_on(both, player, f"{blue}_pinned_pieces_on_top_corners") == {"e5", "f5"}
        assert names_on(both, player, f"{blue}_pinned_pieces_on_bottom_corners") == set()
        assert names_on(both, player, "junctions_on_top_corners") == inner
        assert len(names_on(both, player, "junctions_on_bottom_corners")) == 12
        assert names_on(both, player, "picked_on_top_corners") == set()
        assert names_on(both, player, "picked_on_bottom_corners") == set()
        assert value_of(both, player, "destination_to_choose") == 0
        assert value_of(both, player, "waning") == 0
        assert value_of(both, player, "pool") == pytest.approx(5 / 24)
        assert value_of(both, player, "own_reserve") == pytest.approx((0.4, 0.1)[player])
        assert value_of(both, player, "opponent_reserve") == pytest.approx((0.1, 0.4)[player])
        assert value_of(both, player, "turns_played") == pytest.approx(19 / 50)
        assert value_of(both, player, "white_to_act") == 1
    both.play("e5^")
    for player in (0, 1):
        assert names_on(both, player, "picked_on_top_corners") == {"e5"}
        assert names_on(both, player, "picked_on_bottom_corners") == set()
        assert value_of(both, player, "destination_to_choose") == 1
        assert value_of(both, player, "white_to_act") == 1
    both.play(">e6v")
    assert value_of(both, 0, "destination_to_choose") == 0
    assert value_of(both, 0, "white_to_act") == 0
    assert value_of(both, 0, "turns_played") == pytest.approx(20 / 50)
    both.play("e5v")
    assert names_on(both, 1, "picked_on_top_corners") == set()
    assert names_on(both, 1, "picked_on_bottom_corners") == {"e5"}


def test_the_waning_phase_and_an_empty_reserve_are_seen(set_up: SetUp) -> None:
    both = set_up(DISC, {"e5^": "X", "e5v": "O"}, pieces=0)
    assert value_of(both, 0, "waning") == 1
    assert value_of(both, 0, "pool") == 0
    assert value_of(both, 0, "own_reserve") == value_of(both, 0, "opponent_reserve") == 0


# -- Symmetries ----------------------------------------------------------------------------------------------------------


def test_the_symmetries_are_those_that_keep_top_corners_top_corners() -> None:
    game = load_game("trugo(radius=4,tiles=18)")
    names = [symmetry.name for symmetry in game.symmetries]
    assert names[:3] == ["identity", "rotate 120", "rotate 240"]
    assert len(names) == 6


@pytest.mark.parametrize(
    ("name", "images"),
    [
        # The top corner of e5 becomes its lower left one, which e4 owns.
        ("rotate 120", {"e5^": "e4^", ">e5^": ">e4^", "e5v": "e6v", "f5/0": "d6/2", "f5/1": "d6/0", "xf5": "xd6"}),
        ("rotate 240", {"e5^": "f4^", ">e5v": ">d6v", "f5/0": "e4/1", "f5/2": "e4/0", "xe6": "xf4"}),
        # The reflection that exchanges left and right keeps the top corner of e5.
        (
            "reflect, then rotate 120",
            {"e5^": "e5^", "e5v": "e5v", "f4^": "e4^", "f5/0": "d5/0", "f5/1": "d5/2", "xe6": "xd6"},
        ),
    ],
)
def test_images_of_actions(name: str, images: dict[str, str]) -> None:
    game = load_game("trugo(radius=4,tiles=18)")
    symmetry = next(symmetry for symmetry in game.symmetries if symmetry.name == name)
    for text, image in images.items():
        assert game.action_texts[symmetry.actions[game.string_to_action(text)]] == image


def test_the_image_of_an_observation_is_the_observation_of_the_image(set_up: SetUp) -> None:
    """A position with pieces pinned, one picked, and every kind of plane in use, played on in six images."""
    both = set_up(DISC, {"e5^": "XO", "e5v": "OX", "e6v": "O", "f4^": "O", "e4^": "X", "f5^": "OO"}, pool=2)
    observation = both.play("e5^").state.observation_tensor()
    game = both.game
    for symmetry in game.symmetries:
        image = symmetry.of_observation(observation)
        assert np.array_equal(np.sort(symmetry.observation), np.arange(observation.size))
        picked = game.observation_planes.index("picked_on_top_corners")
        expected = game.action_texts[symmetry.actions[game.string_to_action("e5^")]]
        assert game.grid.cell_names[int(image[picked].argmax())] + "^" == expected


# -- Random positions and games against the naive implementation ----------------------------------------------------------


def random_position(game: Game, naive: Any, rng: np.random.Generator) -> bool:
    """Give ``naive`` random tiles and pieces, with no group surrounded. Returns whether a game may go on from there."""
    window = sorted(naive.window)
    tiles = [(0, 0)]
    power = rng.integers(0, 12)
    while len(tiles) < game.options["tiles"] - naive.pool:
        beside = sorted({at for tile in tiles for at in naive.neighbors(tile)} & naive.window - set(tiles))
        # The hexes with most tiles around them make junctions.
        weights = np.array([sum(at in tiles for at in naive.neighbors(place)) for place in beside], float) ** power
        tiles.append(beside[rng.choice(len(beside), p=weights / weights.sum())])
    assert set(tiles) <= set(window)
    naive.tiles = {at: int(rng.integers(3)) for at in tiles}
    junctions = [(*at, kind) for at in tiles for kind in "^v" if naive.is_junction((*at, kind))]
    empty, double, white = rng.random(3) * (0.4, 0.8, 1.0)
    naive.stacks = {
        corner: [int(rng.random() > white) for _ in range(1 + (rng.random() < double and game.options["stacking"]))]
        for corner in junctions
        if rng.random() > empty
    }
    while surrounded := naive.surrounded_groups(0) + naive.surrounded_groups(1):
        for corner in surrounded[0]:
            del naive.stacks[corner]
    naive.reserve = [int(number) for number in rng.integers(0, 4, 2)]
    naive.to_act = int(rng.integers(2))
    naive.turns = int(rng.integers(game.options["max_turns"] - 30))
    return {color for stack in naive.stacks.values() for color in stack} == {0, 1} or naive.pool > 0


def capturing_turns(state: State) -> list[list[str]]:
    """Return the turns, each its texts, that capture; where some capture pieces of both colors, only those."""
    game = state.game

    def left_and_in_reserve(state: State) -> np.ndarray[Any, Any]:
        return state.record["num_pieces"].astype(int) + state.record["reserve"]

    turns, of_both = [], []
    before = left_and_in_reserve(state)
    for action in state.legal_actions():
        text, child = state.action_to_string(action), state.child(action)
        if text[0] == "x":
            continue
        ends = [([text], child)]
        if text[-1] in "^v":
            ends = [([text, game.action_to_string(end)], child.child(end)) for end in child.legal_actions()]
        for texts, end in ends:
            lost = left_and_in_reserve(end) < before
            if lost.any():
                turns.append(texts)
            if lost.all():
                of_both.append(texts)
    return of_both or turns


def play_randomly(
    both: Both, rng: np.random.Generator, weight_of_pieces: float, weight_of_captures: float, num_turns: int
) -> Counter[str]:
    """Play and compare at every action. Returns what happened.

    With probability ``weight_of_captures`` a turn captures something where one can, else with probability
    ``weight_of_pieces`` a piece moves where one can.
    """
    seen: Counter[str] = Counter()
    for _ in range(num_turns):
        if both.naive.result is not None:
            break
        mover, before = both.naive.to_act, dict(both.naive.stacks)
        captures = capturing_turns(both.state) if rng.random() < weight_of_captures else []
        if captures:
            turn = captures[rng.integers(len(captures))]
        else:
            texts = sorted(both.legal())
            moves = [text for text in texts if text[-1] in "^v"]
            if moves and rng.random() < weight_of_pieces:
                turn = [str(rng.choice(moves))]
                turn.append(str(rng.choice(sorted(both.play(*turn).legal()))))
            else:
                turn = [str(rng.choice(sorted(set(texts) - set(moves))))]
        both.play(*turn[both.naive.picked is not None :])
        captured = both.naive.captured
        for color, stack in captured:
            who = "mover" if color == mover else "opponent"
            seen[f"{who} loses {'one' if len(stack) == 1 else 'two' if stack[0] == stack[1] else 'the upper'}"] += 1
        seen["both lose"] += {color for color, _ in captured} == {0, 1}
        seen["captured by a tile"] += bool(captured) and "/" in turn[0]
        seen["landed on a piece"] += turn[-1][0] == ">" and both.naive.corner_from(turn[-1][1:]) in before
        left = both.naive.stacks
        seen["stack removed"] += turn[0][0] == "x" and any(
            len(before[corner]) == 2 for corner in before.keys() - left.keys()
        )
    seen[f"ended by {both.naive.reason}"] += 1
    return seen


POSITIONS = (
    ("trugo(max_turns=60,radius=3,tiles=30)", 120),
    ("trugo(max_turns=60,radius=2,tiles=18)", 120),
    ("trugo(max_turns=60,radius=3,stacking=False,tiles=30)", 60),
)


@pytest.mark.parametrize(("game_string", "num_positions"), POSITIONS)
def test_play_from_random_positions_is_the_same_to_both_implementations(
    game_string: str, num_positions: int, naive_state: NaiveState
) -> None:
    """Dense positions with many stacks, which random games seldom reach. The whole record is compared after each action."""
    game = load_game(game_string)
    rng = np.random.default_rng(5)
    seen: Counter[str] = Counter()
    for number in range(num_positions):
        naive = naive_state(game)
        naive.pool = int(rng.integers(1, 5)) if number % 2 else 0
        if random_position(game, naive, rng):
            seen += play_randomly(Both(game, naive), rng, (0.3, 0.7, 0.95)[number % 3], 0.8, 6)
    expected = {"mover loses one", "opponent loses one", "captured by a tile", "ended by pieces"}
    if game.options["stacking"]:
        expected |= {f"{who} loses {what}" for who in ("mover", "opponent") for what in ("two", "the upper")}
        expected |= {"landed on a piece", "stack removed"}
    assert {event for event in seen if seen[event]} - {"both lose", "ended by None", "ended by max_turns"} == expected


GAMES = (
    ("trugo(radius=2,tiles=9)", 30, {"pieces"}),
    ("trugo(pieces=2,radius=3,tiles=12)", 15, {"pieces"}),
    ("trugo(max_turns=40,radius=3,tiles=18)", 15, {"pieces", "max_turns"}),
    ("trugo(radius=3,stacking=False,tiles=12)", 15, {"pieces"}),
    ("trugo(pieces=1,radius=4,tiles=5)", 15, {"pieces"}),
    ("trugo(max_turns=90)", 2, set()),
)


@pytest.mark.parametrize(("game_string", "num_games", "reasons"), GAMES)
def test_random_games_are_the_same_to_both_implementations(
    game_string: str, num_games: int, reasons: set[str], naive_state: NaiveState
) -> None:
    game = load_game(game_string)
    seen: Counter[str] = Counter()
    for number in range(num_games):
        rng = np.random.default_rng(number)
        seen += play_randomly(Both(game, naive_state(game)), rng, (0.1, 0.5, 0.9)[number % 3], 0.1, 10_000)
    endings = {event.removeprefix("ended by "): times for event, times in seen.items() if event.startswith("ended by")}
    assert sum(endings.values()) == num_games
    assert reasons <= set(endings) <= {"pieces", "max_turns"}
