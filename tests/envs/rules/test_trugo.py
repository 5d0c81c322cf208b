"""Trugo: tiles, slides and steps on made-up positions, texts, symmetries, random positions and games against the naive one.

The other rulings are in tests/testdata/rulings.yaml. Corners are named as in action texts. Of pieces, X is White's and O
Blue's; of two letters the first is the upper piece. In a window of radius 4 the center is e5, and its neighbors are f5 (E),
e6 (NE), d6 (NW), d5 (W), e4 (SW) and f4 (SE).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import Game, IllegalActionError, Outcome, State, load_game

NaiveState = Callable[[Game], Any]
Record = Callable[[Game, Any], np.void]
Position = Callable[..., tuple[State, Any]]


class Both:
    """One game in the kernels and in the naive implementation, compared whenever something is asked."""

    def __init__(self, game: Game, naive: Any, record: Record) -> None:
        self.game = game
        self.naive = naive
        self.record = record
        self.state = State.from_record(game, record(game, naive), trusted=True)

    def legal(self) -> set[str]:
        texts = {self.state.action_to_string(action) for action in self.state.legal_actions()}
        assert texts == self.naive.legal_texts()
        return texts

    def play(self, *texts: str) -> Both:
        for text in texts:
            assert text in self.legal()
            self.state.apply_action(self.state.string_to_action(text))
            self.naive.play(text)
            assert self.state.record.tobytes() == self.record(self.game, self.naive).tobytes()
            outcome, result = self.state.outcome(), self.naive.result
            truncated = result == "truncated"
            assert outcome == (None if result is None else Outcome(None if truncated else result, self.naive.reason))
            assert self.state.is_truncated() == truncated
        return self


def legal(position: tuple[State, Any]) -> set[str]:
    """Return the legal actions of a position, which are those of the naive implementation."""
    state, naive = position
    texts = {state.action_to_string(action) for action in state.legal_actions()}
    assert texts == naive.legal_texts()
    return texts


def destinations(position: tuple[State, Any], corner: str) -> set[str]:
    """Pick the piece on ``corner`` and return where it may go."""
    state, naive = position
    state.apply_action(state.string_to_action(corner))
    naive.play(corner)
    return {text[1:] for text in legal(position)}


# -- R1, R6: tiles, slides and steps -----------------------------------------------------------------------------------

CORNERS_OF_E5 = {"N": "e5^", "NE": "e6v", "SE": "f4^", "S": "e5v", "SW": "e4^", "NW": "d6v"}

#: The corner to which each rotation joins each corner of a tile.
JOINED = {
    0: {"SE": "SW", "SW": "SE", "NE": "NW", "NW": "NE"},
    1: {"N": "SW", "SW": "N", "S": "NE", "NE": "S"},
    2: {"N": "SE", "SE": "N", "S": "NW", "NW": "S"},
}

#: Rotations of the tiles around e5 that cut off those corners of e5 that are of one kind.
CUT_OFF_AROUND = {"^": "e6/2 d6/1 d5/1 e4/0 f4/0 f5/2", "v": "e4/2 f4/1 f5/1 e6/0 d6/0 d5/2"}


@pytest.mark.parametrize("rotation", [0, 1, 2])
@pytest.mark.parametrize("name", CORNERS_OF_E5)
def test_a_tile_cuts_off_two_opposite_corners_and_joins_the_others_in_pairs(
    trugo_position: Position, name: str, rotation: int
) -> None:
    """R1, R6: steps are barred by pieces, so that only the way through the one tile is left."""
    corner = CORNERS_OF_E5[name]
    bars = {other: "O" for other in CORNERS_OF_E5.values() if other[-1] != corner[-1]}
    tiles = f"e5/{rotation} {CUT_OFF_AROUND[corner[-1]]}"
    position = trugo_position("trugo(stacking=False)", tiles, {corner: "X", **bars})
    joined = JOINED[rotation].get(name)
    if joined is None:
        assert corner not in legal(position)
    else:
        assert destinations(position, corner) == {CORNERS_OF_E5[joined]}


@pytest.mark.parametrize(("rotation", "expected"), [(0, {"g4^", "d6v"}), (1, {"d6v"}), (2, set())])
def test_a_slide_passes_partial_junctions_and_a_step_may_start_from_one(
    trugo_position: Position, rotation: int, expected: set[str]
) -> None:
    """R6: only d4^, g4^ and d6v are junctions. From partial e4^, or with rotation 1 of d5 from d5^, a step leads to d6v."""
    position = trugo_position("trugo", f"c5 d5/{rotation} e5 f5 g5 d4 g4 d6", {"d4^": "X"})
    assert position[0].game.position(position[0]).junctions.sum() == 3
    if expected:
        assert destinations(position, "d4^") == expected
    else:
        assert "d4^" not in legal(position)


#: Rows of tiles that rotation 0 joins by their SW and SE corners: c4^ d4^ e4^ f4^ g4^ h4^ are one region.
ROWS = "c5 d5 e5 f5 g5 d4 e4 f4 g4"


@pytest.mark.parametrize(
    ("pieces", "stacking", "expected"),
    [
        ({}, True, "e4^ f4^ g4^ d5v e5v f5v"),
        ({"f4^": "O"}, True, "e4^ f4^ d5v e5v"),
        ({"f4^": "X"}, True, "e4^ f4^ d5v e5v"),
        ({"f4^": "OX"}, True, "e4^ d5v e5v"),
        ({"f4^": "XX"}, True, "e4^ d5v e5v"),
        ({}, False, "e4^ f4^ g4^ d5v e5v f5v"),
        ({"f4^": "O"}, False, "e4^ d5v e5v"),
        ({"f4^": "X"}, False, "e4^ d5v e5v"),
        ({"f4^": "O", "d5v": "O"}, True, "e4^ f4^ d5v e5v"),
        ({"f4^": "O", "d5v": "X"}, True, "e4^ f4^ d5v e5v"),
        ({"f4^": "O", "d5v": "XO"}, True, "e4^ f4^ e5v"),
        ({"f4^": "O", "d5v": "O"}, False, "e4^ e5v"),
    ],
)
def test_slides_and_steps_end_on_one_piece_at_most_and_do_not_pass_it(
    trugo_position: Position, pieces: dict[str, str], stacking: bool, expected: str
) -> None:
    """R6: g4^ lies behind f4^, and f5v is next to those two only; a step leads to d5v from d4^ and e4^."""
    position = trugo_position(f"trugo(stacking={stacking})", ROWS, {"d4^": "X", **pieces})
    assert destinations(position, "d4^") == set(expected.split())


def test_the_arrays_of_a_position_are_signed_and_hold_minus_one_where_nothing_lies(trugo_position: Position) -> None:
    """The contents of a record are unsigned, where -1 has no place."""
    state, _ = trugo_position("trugo", "DISC", {"e6^": "XO", "e7v": "O"})
    position = state.game.position(state)
    assert {array.dtype for array in (position.tiles, position.top, position.below)} == {np.dtype(np.int8)}
    assert Counter(position.top[position.top != -1].tolist()) == {0: 1, 1: 1}
    assert position.below[position.below != -1].tolist() == [1]
    assert (position.tiles == -1).sum() == position.tiles.size - 19
    assert "White (X, player 0) to move" in str(state)


# -- R9: truncation ------------------------------------------------------------------------------------------------------


# -- R10 and options -----------------------------------------------------------------------------------------------------


def test_the_window_must_have_more_hexes_than_there_are_tiles() -> None:
    """R10."""
    assert load_game("trugo(radius=1,tiles=6)").options["tiles"] == 6
    for radius, tiles, hexes in ((1, 7, 7), (2, 36, 19), (10, 331, 331)):
        with pytest.raises(ValueError, match=rf"tiles must be less than {hexes}.* radius {radius}, got {tiles}"):
            load_game("trugo", radius=radius, tiles=tiles)
    with pytest.raises(ValueError, match=r"tiles must be .* radius 2, got 36"):
        load_game("trugo", radius=2)


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


def test_the_diagram_shows_tiles_pieces_and_the_player_to_move(
    trugo_position: Position, play: Callable[..., State]
) -> None:
    state, _ = trugo_position("trugo", "e5 e6/1 d6/2 f5", {"e5^": "X", "e6v": "OX"}, to_move=1)
    state.apply_action(state.string_to_action("e6v"))
    assert str(state).splitlines() == [
        "        7       .     .     .     .     .",
        "",
        "     6       .     2     1     .     .",
        "                      X  OX",
        "  5       .     .     0     0     .",
        "",
        "4      .     .     .     .     .",
        "",
        "    c     d     e     f     g",
        "Blue (O, player 1) to move: the destination of the piece on e6v; "
        "waning phase (tiles are removed), pieces on the board: 2 White, 1 Blue; turn 5 of at most 400",
    ]
    state.apply_action(state.string_to_action(">e5^"))
    assert "OX X" in str(state)
    assert "White (X, player 0) to move" in str(state)
    waxing = play("trugo(radius=4,tiles=18)", "e5/0 f5/1")
    assert (
        "waxing phase (tiles are added), tiles in the pool: 16; pieces in reserve: 25 White, 25 Blue; turn 3 of"
        in str(waxing)
    )
    assert str(play("trugo(max_turns=1,radius=4,tiles=18)", "e5/0")).endswith("was truncated: no winner in 1 turns")
    won = trugo_position("trugo", "e5 e6 d6 f5", {"e5^": "X", "e6v": "O"})[0]
    won.apply_action(won.string_to_action("xd6"))
    assert str(won).endswith("Blue (player 1) wins by pieces: White has no piece left")


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
    ("trugo(max_turns=60,radius=3,tiles=30)", 60),
    ("trugo(max_turns=60,radius=2,tiles=18)", 60),
    ("trugo(max_turns=60,radius=3,stacking=False,tiles=30)", 40),
)


@pytest.mark.parametrize(("game_string", "num_positions"), POSITIONS)
def test_play_from_random_positions_is_the_same_to_both_implementations(
    game_string: str, num_positions: int, naive_state: NaiveState, trugo_record: Record
) -> None:
    """Dense positions with many stacks, which random games seldom reach. The whole record is compared after each action."""
    game = load_game(game_string)
    rng = np.random.default_rng(5)
    seen: Counter[str] = Counter()
    for number in range(num_positions):
        naive = naive_state(game)
        naive.pool = int(rng.integers(1, 5)) if number % 2 else 0
        if random_position(game, naive, rng):
            seen += play_randomly(Both(game, naive, trugo_record), rng, (0.3, 0.7, 0.95)[number % 3], 0.8, 6)
    expected = {"mover loses one", "opponent loses one", "captured by a tile", "ended by pieces"}
    if game.options["stacking"]:
        expected |= {f"{who} loses {what}" for who in ("mover", "opponent") for what in ("two", "the upper")}
        expected |= {"landed on a piece", "stack removed"}
    assert {event for event in seen if seen[event]} - {"both lose", "ended by None", "ended by max_turns"} == expected


GAMES = (
    ("trugo(radius=2,tiles=9)", 9, {"pieces"}),
    ("trugo(pieces=2,radius=3,tiles=12)", 9, {"pieces"}),
    ("trugo(max_turns=40,radius=3,tiles=18)", 9, {"pieces", "max_turns"}),
    ("trugo(radius=3,stacking=False,tiles=12)", 9, {"pieces"}),
    ("trugo(pieces=1,radius=4,tiles=5)", 9, {"pieces"}),
    ("trugo(max_turns=90)", 1, set()),
)


@pytest.mark.parametrize(("game_string", "num_games", "reasons"), GAMES)
def test_random_games_are_the_same_to_both_implementations(
    game_string: str, num_games: int, reasons: set[str], naive_state: NaiveState, trugo_record: Record
) -> None:
    game = load_game(game_string)
    seen: Counter[str] = Counter()
    for number in range(num_games):
        rng = np.random.default_rng(number)
        seen += play_randomly(
            Both(game, naive_state(game), trugo_record), rng, (0.1, 0.5, 0.9)[number % 3], 0.1, 10_000
        )
    endings = {event.removeprefix("ended by "): times for event, times in seen.items() if event.startswith("ended by")}
    assert sum(endings.values()) == num_games
    assert reasons <= set(endings) <= {"pieces", "max_turns"}
