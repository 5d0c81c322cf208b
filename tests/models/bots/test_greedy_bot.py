"""The search of a turn, against searching everything in Python, and what the greedy bot must never get wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from evaluating import evaluation
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.search.turn_search import WIN_VALUE

SMALL_GAMES = ("vadus(size=2)", "vadus(size=3)", "laido(size=2)", "laido(size=3)", "laido(pie_rule=False,size=2)")


def random_positions(game: Game, number: int, seed: int) -> Iterator[State]:
    """Yield positions in which somebody is to move, from games in which passes are as frequent as stones."""
    generator = np.random.default_rng(seed)
    pass_action = game.string_to_action("pass")
    while number > 0:
        state = game.new_initial_state()
        length = generator.integers(0, 2 * game.num_points)
        while not state.is_terminal():
            if len(state.history()) >= length:
                yield state
                number -= 1
                break
            legal = state.legal_actions()
            passes = pass_action in legal and generator.random() < 0.3
            state.apply_action(pass_action if passes else int(generator.choice(legal)))


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


def best_values(state: State) -> npt.NDArray[np.float32]:
    """Return what the search must find where nothing limits it."""
    player = state.current_player()
    values = np.full(state.game.num_actions, -math.inf, np.float32)
    for first, end in ends_of_turn(state):
        value = WIN_VALUE * end.returns()[player] if end.is_terminal() else evaluation(end, player)
        values[first] = max(values[first], value)
    return values


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_the_unlimited_search_finds_the_value_of_every_turn(name: str) -> None:
    game = load_game(name)
    bot = GreedyBot(game, 0, num_candidates=1000, beam_width=1000)
    for state in random_positions(game, 40, seed=1):
        np.testing.assert_array_equal(bot.action_values(state), best_values(state))


@pytest.mark.parametrize("name", ["vadus(size=3)", "vadus(size=5)", "laido(size=5)"])
def test_the_limited_search_finds_existing_turns_with_their_values(name: str) -> None:
    game = load_game(name)
    limited, unlimited = (
        GreedyBot(game, 0, num_candidates=5, beam_width=2),
        GreedyBot(game, 0, num_candidates=1000, beam_width=1000),
    )
    for state in random_positions(game, 30, seed=2):
        few, all_values = limited.action_values(state), unlimited.action_values(state)
        found = np.isfinite(few)
        assert 1 <= found.sum() <= 5
        assert set(np.flatnonzero(found)) <= set(state.legal_actions())
        assert (few <= all_values).all()


@pytest.mark.parametrize("name", ["vadus(size=5)", "laido(size=5)"])
def test_passing_is_always_looked_at(name: str) -> None:
    game = load_game(name)
    bot = GreedyBot(game, 0, num_candidates=2, beam_width=1)
    for state in random_positions(game, 30, seed=3):
        if "pass" in map(game.action_to_string, state.legal_actions()):
            assert np.isfinite(bot.action_values(state)[game.string_to_action("pass")])


def late_states(game: Game, num_games: int, seed: int) -> Iterator[State]:
    """Yield the last positions of random games."""
    generator = np.random.default_rng(seed)
    for _ in range(num_games):
        states = [game.new_initial_state()]
        while not states[-1].is_terminal():
            states.append(states[-1].child(int(generator.choice(states[-1].legal_actions()))))
        yield from states[-5:-1]


@pytest.mark.parametrize(
    "name",
    [*SMALL_GAMES, "taugo(size=4)", "taigo(cones=2,radius=3)", "trugo(radius=3,tiles=8)", "trugo(radius=4,tiles=5)"],
)
def test_a_win_in_this_turn_is_played_and_a_loss_in_it_avoided(name: str) -> None:
    """Against all ways to play the turn: passes, cones that complete five, captures and removals of last pieces."""
    game = load_game(name)
    num_won = num_saved = 0
    for number, state in enumerate(late_states(game, 60, seed=4)):
        player = state.current_player()
        possible = {end.returns()[player] for _, end in ends_of_turn(state)}
        if possible <= {0, -1} and len(possible) < 2:
            continue
        bot = load_bot("greedy", game, seed=number)
        while state.current_player() == player:
            state = state.child(bot.step(state))
        if 1 in possible:
            assert state.returns()[player] == 1
            num_won += 1
        else:
            assert state.returns()[player] == 0
            num_saved += 1
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


def test_the_leader_passes_once_the_opponent_has_passed() -> None:
    """Black's wall of three is worth 3, White's stones are worth -1 each."""
    state = load_game("vadus(size=2)").deserialize_state("a2\nb1\nc2\nb2\nc1\npass")
    assert state.score()[0][0] > state.score()[1][0]
    assert state.action_to_string(load_bot("greedy", state.get_game(), seed=0).step(state)) == "pass"


def test_a_long_wall_is_finished_and_not_a_short_one() -> None:
    """Black lacks both ends of the straight wall across the board, worth 5; edge stones elsewhere would make it shorter."""
    state = load_game("vadus(size=3)").deserialize_state("b3\na5\nc5\nc3\nd3\nc1\ne1")
    bot = load_bot("greedy", state.get_game(), seed=0)
    for _ in range(2):
        state.apply_action(bot.step(state))
    assert state.score()[0] == [5]


@pytest.mark.parametrize("size", [3, 4, 5])
def test_in_laido_greedy_swaps_openings_with_a_positive_evaluation(size: int) -> None:
    game = load_game(f"laido(size={size})")
    without_pie_rule = load_game(f"laido(pie_rule=False,size={size})")
    bot = load_bot("greedy", game, seed=0)
    swaps = []
    for opening in np.flatnonzero(game.grid.on_board):
        state = game.new_initial_state().child(int(opening))
        black_is_ahead_by = evaluation(without_pie_rule.new_initial_state().child(int(opening)), 0)
        values = bot.action_values(state)
        # After the swap player 1 is Black, and White is to move as before.
        assert values[game.string_to_action("swap")] == pytest.approx(black_is_ahead_by, abs=1e-4)
        swaps.append(game.action_to_string(bot.step(state)) == "swap")
    opening = bot.step(game.new_initial_state())
    assert any(swaps)
    chosen = game.new_initial_state().child(opening)
    ahead_by = [
        abs(evaluation(without_pie_rule.new_initial_state().child(int(cell)), 0))
        for cell in np.flatnonzero(game.grid.on_board)
    ]
    # Black foresees the swap: of the openings it looks at, none is more even than the chosen one.
    looked_at = np.isfinite(bot.action_values(game.new_initial_state()))[np.flatnonzero(game.grid.on_board)]
    assert evaluation(chosen, 0) == pytest.approx(
        -min(value for value, seen in zip(ahead_by, looked_at, strict=True) if seen), abs=1e-4
    )


def test_ties_are_broken_at_random_among_all_equally_good_actions() -> None:
    state = load_game("vadus(size=2)").deserialize_state("b2")
    bot = load_bot("greedy", state.get_game(), seed=1)
    policy, _ = bot.step_with_policy(state)
    assert len(policy) > 1
    values = bot.action_values(state)  # type: ignore[attr-defined]
    assert {action for action, _ in policy} == set(np.flatnonzero(values == values.max()))
    assert {bot.step(state) for _ in range(200)} == {action for action, _ in policy}


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("vadus(size=5)", 0.95),
        ("laido(size=5)", 0.95),
        ("taugo(size=4)", 0.8),
        ("taigo(radius=4)", 0.9),
        ("trugo(radius=4,tiles=18)", 0.9),
    ],
)
def test_greedy_beats_random(name: str, least: float) -> None:
    result = play_match(name, load_bot("greedy", name, seed=1), load_bot("random", name, seed=2), num_pairs=20, seed=3)
    assert result.score >= least
