"""Random games, compared at every action with a second implementation that shares no code with the first.

Uniform random play rarely cuts, makes holes or captures: Taugo, Taigo and Trugo are also played by players that do.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from game_play import legal_texts
from side_by_side import Both, both_at, naive_state, random_game_of_both
from stoneworks.envs.rules import Game, State, load_game

pytestmark = pytest.mark.once

#: Games to compare in, the number of random games of each, and the reasons of endings that the sample must contain.
SAMPLES = (
    ("vadus(size=2)", 150, {"groups", "draw"}),
    ("vadus(size=3)", 150, {"groups", "draw"}),
    ("vadus(size=4)", 150, {"groups", "draw"}),
    ("vadus(size=5)", 60, {"groups"}),
    ("vadus(size=9)", 3, set()),
    ("laido(size=2)", 300, {"groups", "hills"}),
    ("laido(pie_rule=False,size=2)", 150, {"groups", "hills", "draw"}),
    ("laido(size=3)", 150, {"groups", "hills"}),
    ("laido(pie_rule=False,size=3)", 150, {"groups", "hills", "draw"}),
    ("laido(size=4)", 150, {"groups", "hills"}),
    ("laido(pie_rule=False,size=4)", 150, {"groups", "hills"}),
    ("laido(size=5)", 60, {"groups"}),
    ("laido(pie_rule=False,size=5)", 60, {"groups"}),
    ("laido(size=9)", 3, set()),
    ("laido(size=2,tie_break='first_pass')", 150, {"groups", "first_pass"}),
    ("laido(size=3,tie_break='first_pass')", 60, {"groups", "first_pass"}),
    ("taugo(size=3)", 80, {"score", "draw"}),
    ("taugo(size=4)", 40, {"score"}),
)

#: How often a random player passes or swaps where it can: from never (None: full boards) to mostly (empty ones).
GLOBAL_WEIGHTS = (None, 0.0, 0.02, 0.07, 0.15, 0.3, 0.5, 0.8)


@pytest.mark.parametrize(("game_string", "num_games", "expected_reasons"), SAMPLES)
def test_random_games_are_the_same_to_both_implementations(
    game_string: str, num_games: int, expected_reasons: set[str]
) -> None:
    game = load_game(game_string)
    endings: Counter[tuple[str, int | None]] = Counter()
    passes_in_a_row_broken = 0
    for number in range(num_games):
        for both in random_game_of_both(game, number, GLOBAL_WEIGHTS[number % len(GLOBAL_WEIGHTS)]):
            state = both.state
            both.assert_same(with_score=state.is_terminal() or (number + state.move_number()) % 9 == 0)
        passes_in_a_row_broken += not {"pass", "end"}.isdisjoint(state.serialize().split()[:-2])
        endings[state.outcome().reason, state.outcome().winner] += 1
    assert expected_reasons <= {reason for reason, _ in endings}
    if expected_reasons:
        # The sample is worth something: both players win, and some passes are answered by a stone.
        assert {0, 1} <= {winner for _, winner in endings}
        assert passes_in_a_row_broken > 0
    for tie_break in {"hills", "first_pass"} & expected_reasons:  # L5, L6
        assert {winner for reason, winner in endings if reason == tie_break} == {0, 1}


# -- Taugo: players that prefer cuts and long lines ----------------------------------------------------------------------

#: How players choose: the weight of each kind of action.
STYLES = {
    "fills the board": {"end": 0.01, "alone": 1, "start": 1, "further": 1, "cut": 1, "cut to the edge": 1},
    "cuts": {"end": 0.05, "alone": 0.3, "start": 3, "further": 1, "cut": 50, "cut to the edge": 50},
    "cuts inside": {"end": 0.3, "alone": 1, "start": 1, "further": 1, "cut": 200, "cut to the edge": 0.02},
    "long lines": {"end": 0.01, "alone": 1, "start": 50, "further": 200, "cut": 20, "cut to the edge": 20},
}


def kind_of_action(naive: Any, text: str) -> str:
    if text == "end":
        return "end"
    if text[0].isupper():
        return "cut to the edge" if naive.point(text[1:]) in naive.edge_points else "cut"
    if naive.last is not None:
        return "further"
    return "start" if naive.friends(naive.point(text), naive.to_act) else "alone"


def compare_game_of_taugo(game: Game, style: str, seed: int, every: int = 1) -> Counter[str]:
    """Play a random game with both implementations, compare them ``every`` so many actions, and count what was played."""
    generator = random.Random(seed)
    both = Both(game.new_initial_state())
    naive = both.naive
    played: Counter[str] = Counter()
    while naive.result is None:
        if both.state.move_number() % every == 0:
            both.assert_same()
        texts = sorted(legal_texts(both.state))
        text = generator.choices(texts, [STYLES[style][kind_of_action(naive, text)] for text in texts])[0]
        kind, mover, in_line = kind_of_action(naive, text), naive.to_act, naive.last is not None
        played[kind] += 1
        played["stop" if in_line else "pass"] += kind == "end"
        if kind.startswith("cut"):
            played["flips"] += len(naive.run_behind(naive.point(text[1:]), text[0])[0])
        both.play(text)
        played["turn ended by itself"] += kind not in ("end", "alone") and naive.to_act != mover
    both.assert_same()
    assert both.state.move_number() <= both.state.get_game().max_game_length()
    return played


@pytest.mark.parametrize(
    ("options", "style", "num_games", "every"),
    [
        *((f"size={n}", style, number, 1) for n, number in ((3, 15), (4, 12), (6, 8), (7, 5)) for style in STYLES),
        *(("cut_point='run',size=6", style, 8, 1) for style in STYLES if "cuts" in style),
        *(pytest.param("size=16", style, 1, 1, marks=pytest.mark.slow) for style in STYLES if "fills" not in style),
        # On the largest board, whose cells do not fit in records of the usual size.
        pytest.param("size=24", "long lines", 1, 11, marks=pytest.mark.slow),
    ],
)
def test_games_with_cuts_and_long_lines_agree_with_the_naive_implementation(
    options: str, style: str, num_games: int, every: int
) -> None:
    game = load_game(f"taugo({options})")
    played = sum((compare_game_of_taugo(game, style, seed, every) for seed in range(num_games)), Counter[str]())
    assert min(played[kind] for kind in ("alone", "start", "further", "turn ended by itself")) > num_games
    if game.options["size"] > 5:
        cuts = played["cut"] + played["cut to the edge"]
        assert played["cut"] > (num_games if style.startswith("cuts") else 0)
        assert played["flips"] > cuts, "some run had two stones or more"
    if style == "cuts inside":
        assert played["stop"] > num_games / 2


def scatter_stones(naive: Any, generator: random.Random) -> None:
    """Put stones at random on most points, edge points with a stone beside them included; no knots."""
    of_black = generator.uniform(0.2, 0.8)
    density = generator.uniform(0.5, 0.9)
    points = sorted(naive.intersections) + sorted(naive.edge_points)
    generator.shuffle(points)
    for point in sorted(points, key=lambda point: point in naive.edge_points):
        beside_stone = any(other in naive.stones for other in naive.neighbors(point))
        if generator.random() < density and (beside_stone or point in naive.intersections):
            naive.to_act = int(generator.random() > of_black)
            if not naive.makes_knot({point}):
                naive.stones[point] = naive.to_act


@pytest.mark.parametrize(
    ("size", "cut_point", "num_positions"),
    [(3, "string", 60), (4, "string", 80), (5, "string", 80), (6, "string", 50), (4, "run", 40), (6, "run", 40)],
)
def test_scattered_stones_allow_the_same_actions_and_one_of_them_leads_to_the_same_position(
    size: int, cut_point: str, num_positions: int
) -> None:
    """At the start of a turn, and as if each stone of the player to move were the last one of a line."""
    generator = random.Random(size)
    game = load_game("taugo", size=size, cut_point=cut_point)
    num_cuts: Counter[bool] = Counter()
    for _ in range(num_positions):
        start = naive_state(game)
        scatter_stones(start, generator)
        start.to_act = generator.randrange(2)
        own = sorted(point for point in start.intersections if start.stones.get(point) == start.to_act)
        for last in [None, *own]:
            naive = copy.deepcopy(start)
            naive.last = last
            naive.heading = generator.choice([None, None, None, *"NESW"]) if last else None
            both = both_at(game, naive)
            texts = both.assert_same(with_score=False)
            cuts = sorted(text for text in texts if text[0].isupper())
            num_cuts[last is not None] += len(cuts)
            if last is None or cuts:
                both.play(generator.choice(cuts or sorted(texts))).assert_same()
    assert min(num_cuts.values()) > num_positions / 20


@pytest.mark.parametrize(
    ("drawing", "last", "text", "is_legal"),
    [
        # T3: the cut Nb6 flips b3 and b4 beside a3 and a4, two edge stones, which make no knot.
        ("#.....# ....... .OO.... XO..... XOO.... .X..... #.....#", None, "Nb6", True),
        ("#.....# ....... .OO.... XO..... XOO.... .X..... #.....#", (1, 1), "Nb6", True),
        # T1, T7: a3, a4, a5 and a6 are not a line; only a6 by way of b6 could be cut to.
        ("#.....# .O..... OO..... OO..... XX..... ....... #.....#", None, "Na6", False),
    ],
)
def test_cuts_beside_edge_points(drawing: str, last: tuple[int, int] | None, text: str, is_legal: bool) -> None:
    """In a drawing of the whole grid, # for its corners, the top row first."""
    game = load_game("taugo(size=5)")
    naive = naive_state(game)
    for row, line in enumerate(reversed(drawing.split())):
        naive.stones.update({(column, row): "XO".index(symbol) for column, symbol in enumerate(line) if symbol in "XO"})
    naive.last = last
    assert (text in both_at(game, naive).assert_same()) == is_legal


# -- Taigo: players that make holes ----------------------------------------------------------------------------------------

#: Games to compare in, and the number of random games of each.
TAIGO = (
    ("taigo(radius=1)", 30),
    ("taigo(cones=1,radius=2)", 75),
    ("taigo(cones=0,radius=2,tiles=7)", 25),
    ("taigo(cones=1,radius=3)", 105),
    ("taigo(cones=2,radius=3,tiles=12)", 30),
    ("taigo(cones=0,handicap=(2,1),radius=4)", 60),
    ("taigo(cones=3,handicap=(0,1),radius=5)", 40),
    ("taigo(radius=12)", 2),
)


def choose_tile_or_cone(state: State, rng: np.random.Generator, style: int) -> int:
    """Return a random action (style 0), or where possible one that goes on with the game (1), or makes a hole (2)."""
    legal = [int(action) for action in rng.permutation(state.legal_actions())]
    if style == 0:
        return legal[0]
    going_on = [action for action in legal[:12] if not state.child(action).is_terminal()]
    tried = legal[:40] if style == 2 else []
    making_holes = [action for action in tried if state.child(action).record["holes_to_fill"]]
    return (making_holes or going_on or legal)[0]


def test_games_with_holes_are_the_same_to_both_implementations() -> None:
    """G1 to G6. The counts say that the sample holds what it is meant to hold."""
    seen: Counter[Any] = Counter()
    for sample, num_games in TAIGO:
        for number in range(num_games):
            rng = np.random.default_rng(number)
            both = Both(load_game(sample).new_initial_state())
            state, naive = both.state, both.naive
            while texts := both.assert_same():
                mover, cones = state.current_player(), len(naive.to_fill)
                seen["holes to fill", cones] += 1
                seen["colors of cones", len({text[-1] for text in texts}) if cones else None] += 1
                seen["hole left open"] += bool(naive.holes() - naive.to_fill)
                both.play(state.action_to_string(choose_tile_or_cone(state, rng, number % 3)))
            winner, reason = state.outcome()
            seen[reason] += 1
            if reason == "five":
                seen["five of the", "mover" if winner == mover else "opponent"] += 1
            assert state.move_number() <= state.get_game().max_game_length()
    assert min(seen[reason] for reason in ("five", "draw", "no_place")) >= 12, seen
    assert min(seen["five of the", who] for who in ("mover", "opponent")) >= 6, seen
    assert min(seen["holes to fill", number] for number in (1, 2)) >= 8, seen
    assert min(seen["colors of cones", number] for number in (1, 2)) >= 8, seen
    assert seen["hole left open"] >= 8, seen


# -- Trugo: dense positions, and players that capture ------------------------------------------------------------------------


def random_position(game: Game, naive: Any, rng: np.random.Generator) -> bool:
    """Give ``naive`` random tiles and pieces, with no group surrounded. Returns whether a game may go on from there."""
    tiles = [(0, 0)]
    power = rng.integers(0, 12)
    while len(tiles) < game.options["tiles"] - naive.pool:
        beside = sorted({at for tile in tiles for at in naive.neighbors(tile)} & naive.window - set(tiles))
        # The hexes with most tiles around them make junctions.
        weights = np.array([sum(at in tiles for at in naive.neighbors(place)) for place in beside], float) ** power
        tiles.append(beside[rng.choice(len(beside), p=weights / weights.sum())])
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
            ends = [([text, state.action_to_string(end)], child.child(end)) for end in child.legal_actions()]
        for texts, end in ends:
            lost = left_and_in_reserve(end) < before
            if lost.any():
                turns.append(texts)
            if lost.all():
                of_both.append(texts)
    return of_both or turns


def play_trugo(
    both: Both, rng: np.random.Generator, weight_of_pieces: float, weight_of_captures: float, num_turns: int
) -> Counter[str]:
    """Play and compare at every action. Returns what happened.

    With probability ``weight_of_captures`` a turn captures something where one can, else with probability
    ``weight_of_pieces`` a piece moves where one can.
    """
    seen: Counter[str] = Counter()
    naive, texts = both.naive, both.assert_same()
    for _ in range(num_turns):
        if not texts:
            break
        mover, before = naive.to_act, dict(naive.stacks)
        captures = capturing_turns(both.state) if rng.random() < weight_of_captures else []
        moves = sorted(text for text in texts if text[-1] in "^v")
        if captures:
            turn = captures[rng.integers(len(captures))]
        elif moves and rng.random() < weight_of_pieces:
            turn = [str(rng.choice(moves))]
            turn.append(str(rng.choice(sorted(both.play(turn[0]).assert_same()))))
        else:
            turn = [str(rng.choice(sorted(texts - set(moves))))]
        for text in turn[naive.picked is not None :]:
            texts = both.play(text).assert_same()
        for color, stack in naive.captured:
            who = "mover" if color == mover else "opponent"
            seen[f"{who} loses {'one' if len(stack) == 1 else 'two' if stack[0] == stack[1] else 'the upper'}"] += 1
        seen["captured by a tile"] += bool(naive.captured) and "/" in turn[0]
        seen["landed on a piece"] += turn[-1][0] == ">" and naive.corner_from(turn[-1][1:]) in before
        seen["stack removed"] += turn[0][0] == "x" and any(
            len(before[corner]) == 2 for corner in before.keys() - naive.stacks.keys()
        )
    seen[f"ended by {naive.reason}"] += 1
    return seen


@pytest.mark.parametrize(
    ("game_string", "num_positions"),
    [
        ("trugo(max_turns=60,radius=3,tiles=30)", 60),
        ("trugo(max_turns=60,radius=2,tiles=18)", 60),
        ("trugo(max_turns=60,radius=3,stacking=False,tiles=30)", 40),
    ],
)
def test_play_from_random_positions_is_the_same_to_both_implementations(game_string: str, num_positions: int) -> None:
    """Dense positions with many stacks, which random games seldom reach. The whole record is compared after each action."""
    game = load_game(game_string)
    rng = np.random.default_rng(5)
    seen: Counter[str] = Counter()
    for number in range(num_positions):
        naive = naive_state(game)
        naive.pool = int(rng.integers(1, 5)) if number % 2 else 0
        if random_position(game, naive, rng):
            seen += play_trugo(both_at(game, naive), rng, (0.3, 0.7, 0.95)[number % 3], 0.8, 6)
    expected = {"mover loses one", "opponent loses one", "captured by a tile", "ended by pieces"}
    if game.options["stacking"]:
        expected |= {f"{who} loses {what}" for who in ("mover", "opponent") for what in ("two", "the upper")}
        expected |= {"landed on a piece", "stack removed"}
    assert {event for event in seen if seen[event]} - {"ended by None", "ended by max_turns"} == expected


@pytest.mark.parametrize(
    ("game_string", "num_games", "reasons"),
    [
        ("trugo(radius=2,tiles=9)", 9, {"pieces"}),
        ("trugo(pieces=2,radius=3,tiles=12)", 9, {"pieces"}),
        ("trugo(max_turns=40,radius=3,tiles=18)", 9, {"pieces", "max_turns"}),
        ("trugo(radius=3,stacking=False,tiles=12)", 9, {"pieces"}),
        ("trugo(pieces=1,radius=4,tiles=5)", 9, {"pieces"}),
        ("trugo(max_turns=90)", 1, set()),
    ],
)
def test_random_games_of_trugo_are_the_same_to_both_implementations(
    game_string: str, num_games: int, reasons: set[str]
) -> None:
    seen: Counter[str] = Counter()
    for number in range(num_games):
        both = Both(load_game(game_string).new_initial_state())
        seen += play_trugo(both, np.random.default_rng(number), (0.1, 0.5, 0.9)[number % 3], 0.1, 10_000)
    endings = {event.removeprefix("ended by ") for event in seen if event.startswith("ended by")}
    assert reasons <= endings <= {"pieces", "max_turns"}
