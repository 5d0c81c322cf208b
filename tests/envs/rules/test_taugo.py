"""The rulings T1 to T9 of Taugo, each on named positions. X is Black, O is White; drawn are the intersections, the top row first.

The intersections of a board of size N have the columns b, c, ... and the rows 2 to N + 1; around them lie the edge points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from stoneworks.envs.rules import IllegalActionError, Outcome, State, load_game

Play = Callable[..., State]
LegalTexts = Callable[[State], set[str]]

BLACK, WHITE = 0, 1

#: Black's cut Sc1 flips the two white stones below c4 and reaches the edge.
CUT_TO_THE_EDGE = """
    . . . .
    . X . .
    . O O .
    O O . .
"""


def apply_texts(state: State, texts: str) -> State:
    for text in texts.split():
        state.apply_action(state.string_to_action(text))
    return state


def placed(drawing: str, to_act: int) -> State:
    """Return the drawn position with ``to_act`` at the start of a turn, played with passes between.

    The stones of ``to_act`` are placed first. Where the other player has none, that player has just passed.
    """
    rows = [line.split() for line in drawing.strip().splitlines()]
    size = len(rows)
    state = load_game("taugo", size=size).new_initial_state()
    stones: list[list[str]] = [[], []]
    for row, symbols in enumerate(reversed(rows), start=2):
        for column, symbol in enumerate(symbols, start=1):
            if symbol != ".":
                stones["XO".index(symbol)].append(f"{'abcdefghijklmnopqrstuvwxyz'[column]}{row}")
    for player in (to_act, 1 - to_act):
        for cell in stones[player]:
            if state.current_player() != player:
                apply_texts(state, "end")
            apply_texts(state, cell)
            if state.current_player() == player:
                apply_texts(state, "end")
    if state.current_player() != to_act:
        apply_texts(state, "end")
    assert state.record["last_stone"] == -1
    return state


def stones_of(state: State) -> tuple[set[str], set[str]]:
    names = state.game.grid.cell_names
    black, white = ({names[cell] for cell in np.flatnonzero(state.record["stones"] == code)} for code in (1, 2))
    return black, white


def is_refused(state: State, text: str) -> bool:
    before = state.clone()
    with pytest.raises(IllegalActionError, match=text):
        apply_texts(state, text)
    return state == before


# -- T1, T2, T3: points, strings, knots --------------------------------------------------------------------------------


def test_the_first_actions_are_every_intersection_and_a_pass(play: Play, legal_texts: LegalTexts) -> None:
    """T1, T4, T7: Black begins."""
    state = play("taugo(size=3)")
    assert state.current_player() == BLACK
    assert state.game.colors == ("Black", "White")
    assert legal_texts(state) == {"b2", "b3", "b4", "c2", "c3", "c4", "d2", "d3", "d4", "end"}


@pytest.mark.parametrize("size", [3, 4, 16, 24])
def test_the_board_has_its_intersections_its_perimeter_and_its_edge_points(size: int) -> None:
    """T1: 4 N edge points, each with one neighbor; the corners of the grid are off the board."""
    game = load_game("taugo", size=size)
    grid = game.grid
    assert (grid.height, grid.width) == (size + 2, size + 2)
    num_neighbors = (grid.neighbors >= 0).sum(axis=1)
    inside = np.zeros((size + 2, size + 2), bool)
    inside[1:-1, 1:-1] = True
    assert np.array_equal(num_neighbors == 4, inside.ravel())
    assert (num_neighbors == 1).sum() == 4 * size
    corners = [0, size + 1, (size + 1) * (size + 2), (size + 2) ** 2 - 1]
    assert np.flatnonzero(~grid.on_board).tolist() == corners == np.flatnonzero(num_neighbors == 0).tolist()
    step = {"N": (1, 0), "E": (0, 1), "S": (-1, 0), "W": (0, -1)}
    for cell, name in enumerate(grid.cell_names):
        for direction, (up, right) in enumerate(step.values()):
            neighbor = grid.neighbors[cell, direction]
            if neighbor >= 0:
                assert neighbor == cell + up * (size + 2) + right, name
                assert grid.neighbors[neighbor, (direction + 2) % 4] == cell


def test_the_middle_of_a_square_grid_is_at_distance_0() -> None:
    distances = load_game("taugo(size=4)").grid.distance_from_center.reshape(6, 6)
    assert distances[2:4, 2:4].max() == 0
    assert distances[1, 1] == 2
    assert distances[0, 1] == 3
    assert distances[0, 0] == -1
    distances = load_game("taugo(size=3)").grid.distance_from_center.reshape(5, 5)
    assert (distances == 0).sum() == 1
    assert distances[2, 2] == 0
    assert distances[2, 4] == 2


def test_an_edge_point_is_the_outward_neighbor_of_its_intersection(legal_texts: LegalTexts) -> None:
    """T1, T6 (2): the black stone c2 has two friends only where the edge point c1 counts as one."""
    state = apply_texts(placed(CUT_TO_THE_EDGE, BLACK), "Sc1")
    assert stones_of(state) == ({"c4", "c3", "c2", "c1"}, {"b2", "d3"})
    assert "Ed2" in legal_texts(state)
    without_edge_stone = placed(
        """
        . . . .
        . X . .
        . X O .
        O X . .
        """,
        WHITE,
    )
    assert "Ed2" not in legal_texts(without_edge_stone)


def test_edge_points_side_by_side_are_not_adjacent(play: Play, legal_texts: LegalTexts) -> None:
    """T1, T2, T6 (1): c6 and d6 are no neighbors, and the stones f3 and f4 are no string."""
    state = play("taugo(size=4)", "e5 d3 d5 d4 c5 b3 b5 b4 c3 c4 Nd6")
    assert "d6" in stones_of(state)[WHITE]
    assert "Nc6" in legal_texts(state), "of the string of c5 and d6, only c5 is adjacent to c6"
    state = play("taugo(size=4)", "e3 b3 d3 d2 c3 c2 e4 e5 Ef3 Se2 d4 Ef4")
    assert {"f3", "f4"} <= stones_of(state)[WHITE]
    assert state.score() == (1 + 6, 6 + 3), "two strings each: f3 is alone"


def test_a_stone_on_an_edge_point_is_part_of_its_string_and_a_string_of_its_own_when_cut_off(
    legal_texts: LegalTexts,
) -> None:
    """T2, T9: with c1 cut off Black has two strings to White's one."""
    state = apply_texts(placed(CUT_TO_THE_EDGE, BLACK), "Sc1")
    assert state.score() == (1 + 1 + 0.5, 1), (
        "Black's one string has c2 on the perimeter and c1 on the edge; White's are b2 and d3"
    )
    apply_texts(state, "Ed2")
    assert stones_of(state) == ({"c4", "c3", "c1"}, {"b2", "c2", "d2", "d3"})
    assert state.score() == (0 + 1, 6 + 0.5)
    assert legal_texts(state) == {"e2", "end"}


def test_a_turn_may_not_leave_a_knot_but_may_surround_the_other_color(legal_texts: LegalTexts) -> None:
    """T3: c3 would complete a black knot; for White it is a stone like any other."""
    drawing = """
        . . . .
        . . . .
        X . . .
        X X . .
    """
    assert "c3" not in legal_texts(placed(drawing, BLACK))
    assert is_refused(placed(drawing, BLACK), "c3")
    assert {"b4", "c4", "d2"} <= legal_texts(placed(drawing, BLACK))
    assert "c3" in legal_texts(placed(drawing, WHITE))


@pytest.mark.parametrize(
    ("drawing", "knot"),
    [
        (". . . .\n. X X .\n. X . .\n. . . .", "d3"),
        (". . . .\n. X X .\n. . X .\n. . . .", "c3"),
        (". . . .\n. X . .\n. X X .\n. . . .", "d4"),
        (". . . .\n. . X .\n. X X .\n. . . .", "c4"),
        (". . X X\n. . X .\n. . . .\n. . . .", "e4"),
        ("X . . .\nX X . .\n. . . .\n. . . .", "c5"),
    ],
)
def test_every_corner_of_a_block_completes_a_knot(drawing: str, knot: str, legal_texts: LegalTexts) -> None:
    """T3."""
    state = placed(drawing, BLACK)
    empty = {f"{column}{row}" for column in "bcde" for row in "2345"} - stones_of(state)[BLACK]
    assert legal_texts(state) == empty - {knot} | {"end"}


def test_a_stone_of_a_line_may_not_make_a_knot_either(legal_texts: LegalTexts) -> None:
    """T3, T5: after b3 the point c3 is closed, and the line's other ways are open."""
    state = placed(
        """
        . . . .
        . . . .
        . . . .
        X X . .
        """,
        BLACK,
    )
    apply_texts(state, "b3")
    assert legal_texts(state) == {"b4", "end"}


def test_edge_points_are_never_part_of_a_knot(play: Play, legal_texts: LegalTexts) -> None:
    """T3: the cut Wa3 leaves a3, a4, b3 and b4 all white."""
    state = play("taugo(size=4)", "c5 d4 b5 b4 b3 b2 c4 Wa4 Sc3 d3")
    assert "Wa3" in legal_texts(state)
    apply_texts(state, "Wa3")
    assert {"a3", "a4", "b3", "b4"} <= stones_of(state)[WHITE]


# -- T4, T5: turns and lines -------------------------------------------------------------------------------------------

LONE_BLACK_STONE = """
    . . . . .
    . . . . .
    . . X . .
    . . . . .
    . . . . .
"""


@pytest.mark.parametrize("cell", ["b2", "c3", "e5", "c5", "e3", "f6", "d2", "d6", "b4", "f4"])
def test_a_stone_without_a_friend_beside_it_is_the_whole_turn(cell: str) -> None:
    """T4 (b): a diagonal neighbor is none."""
    state = apply_texts(placed(LONE_BLACK_STONE, BLACK), cell)
    assert state.current_player() == WHITE
    assert stones_of(state)[BLACK] == {"d4", cell}


@pytest.mark.parametrize("cell", ["d5", "e4", "d3", "c4"])
def test_a_stone_beside_a_friend_starts_a_line(cell: str, legal_texts: LegalTexts) -> None:
    """T4 (c), T5: the same player goes on, in any direction but over the friendly stone."""
    state = apply_texts(placed(LONE_BLACK_STONE, BLACK), cell)
    assert state.current_player() == BLACK
    column, row = cell
    around = {f"{chr(ord(column) + x)}{int(row) + y}" for x, y in ((0, 1), (1, 0), (0, -1), (-1, 0))}
    assert legal_texts(state) == around - {"d4"} | {"end"}


def test_a_stone_with_only_enemy_neighbors_is_the_whole_turn() -> None:
    """T4 (b): a friend, not a neighbor of either color, makes a line."""
    state = apply_texts(placed(LONE_BLACK_STONE, WHITE), "d5")
    assert state.current_player() == BLACK


def test_an_occupied_point_is_illegal() -> None:
    """T4, T5."""
    assert is_refused(placed(LONE_BLACK_STONE, BLACK), "d4")
    assert is_refused(placed(LONE_BLACK_STONE, WHITE), "d4")


@pytest.mark.parametrize(("second", "third", "ahead"), [("e5", "f5", set()), ("c5", "b5", set()), ("d6", None, None)])
def test_the_second_stone_chooses_the_direction(
    second: str, third: str | None, ahead: set[str] | None, legal_texts: LegalTexts
) -> None:
    """T5: from then on straight; d6 is at the edge, where the turn ends by itself."""
    state = apply_texts(placed(LONE_BLACK_STONE, BLACK), f"d5 {second}")
    if third is None:
        assert state.current_player() == WHITE
        return
    assert legal_texts(state) == {third, "end"}
    assert is_refused(state, "d6")
    apply_texts(state, third)
    assert state.current_player() == WHITE


def test_a_line_never_skips_an_empty_point_and_never_passes_a_friendly_stone(legal_texts: LegalTexts) -> None:
    """T5: from e4 the points g4 and c4 are out of reach, and after f4 the friend on g4 stops the line."""
    state = placed(
        """
        . . . . . .
        . . . . . .
        . . . . . .
        . . X . . X
        . . . . . .
        . . . . . .
        """,
        BLACK,
    )
    apply_texts(state, "e4")
    assert state.current_player() == BLACK
    assert legal_texts(state) == {"e5", "f4", "e3", "end"}
    apply_texts(state, "f4")
    assert state.current_player() == WHITE, "nothing but the friend g4 lies ahead"


def test_the_mover_may_stop_after_any_stone_of_a_line() -> None:
    """T5, T8."""
    for stones in ("d5", "d3", "e4", "c4"):
        state = apply_texts(placed(LONE_BLACK_STONE, BLACK), stones)
        assert state.current_player() == BLACK
        apply_texts(state, "end")
        assert state.current_player() == WHITE
        assert not state.record["consecutive_passes"]


def test_a_line_that_starts_with_a_cut_goes_on_in_the_direction_of_the_cut(legal_texts: LegalTexts) -> None:
    """T5: from e4 east alone, though north and south are empty too."""
    state = placed(
        """
        . . . . . .
        . . O . . .
        . X O . . .
        . . O . . .
        . . . . . .
        . . . . . .
        """,
        BLACK,
    )
    apply_texts(state, "Ee5")
    assert state.current_player() == BLACK
    assert legal_texts(state) == {"f5", "end"}
    apply_texts(state, "f5 g5")
    assert state.current_player() == WHITE


def test_a_line_may_cut_on_its_way_and_only_right_after_its_last_stone(legal_texts: LegalTexts) -> None:
    """T5, T6: after c5 the run e5 is not reached yet; after d5 it is, and the place f5 beyond it is reached by the cut alone."""
    state = placed(
        """
        . . . . . .
        . . . O . .
        X . . O . .
        . . . O . .
        . . . . . .
        . . . . . .
        """,
        BLACK,
    )
    apply_texts(state, "c5")
    assert legal_texts(state) == {"c6", "d5", "c4", "end"}
    apply_texts(state, "d5")
    assert legal_texts(state) == {"Ef5", "end"}
    apply_texts(state, "Ef5")
    assert stones_of(state) == ({"b5", "c5", "d5", "e5", "f5"}, {"e6", "e4"})
    assert legal_texts(state) == {"g5", "end"}


def test_a_cut_elsewhere_may_not_go_on_with_a_line(legal_texts: LegalTexts) -> None:
    """T5, T6: Ee5 is a legal first stone, but no further stone of a line that starts at c3."""
    state = placed(
        """
        . . . . . .
        . . O . . .
        . X O . . .
        . . O . . .
        . X . . . .
        . . . . . .
        """,
        BLACK,
    )
    assert "Ee5" in legal_texts(state)
    apply_texts(state, "d3")
    assert legal_texts(state) == {"e3", "d2", "end"}
    assert is_refused(state, "Ee5")


@pytest.mark.parametrize(
    ("drawing", "line", "ends", "why"),
    [
        (". . . .\n. . . .\n. . . .\nX . . .", "c2 d2", False, "e2 is empty"),
        (". . . .\n. . . .\n. . . .\nX . . .", "c2 d2 e2", True, "the next point is an edge point"),
        (". . . .\n. . . .\n. . . .\nX . . X", "c2 d2", True, "the next point holds a friend"),
        (". . . .\n. . . .\n. . . .\nX . . O", "c2 d2", True, "the next point holds an enemy that cannot be cut"),
        (". . . .\n. . . .\n. . X X\nX . . .", "c2 d2", True, "the next point is a knot"),
        (". . . .\n. . . .\n. . X .\nX . . .", "c2 d2", False, "no knot there yet"),
        (
            ". . . .\n. . . O\n. . . O\nX . . O",
            "c2 d2",
            True,
            "the edge point ahead could be cut to, but e2 has one friend",
        ),
        (". . . .\n. . . .\n. . . O\nX . . .", "c2 d2", False, "the enemy is beside the line"),
        ("X O . .\n. X O .\nX O . .\n. . . .", "b4", True, "a first stone with friends on three sides, and the edge"),
        ("X O . .\n. . O .\nX O . .\n. . . .", "b4", False, "a first stone with an empty point beside it"),
    ],
)
def test_a_turn_ends_by_itself_where_no_further_stone_is_legal(drawing: str, line: str, ends: bool, why: str) -> None:
    """T5."""
    state = apply_texts(placed(drawing, BLACK), line)
    assert (state.current_player() == WHITE) == ends, why


def test_a_turn_does_not_end_where_a_cut_is_the_only_further_stone(legal_texts: LegalTexts) -> None:
    """T5: d3 is followed by a run with the edge behind it."""
    state = placed(
        """
        . . . .
        . . . O
        X . . O
        . . . O
        """,
        BLACK,
    )
    apply_texts(state, "c3 d3")
    assert state.current_player() == BLACK
    assert legal_texts(state) == {"Ef3", "end"}


# -- T6, T7: cuts ------------------------------------------------------------------------------------------------------


def turned(drawing: str, turns: int) -> str:
    """Return a drawing turned counter-clockwise by quarters."""
    symbols = np.array([list(line.replace(" ", "")) for line in drawing.strip().splitlines()])
    return "\n".join(" ".join(row) for row in np.rot90(symbols, turns))


def turned_text(text: str, turns: int, size: int) -> str:
    """Return the text of an action on a board that is turned counter-clockwise by quarters."""
    heading, cell = (text[0], text[1:]) if text[0].isupper() else ("", text)
    if not cell[1:].isdigit():
        return text
    column, row = ord(cell[0]) - ord("a"), int(cell[1:]) - 1
    for _ in range(turns):
        column, row = size + 1 - row, column
        heading = {"": "", "N": "W", "W": "S", "S": "E", "E": "N"}[heading]
    return f"{heading}{chr(ord('a') + column)}{row + 1}"


#: The rows 6, 5 and 4 of a board of 6, a cut of Black's, and whether it is legal.
CUTS = {
    "T6: a run of one stone": (". . O . . .", ". X O . . .", ". . O . . .", "Ee5", True),
    "T6: a run of three stones": (". . O . O .", "X O O O . .", ". O . O . .", "Ef5", True),
    "T6: a run of four stones": (". O . . . .", "X O O O O .", ". . . . O .", "Eg5", True),
    "T6: no friendly stone behind the run": (". . O . . .", ". . O . . .", ". X O . . .", "Ee5", False),
    "T6: an empty point behind the run": (". . O . . .", "X . O . . .", ". . O . . .", "Ee5", False),
    "T6: the edge behind the run": ("O . . . . .", "O . . . . .", "O . . . . X", "Ec5", False),
    "T6: an empty point within the run": (". O . O . .", "X O . O . .", ". O . O . .", "Ef5", False),
    "T6: a friendly stone beyond the run": (". . O . . .", ". X O X . .", ". . O . . .", "Ee5", False),
    "T6: not right after the run": (". . O . . .", ". X O . . .", ". . O . . .", "Ef5", False),
    "T6: no run": (". . O . . .", ". X . . . .", ". . O . . .", "Ed5", False),
    "T6(1): the string a second time, round a corner": (". . O O . .", ". X O . . .", ". . O . . .", "Ee5", False),
    "T6(1): the string a second time, beyond": (". O O O . .", "X O . O . .", ". O . . . .", "Ed5", False),
    "T6(1): two other strings": (". O . O . .", "X O O . O .", ". . O . . .", "Ee5", True),
    "T6(1): one other string, twice": (". O . O O .", "X O O . O .", ". . O . . .", "Ee5", True),
    "T6(2): one friend": (". . O . . .", ". X O . . .", ". . . . . .", "Ee5", False),
    "T6(2): no friend": (". . . O . .", ". X O . . .", ". . . . . .", "Ee5", False),
    "T6(2): one friend of the first stone of two": (". . . O . .", ". X O O . .", ". . . O . .", "Ef5", False),
    "T6(2): one friend of the last stone of two": (". . O . . .", ". X O O . .", ". . O . . .", "Ef5", False),
    "T6(2): a friend in the run and one beside it": (". . O . . .", ". X O O . .", ". . . O . .", "Ef5", True),
    "T6(2): a stone of the other color is no friend": (". . O X . .", ". X O O . .", ". . . X . .", "Ef5", False),
    "T6(3): a knot with the friend behind": ("X X O . . .", "X O O . . .", ". O . . . .", "Ee5", False),
    "T6(3): all but a knot with the friend behind": (". X O . . .", "X O O . . .", ". O . . . .", "Ee5", True),
    "T6(3): a knot of two flipped stones": (". X X . . .", "X O O O . .", ". O . O . .", "Ef5", False),
    "T6(3): all but a knot of two flipped stones": (". X . X . .", "X O O O . .", ". O . O . .", "Ef5", True),
    "T6(3): a knot of the last flipped stone and the placed one": (
        ". O X X . .",
        "X O O . . .",
        ". . O . . .",
        "Ee5",
        False,
    ),
    "T6(3): a knot of the placed stone and one beyond": (". O . X X .", "X O O . X .", ". . O . . .", "Ee5", False),
    "T6(3): an enemy stone beyond": (". O . X X .", "X O O . O .", ". . O . . .", "Ee5", True),
    "T7: to the edge": (". . . . . O", ". . . . X O", ". . . . . O", "Eh5", True),
    "T7, T6(2): to the edge, one friend": (". . . . . O", ". . . . X O", ". . . . . .", "Eh5", False),
}


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("name", CUTS)
def test_a_cut_is_legal_where_its_conditions_are_met_in_every_heading(
    name: str, turns: int, legal_texts: LegalTexts
) -> None:
    """T6, T7: each position in its four turns, as it is and upside down, with the colors as drawn and exchanged."""
    *rows, cut, expected = CUTS[name]
    empty = ". . . . . ."
    drawing = "\n".join([empty, *rows, empty, empty])
    upside_down = "\n".join([empty, *reversed(rows), empty, empty])
    for drawn in (drawing, upside_down):
        state = placed(turned(drawn, turns), BLACK)
        text = turned_text(cut, turns, 6)
        assert (text in legal_texts(state)) == expected, str(state)
        exchanged = placed(turned(drawn.translate(str.maketrans("XO", "OX")), turns), WHITE)
        assert (text in legal_texts(exchanged)) == expected, str(exchanged)
        if not expected:
            assert is_refused(state, text)


def test_strings_are_distinguished_however_long_the_detour(legal_texts: LegalTexts) -> None:
    """T6(1): c5 and e5 are of one string by way of the top row, until a gap parts them."""
    rows = [". O O O O .", ". O . . O .", "X O . O O .", ". O . . . .", ". . . . . .", ". . . . . ."]
    assert "Ed5" not in legal_texts(placed("\n".join(rows), BLACK))
    rows[0] = ". O O . O ."
    assert "Ed5" in legal_texts(placed("\n".join(rows), BLACK))


def test_a_cut_parts_the_string_it_crosses_and_joins_those_it_meets() -> None:
    """T2, T6, T9: the half point for fewer strings changes hands."""
    state = placed(
        """
        . O . . . .
        . O . . . .
        X O . X . .
        . O . . . .
        . O . . . .
        . . . . . .
        """,
        BLACK,
    )
    assert state.score() == (1, 1.5)
    apply_texts(state, "Ed5")
    assert stones_of(state) == ({"b5", "c5", "d5", "e5"}, {"c7", "c6", "c4", "c3"})
    assert state.score() == (1.5, 1)


def test_a_cut_may_start_from_a_friend_on_an_edge_point(play: Play, legal_texts: LegalTexts) -> None:
    """T1, T6: the white stone on e1 is the friend behind the run e2 to e6."""
    state = play("taugo(size=5)", "d4 d5 d2 d6 c6 b6 e4 e3 e2 e5 Se1 Ef2 d3 c3 b3 Nd7 Wc5 Ne6")
    assert "e1" in stones_of(state)[WHITE]
    assert {"e2", "e3", "e4", "e5", "e6"} <= stones_of(state)[BLACK]
    assert "Ne7" in legal_texts(state)
    apply_texts(state, "Ne7")
    assert {"e1", "e2", "e3", "e4", "e5", "e6", "e7"} <= stones_of(state)[WHITE]


def test_only_the_run_flips() -> None:
    """T6: enemy stones beside the placed stone and the run stay, with a friend behind them or not."""
    state = placed(
        """
        . . . X . .
        . O . O . .
        X O O . O X
        . . O . . .
        . . X . . .
        . . . . . .
        """,
        BLACK,
    )
    apply_texts(state, "Ee5")
    assert stones_of(state) == ({"b5", "c5", "d5", "e5", "g5", "e7", "d3"}, {"c6", "e6", "d4", "f5"})


def test_one_point_may_be_cut_to_in_several_headings_and_each_flips_its_own_run(legal_texts: LegalTexts) -> None:
    """T6: Ee5 and We5 are two actions, and e5 itself a third, as a friend is beside it."""
    drawing = """
        . . . . . .
        . . O X O .
        . X O . O X
        . . O . O .
        . . . . . .
        . . . . . .
    """
    assert {"Ee5", "We5", "e5"} <= legal_texts(placed(drawing, BLACK))
    assert "Se5" not in legal_texts(placed(drawing, BLACK)), "there is no run between e6 and e5"
    assert stones_of(apply_texts(placed(drawing, BLACK), "Ee5"))[WHITE] == {"d6", "d4", "f6", "f5", "f4"}
    assert stones_of(apply_texts(placed(drawing, BLACK), "We5"))[WHITE] == {"d6", "d5", "d4", "f6", "f4"}
    state = apply_texts(placed(drawing, BLACK), "e5")
    assert stones_of(state)[WHITE] == {"d6", "d5", "d4", "f6", "f5", "f4"}
    assert state.current_player() == BLACK, "e5 starts a line"


def test_an_edge_point_is_filled_by_a_cut_alone(legal_texts: LegalTexts) -> None:
    """T7: neither as a single stone nor as the next stone of a line; the cut ends the turn by itself."""
    state = placed(CUT_TO_THE_EDGE, BLACK)
    edge_points = {f"{column}{row}" for column in "bcde" for row in (1, 6)} | {
        f"{column}{row}" for column in "af" for row in range(2, 6)
    }
    assert not edge_points & legal_texts(state)
    assert is_refused(state, "c1")
    assert is_refused(state, "Sb1")
    apply_texts(state, "Sc1")
    assert "c1" in stones_of(state)[BLACK]
    assert state.current_player() == WHITE
    line = apply_texts(placed(LONE_BLACK_STONE, BLACK), "d5 d6")
    assert line.current_player() == WHITE, "the edge point d7 is no next stone"


@pytest.mark.parametrize("corner", ["a1", "f1", "a6", "f6", "Na6", "Ef1", "Sa1", "Wa1"])
def test_the_corners_of_the_grid_are_not_points(corner: str) -> None:
    """T1: they have texts like any cell and are never legal."""
    assert is_refused(placed(CUT_TO_THE_EDGE, BLACK), corner)


# -- T8, T9: the end ---------------------------------------------------------------------------------------------------


def test_two_passes_in_a_row_end_the_game(play: Play) -> None:
    """T8."""
    state = play("taugo(size=3)", "c4 end")
    assert not state.is_terminal()
    apply_texts(state, "end")
    assert state.outcome() == Outcome(BLACK, "score")
    assert state.returns() == [1, -1]
    assert play("taugo(size=3)", "end c4 end end").outcome() == Outcome(WHITE, "score")
    assert play("taugo(size=3)", "end end").outcome() == Outcome(None, "draw")
    assert play("taugo(size=3)", "b2 d4 end end").outcome() == Outcome(None, "draw")


def test_a_stone_between_two_passes_keeps_the_game_going(play: Play) -> None:
    """T8."""
    assert not play("taugo(size=3)", "end c3 end b2 end").is_terminal()


def test_stopping_a_line_is_not_a_pass(play: Play) -> None:
    """T8: after a stop one pass does not end the game, and a stop after a pass does not either."""
    state = play("taugo(size=3)", "c3 end c2 end end")
    assert not state.is_terminal()
    assert state.current_player() == BLACK
    apply_texts(state, "end")
    assert state.is_terminal()
    state = play("taugo(size=3)", "c3 end c2 end")
    assert state.observation_tensor()[state.game.observation_planes.index("passed")].max() == 0


@pytest.mark.parametrize(
    ("drawing", "score"),
    [
        (". . . .\n. . . .\n. . . .\n. . . .", (0, 0)),
        (". . . .\n. X . .\n. . O .\n. . . .", (0, 0)),  # no stone on the perimeter
        ("X . . .\n. . . .\n. . O .\n. . . .", (1, 0)),
        ("X X X X\nX . . .\nX . . .\nX . O .", (28, 1)),  # T(7) for one string
        ("X X . X\nX . . .\n. . . .\nX . O .", (6 + 1 + 1, 1.5)),  # a string each, and fewer strings
        ("X X . O\n. . . .\n. . . .\nX . . O", (3 + 1, 2)),  # two strings each
        (". . . .\n. X . .\n. . . .\n. . . .", (0, 0.5)),  # no strings are fewer than one
        ("X X . .\n. X . .\n. X X X\n. . . X", (10, 0.5)),  # b5, c5, e3 and e2; c4, c3 and d3 are inside
    ],
)
def test_the_score_is_that_of_strings_on_the_perimeter_and_half_a_point_for_fewer(
    drawing: str, score: tuple[float, float]
) -> None:
    """T9."""
    assert placed(drawing, BLACK).score() == score


def test_stones_on_edge_points_count_together_whatever_their_strings(play: Play) -> None:
    """T9: White's three edge stones are of two strings and give T(3) = 6."""
    state = play("taugo(size=4)", "e3 b3 d3 d2 c3 c2 e4 e5 Ef3 Se2 d4 Ef4")
    assert {name for name in stones_of(state)[WHITE] if name in ("f3", "f4")} == {"f3", "f4"}
    assert state.score() == (1 + 6, 6 + 3)


# -- Actions, symmetries, pictures --------------------------------------------------------------------------------------


def test_actions_are_five_planes_and_end(play: Play) -> None:
    game = load_game("taugo(size=16)")
    assert game.num_actions == 5 * 18 * 18 + 1
    c7 = 6 * 18 + 2
    texts = ["c7", "Nc7", "Ec7", "Sc7", "Wc7"]
    assert [game.string_to_action(text) for text in texts] == [plane * 324 + c7 for plane in range(5)]
    assert game.string_to_action("end") == 1620
    for text in ("nc7", "NC7", "c7N", "N c7", "NNc7", "pass", "N"):
        with pytest.raises(IllegalActionError, match="not a valid action"):
            game.string_to_action(text)


@pytest.mark.parametrize("size", [2, 25, -1, 3.5, "16", None, True])
def test_a_bad_size_is_refused_by_name(size: object) -> None:
    with pytest.raises(ValueError, match=r"taugo: option size must be an integer from 3 to 24"):
        load_game("taugo", size=size)


def test_the_game_string_always_shows_the_size() -> None:
    assert str(load_game("taugo")) == "taugo(size=16)"
    assert load_game("taugo(size=24)").state_dtype != load_game("taugo(size=16)").state_dtype
    assert load_game("taugo(size=3)").state_dtype == load_game("taugo(size=16)").state_dtype


TURNING_PLANES = ("line_north", "line_east", "line_south", "line_west")


@pytest.mark.parametrize(
    ("name", "cell", "cut", "line"),
    [
        ("identity", "c3", "Ed5", "line_east"),
        ("rotate 90", "e3", "Nc4", "line_north"),
        ("rotate 180", "e5", "Wd3", "line_west"),
        ("rotate 270", "c5", "Se4", "line_south"),
        ("reflect", "c3", "Ne4", "line_north"),
        ("reflect, then rotate 90", "e3", "Wd5", "line_west"),
        ("reflect, then rotate 180", "e5", "Sc4", "line_south"),
        ("reflect, then rotate 270", "c5", "Ed3", "line_east"),
    ],
)
def test_headings_and_planes_of_directions_turn_with_the_board(name: str, cell: str, cut: str, line: str) -> None:
    """On a board of 5, whose middle is d4."""
    game = load_game("taugo(size=5)")
    symmetry = next(symmetry for symmetry in game.symmetries if symmetry.name == name)
    assert game.grid.cell_names[symmetry.cells[game.grid.cell_index("c3")]] == cell
    assert game.action_to_string(symmetry.actions[game.string_to_action("Ed5")]) == cut
    assert game.action_to_string(symmetry.actions[game.string_to_action("end")]) == "end"
    planes = game.observation_planes
    assert planes[symmetry.planes[planes.index("line_east")]] == line
    assert all(symmetry.planes[index] == index for index, plane in enumerate(planes) if plane not in TURNING_PLANES)


def test_transpositions_are_equal_positions(play: Play) -> None:
    one = play("taugo(size=4)", "b2 e5 b3 end end b4 end end")
    other = play("taugo(size=4)", "b4 e5 b3 end end b2 end end")
    assert one == other
    assert one.record["strings"].max() == other.record["strings"].max()
    cut = apply_texts(placed(CUT_TO_THE_EDGE, BLACK), "Sc1")
    assert cut != placed(CUT_TO_THE_EDGE, BLACK)


def test_the_picture_shows_stones_lines_to_the_edge_and_the_line_in_progress(play: Play) -> None:
    state = play("taugo(size=6)", "d4 f3 d5 e5")
    assert str(state).splitlines() == [
        "8   | | | | | |",
        "7 - . . . . . . -",
        "6 - . . . . . . -",
        "5 - . . X X . . -",
        "4 - . . X . . . -",
        "3 - . . . . O . -",
        "2 - . . . . . . -",
        "1   | | | | | |",
        "  a b c d e f g h",
        "Black (X, player 0) to move, line in progress from e5 heading E",
    ]
    assert str(apply_texts(state, "end end")).splitlines()[-1] == "Black (X, player 0) to move, the opponent has passed"
    assert str(apply_texts(state, "end")).splitlines()[-1] == "the game is a draw"
    assert str(apply_texts(load_game("taugo(size=3)").new_initial_state(), "end c4 end end")).endswith(
        "White (player 1) wins by score"
    )
