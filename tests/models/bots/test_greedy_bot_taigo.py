"""The greedy bot's Taigo: fives that it makes, does not give, and blocks."""

from __future__ import annotations

import numpy as np
import pytest

from stoneworks.envs.rules import Batch, State, load_game
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.models.bots.greedy_bot import GreedyBot

GAME = load_game("taigo")


def position(tiles: str, *, mover: int, cones_left: tuple[int, int] = (5, 5)) -> State:
    """The position after ``tiles``, laid by anyone, with ``mover`` to move."""
    state = GAME.new_initial_state()
    for text in tiles.split():
        state.apply_action(state.string_to_action(text))
    record = state.record
    assert not record["ending"]
    record["current_player"] = mover
    record["cones_left"] = cones_left
    return State.from_record(GAME, record, trusted=True)


def winners_of_turns(state: State) -> dict[int, set[int | None]]:
    """By the first action of a turn: who has won after it (None: nobody, yet), for every way to play it out."""
    mover = state.current_player()
    return {action: _winners(state.child(action), mover) for action in state.legal_actions()}


def _winners(state: State, mover: int) -> set[int | None]:
    if state.current_player() == mover:
        return set().union(*(_winners(state.child(action), mover) for action in state.legal_actions()))
    outcome = state.outcome()
    return {None if outcome is None else outcome.winner}


def greedy_turn(state: State, seed: int) -> State:
    """The position after the bot's turn."""
    bot = GreedyBot(GAME, seed=seed)
    mover = state.current_player()
    while state.current_player() == mover:
        state = state.child(bot.step(state))
    return state


def can_win(state: State) -> bool:
    return any(state.current_player() in winners for winners in winners_of_turns(state).values())


# Four dark hexes in a row, m13 to j13, and four light ones, n13 to q13; a fifth fits at the far end alone.
FOUR_DARK = "l13-l14 k13-k12 j13-j14"
FOUR_LIGHT = "o12-o13 p14-p13 q12-q13"
WITH_A_FOUR = pytest.mark.parametrize(("tiles", "owner", "end"), [(FOUR_DARK, 0, "i13"), (FOUR_LIGHT, 1, "r13")])
# The designer's example before its last tile: m15-n14 makes a hole of m14, and a light cone there makes five.
BEFORE_THE_HOLE = "l15-l14 k15-k14 o13-o14"


@WITH_A_FOUR
@pytest.mark.parametrize("seed", range(5))
def test_it_completes_five_with_a_tile(tiles: str, owner: int, end: str, seed: int) -> None:
    outcome = greedy_turn(position(tiles, mover=owner), seed).outcome()
    assert outcome is not None
    assert outcome.winner == owner


@pytest.mark.parametrize("seed", range(5))
def test_it_makes_a_hole_whose_cone_completes_five(seed: int) -> None:
    outcome = greedy_turn(position(BEFORE_THE_HOLE, mover=1), seed).outcome()
    assert outcome is not None
    assert outcome.winner == 1


@pytest.mark.parametrize("seed", range(5))
def test_of_two_cones_it_takes_the_one_that_completes_its_five_or_gives_none(seed: int) -> None:
    state = position(f"{BEFORE_THE_HOLE} m15-n14", mover=1)
    outcome = greedy_turn(state, seed).outcome()
    assert outcome is not None
    assert outcome.winner == 1
    after = greedy_turn(position(f"{BEFORE_THE_HOLE} m15-n14", mover=0), seed)
    assert after.outcome() is None
    assert after.action_to_string(after.history()[-1]) == "m14+D"


@pytest.mark.parametrize("seed", range(5))
def test_it_makes_no_hole_that_can_only_be_filled_with_the_opponents_five(seed: int) -> None:
    state = position(BEFORE_THE_HOLE, mover=0, cones_left=(0, 5))
    assert {1} in winners_of_turns(state).values(), "a turn that loses at once"
    assert greedy_turn(state, seed).outcome() is None


@WITH_A_FOUR
@pytest.mark.parametrize("seed", range(5))
def test_it_blocks_a_four(tiles: str, owner: int, end: str, seed: int) -> None:
    state = position(tiles, mover=1 - owner)
    after = greedy_turn(state, seed)
    own_hexes = after.observation_tensor(1 - owner)[GAME.observation_planes.index("own_hexes")].ravel()
    assert own_hexes[GAME.grid.cell_index(end)]
    assert not can_win(after)


@pytest.mark.parametrize("seed", range(5))
def test_it_prefers_its_own_five_to_a_block(seed: int) -> None:
    outcome = greedy_turn(position(f"{FOUR_DARK} {FOUR_LIGHT}", mover=0), seed).outcome()
    assert outcome is not None
    assert outcome.winner == 0


@pytest.mark.parametrize("seed", range(5))
def test_it_completes_no_five_where_the_same_tile_gives_one(seed: int) -> None:
    # Dark lacks i13. Light has i14, i15, i16 and i17 and lacks i13 or i18; its half of the tile may not go to i18.
    state = position(f"{FOUR_DARK} j15-i15 h14-i14 j16-i16 h17-i17", mover=0)
    outcome = greedy_turn(state, seed).outcome()
    assert outcome is not None
    assert outcome.winner == 0


def test_in_random_positions_it_wins_in_the_turn_where_it_can_and_never_gives_five_unforced() -> None:
    batch = Batch(GAME, 60, seed=1)
    num_won = num_dangerous = 0
    for _ in range(30):
        going_on = np.flatnonzero(batch.current_players >= 0)
        for row in going_on[:12].tolist():
            state = batch.state(row)
            turns = winners_of_turns(state)
            mover = state.current_player()
            possible = set().union(*turns.values())
            outcome = greedy_turn(state, 0).outcome()
            winner = None if outcome is None else outcome.winner
            if mover in possible:
                assert winner == mover, str(state)
                num_won += 1
            elif 1 - mover in possible and len(possible) > 1:
                assert winner is None, str(state)
                num_dangerous += 1
        batch.step(batch.random_actions())
    assert num_won > 3
    assert num_dangerous > 3


def test_it_beats_random_play() -> None:
    result = play_match(GAME, load_bot("greedy", GAME, seed=1), load_bot("random", GAME, seed=2), num_pairs=25, seed=3)
    assert result.score >= 0.95
