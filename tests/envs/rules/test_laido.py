"""The rulings L1 to L5 of Laido, each on named positions. X is Black, O is White; the top row is drawn first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stoneworks.envs.rules import IllegalActionError, Outcome, State, load_game

CELLS_3 = {
    f"{column}{row}"
    for column, rows in {"a": "345", "b": "2345", "c": "12345", "d": "1234", "e": "123"}.items()
    for row in rows
}
BLACK, WHITE = 0, 1


def apply_text(state: State, text: str) -> None:
    state.apply_action(state.string_to_action(text))


def stone_on(state: State, cell: str) -> str:
    return ".XO"[int(state.record["stones"][state.game.grid.cell_index(cell)])]


def test_the_first_action_is_a_black_stone_on_any_cell_and_no_pass(legal_texts: Callable[..., set[str]]) -> None:
    """L1."""
    for cell in CELLS_3:
        state = load_game("laido(size=3)").new_initial_state()
        assert state.current_player() == 0
        assert legal_texts(state) == CELLS_3
        for text in ("pass", "swap"):
            with pytest.raises(IllegalActionError, match=text):
                apply_text(state, text)
        apply_text(state, cell)
        assert stone_on(state, cell) == "X"
        assert state.current_player() == 1


def test_player_1_may_then_swap_or_play_any_normal_action(
    play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """L1."""
    assert legal_texts(play("laido(size=3)", "c3")) == CELLS_3 - {"c3"} | {"pass", "swap"}


def test_after_a_swap_white_is_player_0_and_to_move(
    play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """L1."""
    state = play("laido(size=3)", "c3 swap")
    assert state.current_player() == 0
    assert (state.color_of(0), state.color_of(1)) == (WHITE, BLACK)
    assert stone_on(state, "c3") == "X", "stones never change color"
    assert legal_texts(state) == CELLS_3 - {"c3"} | {"pass"}, "there is no swap back"
    apply_text(state, "a3")
    assert stone_on(state, "a3") == "O", "player 0 places White's stones"
    assert state.current_player() == 1
    assert legal_texts(state) == CELLS_3 - {"c3", "a3"} | {"pass"}
    apply_text(state, "e3")
    assert stone_on(state, "e3") == "X", "player 1 places Black's stones"
    assert state.current_player() == 0


def test_without_a_swap_player_1_is_white(play: Callable[..., State]) -> None:
    """L1."""
    state = play("laido(size=3)", "c3 a3 e3")
    assert (state.color_of(0), state.color_of(1)) == (BLACK, WHITE)
    assert [stone_on(state, cell) for cell in ("c3", "a3", "e3")] == ["X", "O", "X"]


@pytest.mark.parametrize(
    "texts", ["", "c3 a3", "c3 pass", "c3 swap", "c3 swap a3", "c3 swap pass", "c3 a3 e3", "c3 pass e3"]
)
def test_swap_is_legal_only_as_the_first_action_of_player_1(
    texts: str, play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """L1."""
    state = play("laido(size=3)", texts)
    before = state.clone()
    assert "swap" not in legal_texts(state)
    with pytest.raises(IllegalActionError, match="swap"):
        apply_text(state, "swap")
    assert state == before


def test_player_1_may_pass_as_its_first_action(
    play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """L1: passing is a normal action; if player 0 passes too, the game is over (L5)."""
    state = play("laido(size=3)", "c3 pass")
    assert state.current_player() == 0
    assert legal_texts(state) == CELLS_3 - {"c3"} | {"pass"}
    apply_text(state, "pass")
    assert state.outcome() == Outcome(1, "hills"), "no group is compared, and White has fewer stones in the center"


def test_a_swap_is_not_a_pass(play: Callable[..., State]) -> None:
    """L1."""
    state = play("laido(size=3)", "c3 swap pass")
    assert not state.is_terminal()
    assert state.current_player() == 1
    apply_text(state, "pass")
    assert state.is_terminal()
    assert not play("laido(size=3)", "c3 swap a3 pass").is_terminal()


def test_after_a_swap_the_winner_is_the_player_of_the_winning_color(play: Callable[..., State]) -> None:
    """L1: the same stones, played without and with a swap; the score goes by color."""
    plain = play("laido(size=3)", "c3 a3 d3 a5 e3 e1 b3 pass pass")
    swapped = play("laido(size=3)", "c3 swap a3 d3 a5 e3 e1 b3 pass pass")
    assert plain.score() == swapped.score() == ([-4], [-1, -1, -1])
    assert plain.outcome() == Outcome(1, "groups")
    assert swapped.outcome() == Outcome(0, "groups")
    assert plain.returns() == [-1.0, 1.0]
    assert swapped.returns() == [1.0, -1.0]


def test_after_a_swap_hills_count_for_the_player_of_the_color(play: Callable[..., State]) -> None:
    """L1 and L5: Black holds the center, so White wins; White is player 0 after the swap."""
    assert play("laido(size=3)", "c3 a3 pass pass").outcome() == Outcome(1, "hills")
    assert play("laido(size=3)", "c3 swap a3 pass pass").outcome() == Outcome(0, "hills")


def test_without_the_pie_rule_black_moves_first_and_may_pass(
    play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """L2."""
    state = play("laido(pie_rule=False,size=3)")
    assert state.current_player() == 0
    assert legal_texts(state) == CELLS_3 | {"pass"}
    apply_text(state, "pass")
    assert state.current_player() == 1
    assert legal_texts(state) == CELLS_3 | {"pass"}
    apply_text(state, "c3")
    assert stone_on(state, "c3") == "O", "player 1 is White even if it places the first stone"
    assert legal_texts(state) == CELLS_3 - {"c3"} | {"pass"}


@pytest.mark.parametrize("texts", ["", "c3", "pass", "pass c3", "c3 a3", "c3 pass"])
def test_without_the_pie_rule_there_is_no_swap(
    texts: str, play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """L2."""
    state = play("laido(pie_rule=False,size=3)", texts)
    assert "swap" not in legal_texts(state)
    with pytest.raises(IllegalActionError, match="swap"):
        apply_text(state, "swap")


def test_without_the_pie_rule_two_passes_at_the_start_are_a_draw_on_an_empty_board(play: Callable[..., State]) -> None:
    """L2 and L5."""
    state = play("laido(pie_rule=False,size=3)", "pass pass")
    assert state.outcome() == Outcome(None, "draw")
    assert state.score() == ([], [])


def test_a_turn_is_one_stone_or_a_pass(play: Callable[..., State], legal_texts: Callable[..., set[str]]) -> None:
    """L3."""
    state = play("laido(size=3)", "c3")
    taken = {"c3"}
    for player, cell in ((1, "a3"), (0, "b2"), (1, "e3"), (0, "d4")):
        assert state.current_player() == player
        assert legal_texts(state) - {"swap"} == CELLS_3 - taken | {"pass"}
        with pytest.raises(IllegalActionError, match="c3"):
            apply_text(state, "c3")
        apply_text(state, cell)
        taken.add(cell)
    apply_text(state, "pass")
    assert state.current_player() == 0


def test_on_a_full_board_passing_is_the_only_action(
    play: Callable[..., State], legal_texts: Callable[..., set[str]]
) -> None:
    """L3."""
    state = play("laido(size=2)", "b2 a2 a3 b1 c1 b3 c2")
    assert legal_texts(state) == {"pass"}
    apply_text(state, "pass")
    assert legal_texts(state) == {"pass"}
    apply_text(state, "pass")
    assert state.is_terminal()


VALUES = {
    "a wall with stones beside it": (
        """
           . . . .
          . . . . .
         . . X X . .
        X X X X X X X
         . . . . . .
          . . O O .
           . . . .
        """,
        ([7 - 2], [-2]),
    ),
    "two adjacent edge stones give L = 2 for their whole group": (
        """
           . . . .
          . . . . .
         O . . . . .
        O O O O O . .
         . . . . . .
          . . . . .
           . X . .
        """,
        ([-1], [2 - 4]),
    ),
    "a wall through the other color is two groups without a path": (
        """
           . . . .
          . . . . .
         . . . . . .
        X X X O X X X
         . . . . . .
          . . . . .
           . . . .
        """,
        ([-3, -3], [-1]),
    ),
    "the way around is longer": (
        """
           . . . .
          . . . . .
         . . X X . .
        X X X O X X X
         . . . . . .
          . . . . .
           . . . .
        """,
        ([8], [-1]),
    ),
}


@pytest.mark.parametrize(("drawing", "score"), VALUES.values(), ids=VALUES.keys())
def test_groups_have_the_values_that_they_have_in_vadus(
    drawing: str, score: tuple[list[int], list[int]], drawn: Callable[..., State]
) -> None:
    """L4."""
    assert drawn("laido", drawing).score() == score


def test_the_game_ends_when_both_players_pass_one_after_the_other(play: Callable[..., State]) -> None:
    """L5."""
    assert not play("laido(size=3)", "c3 pass e3 pass").is_terminal()
    assert not play("laido(size=3)", "c3 pass e3 a3 pass b2 pass").is_terminal()
    assert play("laido(size=3)", "c3 a3 pass pass").is_terminal()


ENDS = {
    "groups decide before hills": (
        """
          . . .
         . . . .
        X X X X X
         . . . .
          O . .
        """,
        ([5], [-1]),
        Outcome(BLACK, "groups"),
    ),
    "groups decide at the first rank that differs": (
        """
          X X .
         . . . .
        . . X . O
         . . . O
          O O .
        """,
        ([2, -1], [2, 2]),
        Outcome(WHITE, "groups"),
    ),
    "black in the center loses on hill 0": (
        """
          . . .
         . . . .
        . . X . O
         . . . .
          . . .
        """,
        ([-1], [-1]),
        Outcome(WHITE, "hills"),
    ),
    "white in the center loses on hill 0": (
        """
          . . .
         . . . .
        X . O . .
         . . . .
          . . .
        """,
        ([-1], [-1]),
        Outcome(BLACK, "hills"),
    ),
    "with the center empty black loses on hill 1": (
        """
          . . .
         . X . .
        . . . . O
         . . . .
          . . .
        """,
        ([-1], [-1]),
        Outcome(WHITE, "hills"),
    ),
    "with the center empty white loses on hill 1": (
        """
          . X .
         . . . .
        . O . . .
         . . . .
          . . .
        """,
        ([-1], [-1]),
        Outcome(BLACK, "hills"),
    ),
    "hill 0 decides before hill 1, for white": (
        """
          . . .
         . . . .
        . O X O .
         . . . .
          . . .
        """,
        ([-1], [-1, -1]),
        Outcome(WHITE, "hills"),
    ),
    "hill 0 decides before hill 1, for black": (
        """
          . . .
         . . . .
        . X O X .
         . . . .
          . . .
        """,
        ([-1, -1], [-1]),
        Outcome(BLACK, "hills"),
    ),
    "fewer stones on a hill is better, not only none": (
        """
          O . .
         . . . .
        . X . X .
         . O . .
          . . .
        """,
        ([-1, -1], [-1, -1]),
        Outcome(WHITE, "hills"),
    ),
    "where the inner hills are equal the outermost decides, for white": (
        """
          X . .
         . . . .
        . X . O .
         . . . .
          . . .
        """,
        ([-1, -1], [-1]),
        Outcome(WHITE, "hills"),
    ),
    "where the inner hills are equal the outermost decides, for black": (
        """
          O . .
         . . . .
        . X . O .
         . . . .
          . . .
        """,
        ([-1], [-1, -1]),
        Outcome(BLACK, "hills"),
    ),
    "a black group alone is compared with nothing, but its hill counts": (
        """
          . . .
         . . . .
        . . . . .
         . . X .
          . . .
        """,
        ([-1], []),
        Outcome(WHITE, "hills"),
    ),
    "where no hill differs it is a draw": (
        """
          X . .
         . . . .
        . X . O .
         . . . .
          . . O
        """,
        ([-1, -1], [-1, -1]),
        Outcome(None, "draw"),
    ),
    "where no hill differs it is a draw, with paths too": (
        """
          X X .
         . . . .
        . . . . .
         . . . .
          . O O
        """,
        ([2], [2]),
        Outcome(None, "draw"),
    ),
}


@pytest.mark.parametrize(("drawing", "score", "outcome"), ENDS.values(), ids=ENDS.keys())
def test_groups_and_then_hills_are_compared(
    drawing: str,
    score: tuple[list[int], list[int]],
    outcome: Outcome,
    drawn: Callable[..., State],
    passed_out: Callable[..., State],
) -> None:
    """L5: group values rank by rank as in V6; then, from the center outwards, fewer stones on a hill."""
    state = drawn("laido", drawing)
    assert state.outcome() is None
    passed_out(state)
    assert state.score() == score
    assert state.outcome() == outcome
    assert state.returns() == {0: [1.0, -1.0], 1: [-1.0, 1.0], None: [0.0, 0.0]}[outcome.winner]
