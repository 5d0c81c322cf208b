"""The search of a turn, against searching everything in Python, and what the greedy bot must never get wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from evaluating import evaluation
from game_play import played, random_game, turn_of, uniform_game, with_mover
from side_by_side import trugo_position
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.models import load_bot
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.search.turn_search import WIN_VALUE

SMALL_GAMES = ("vadus(size=2)", "vadus(size=3)", "laido(size=2)", "laido(size=3)", "laido(pie_rule=False,size=2)")


def random_positions(game: Game, number: int, seed: int) -> Iterator[State]:
    """Yield positions in which somebody is to move, from games in which passes are as frequent as stones."""
    generator = np.random.default_rng(seed)
    for _ in range(number):
        states = [state.clone() for state in random_game(game, int(generator.integers(2**32)), 0.3)][:-1]
        yield states[int(generator.integers(len(states)))]


def ends_of_turn(state: State) -> Iterator[tuple[int, State]]:
    """Yield the first action and the end of every way to play the turn."""
    player = state.current_player()
    unfinished = [(action, state.child(action)) for action in state.legal_actions()]
    while unfinished:
        first, after = unfinished.pop()
        if after.current_player() == player:
            unfinished.extend((first, after.child(action)) for action in after.legal_actions())
        else:
            yield first, after


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_the_unlimited_search_finds_the_value_of_every_turn(name: str) -> None:
    game = load_game(name)
    bot = GreedyBot(game, 0, num_candidates=1000, beam_width=1000)
    for state in random_positions(game, 40, seed=1):
        player = state.current_player()
        best_values = np.full(game.num_actions, -math.inf, np.float32)
        for first, end in ends_of_turn(state):
            value = WIN_VALUE * end.returns()[player] if end.is_terminal() else evaluation(end, player)
            best_values[first] = max(best_values[first], value)
        np.testing.assert_array_equal(bot.action_values(state), best_values)


def test_only_the_usual_limits_are_those_of_the_bot_greedy() -> None:
    game = load_game("vadus(size=3)")
    assert GreedyBot(game).name == load_bot("greedy", game).name == "greedy"
    assert GreedyBot(game, num_candidates=3).name == "GreedyBot"


@pytest.mark.parametrize("name", ["vadus(size=3)", "vadus(size=5)", "laido(size=5)"])
def test_the_limited_search_finds_existing_turns_with_their_values_and_passes(name: str) -> None:
    game = load_game(name)
    limited = GreedyBot(game, 0, num_candidates=2, beam_width=1)
    unlimited = GreedyBot(game, 0, num_candidates=1000, beam_width=1000)
    for state in random_positions(game, 30, seed=2):
        few, legal = limited.action_values(state), state.legal_actions()
        found = np.flatnonzero(np.isfinite(few)).tolist()
        assert 1 <= len(found) <= 2
        assert set(found) <= set(legal)
        assert (few <= unlimited.action_values(state)).all()
        assert game.string_to_action("pass") in found or game.string_to_action("pass") not in legal


@pytest.mark.parametrize(
    "name",
    [*SMALL_GAMES, "taugo(size=4)", "taigo(cones=2,radius=3)", "trugo(radius=3,tiles=8)", "trugo(radius=4,tiles=5)"],
)
def test_a_win_in_this_turn_is_played_and_a_loss_in_it_avoided(name: str) -> None:
    """Against all ways to play the turn: passes, cones that complete five, captures and removals of last pieces."""
    game = load_game(name)
    num_won = num_saved = 0
    rng = np.random.default_rng(4)
    for number, state in enumerate(state for _ in range(60) for state in uniform_game(game, rng)[-5:-1]):
        player = state.current_player()
        possible = {end.returns()[player] for _, end in ends_of_turn(state)}
        if possible <= {0, -1} and len(possible) < 2:
            continue
        result = turn_of(load_bot("greedy", game, seed=number), state).returns()[player]
        assert result == (1 if 1 in possible else 0)
        num_won += result == 1
        num_saved += result == 0
    assert num_won >= 10
    assert num_saved >= 3 or name.startswith("laido")


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_no_pass_lets_the_opponent_pass_and_win_while_anything_else_is_legal(name: str) -> None:
    game = load_game(name)
    bot = load_bot("greedy", game, seed=0)
    pass_action = game.string_to_action("pass")
    behind = 0
    for state in random_positions(game, 300, seed=6):
        player, legal = state.current_player(), state.legal_actions()
        if pass_action not in legal or len(legal) == 1 or state.child(pass_action).is_terminal():
            continue
        if state.child(pass_action).child(pass_action).returns()[player] == -1:
            behind += 1
            assert bot.step(state) != pass_action
    assert behind >= 10


def test_a_long_wall_is_finished_and_not_a_short_one() -> None:
    """Black lacks both ends of the straight wall across the board, worth 5; edge stones elsewhere would make it shorter."""
    state = played("vadus(size=3)", "b3 a5 c5 c3 d3 c1 e1")
    assert turn_of(load_bot("greedy", state.get_game(), seed=0), state).score()[0] == [5]


@pytest.mark.parametrize("size", [3, 5])
def test_in_laido_an_opening_is_worth_what_the_better_choice_of_white_leaves_of_it(size: int) -> None:
    game, without_pie_rule = (load_game("laido", size=size, pie_rule=pie_rule) for pie_rule in (True, False))
    bot, swap = GreedyBot(game, 0, num_candidates=1000), game.string_to_action("swap")
    openings = np.flatnonzero(game.grid.on_board).tolist()
    black_is_ahead_by = [evaluation(without_pie_rule.new_initial_state().child(cell), 0) for cell in openings]
    for cell, ahead_by in zip(openings, black_is_ahead_by, strict=True):
        state = game.new_initial_state().child(cell)
        assert evaluation(state, 0) == pytest.approx(-abs(ahead_by), abs=1e-4)
        # After the swap player 1 is Black, and White is to move as before.
        assert bot.action_values(state)[swap] == pytest.approx(ahead_by, abs=1e-4)


def greedy_turn(state: State, seed: int = 0) -> tuple[State, list[str]]:
    """Return the position after the turn that the bot plays, and the texts of its actions."""
    end = turn_of(load_bot("greedy", state.get_game(), seed=seed), state)
    return end, [state.action_to_string(action) for action in end.history()[len(state.history()) :]]


@pytest.mark.parametrize(
    ("moves", "cut"),
    [
        ("b3 b4 d3 e3 b2 c2 d2 e2 c3 c4 d4 d5 c5 b5 e4 e5 end", "Sc1"),
        ("d3 b5 b3 e2 c5 d5 b2 c2 d2 c3 e4", "Wa2"),
        ("e4 e2 b5 b2 b4 b3 e5 d2 d5 d4 d3 c4 e3", "Nd6"),
    ],
)
def test_it_takes_the_cut_that_alone_puts_it_ahead(moves: str, cut: str) -> None:
    state = played("taugo(size=4)", moves)
    player = state.current_player()

    def leads(position: State) -> bool:
        return position.score()[player] > position.score()[1 - player]

    assert not leads(state)
    assert [state.action_to_string(action) for action in state.legal_actions() if leads(state.child(action))] == [cut]
    assert greedy_turn(state)[1] == [cut]


@pytest.mark.parametrize(
    ("moves", "passes"),
    [
        ("b2 end", True),  # it leads, and the opponent has passed
        ("c3 end", False),  # it is behind
        ("b2 d4 c2 d2 e2 f2", False),  # Black, who holds a whole side, could then end the game and win
    ],
)
def test_it_passes_when_that_wins_and_else_extends_its_string(moves: str, passes: bool) -> None:
    assert (greedy_turn(played("taugo(size=5)", moves))[1] == ["end"]) == passes
    assert greedy_turn(played("taugo(size=6)", "b2 e5"))[0].score()[0] >= 10  # four stones or more along the perimeter


# Four dark hexes in a row, j10 to g10, and four light ones, k10 to n10; a fifth fits at the far end alone.
FOUR_DARK, FOUR_LIGHT = "i10-i11 h10-h9 g10-g11", "l9-l10 m11-m10 n9-n10"


def taigo_position(tiles: str, mover: int) -> State:
    """Return the position after ``tiles``, laid by anyone, with ``mover`` to move."""
    return with_mover(played("taigo(radius=9)", tiles), mover)


@pytest.mark.parametrize("seed", range(3))
def test_fives_are_blocked_and_not_given(seed: int) -> None:
    for tiles, owner, end in ((FOUR_DARK, 0, "f10"), (FOUR_LIGHT, 1, "o10")):
        after, _ = greedy_turn(taigo_position(tiles, 1 - owner), seed)
        own_hexes = after.observation_tensor(1 - owner)[after.game.observation_planes.index("own_hexes")].ravel()
        assert own_hexes[after.game.grid.cell_index(end)]
    # Dark lacks f10. Light has f11, f12, f13 and f14 and lacks f10 or f15; its half of the tile may not go to f15.
    assert greedy_turn(taigo_position(f"{FOUR_DARK} g12-f12 e11-f11 g13-f13 e14-f14", 0), seed)[0].outcome() == (
        0,
        "five",
    )
    # The designer's example: j12-k11 makes a hole of j11, and a light cone there makes five.
    after, texts = greedy_turn(taigo_position("i12-i11 h12-h11 l10-l11 j12-k11", 0), seed)
    assert (after.outcome(), texts[-1]) == (None, "j11+D")
    assert greedy_turn(taigo_position("i12-i11 h12-h11 l10-l11", 1), seed)[0].outcome() == (1, "five")


#: Blue's piece on e5v has one open corner left, f3^, to which White's piece on e3^ can slide.
ENDANGERED = {"e5v": "O", "e4^": "X", "f4^": "X", "e3^": "X", "d6^": "O"}


def waxing_position(pieces: dict[str, str], to_move: int) -> State:
    # With 37 tiles, for which the heuristic is the hand-written one: learned weights do not know such positions.
    return trugo_position("trugo", "DISC", pieces, to_move, pool=18).state


def fewest_blue_pieces_after_a_move(state: State) -> int:
    """Return how few pieces of Blue any move of a piece, by the player to move, leaves."""
    ends = [end for _, end in ends_of_turn(state) if end.record["pool"] == state.record["pool"]]
    return min(int(end.record["num_pieces"][1]) for end in [state, *ends])


def test_a_capture_is_found_and_played_and_avoided() -> None:
    """R7. Of two, that of the stack of two on e6v, which lacks f5^; a move there leaves the single piece alone."""
    assert greedy_turn(waxing_position(ENDANGERED, 0))[0].record["num_pieces"].tolist() == [3, 1]
    pieces = {"e5v": "O", "e4^": "X", "f4^": "X", "e3^": "X", "e6v": "OO", "e5^": "X", "d5^": "O"}
    state = waxing_position(pieces, 0)
    fewest = fewest_blue_pieces_after_a_move(state)
    assert greedy_turn(state)[0].record["num_pieces"][1] == fewest < state.record["num_pieces"][1]
    # A group in danger is saved.
    assert fewest_blue_pieces_after_a_move(waxing_position(ENDANGERED, 0)) == 1
    assert fewest_blue_pieces_after_a_move(greedy_turn(waxing_position(ENDANGERED, 1))[0]) == 2
