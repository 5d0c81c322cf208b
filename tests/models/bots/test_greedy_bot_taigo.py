"""The greedy bot's Taigo: fives that it blocks, and does not give."""

from __future__ import annotations

import pytest

from stoneworks.envs.rules import State, load_game
from stoneworks.models.bots.greedy_bot import GreedyBot

GAME = load_game("taigo(radius=9)")


def position(tiles: str, *, mover: int) -> State:
    """The position after ``tiles``, laid by anyone, with ``mover`` to move."""
    state = GAME.new_initial_state()
    for text in tiles.split():
        state.apply_action(state.string_to_action(text))
    record = state.record
    assert not record["ending"]
    record["current_player"] = mover
    return State.from_record(GAME, record, trusted=True)


def greedy_turn(state: State, seed: int) -> State:
    """The position after the bot's turn."""
    bot = GreedyBot(GAME, seed=seed)
    mover = state.current_player()
    while state.current_player() == mover:
        state = state.child(bot.step(state))
    return state


# Four dark hexes in a row, j10 to g10, and four light ones, k10 to n10; a fifth fits at the far end alone.
FOUR_DARK = "i10-i11 h10-h9 g10-g11"
FOUR_LIGHT = "l9-l10 m11-m10 n9-n10"


@pytest.mark.parametrize(("tiles", "owner", "end"), [(FOUR_DARK, 0, "f10"), (FOUR_LIGHT, 1, "o10")])
@pytest.mark.parametrize("seed", range(3))
def test_it_blocks_a_four(tiles: str, owner: int, end: str, seed: int) -> None:
    after = greedy_turn(position(tiles, mover=1 - owner), seed)
    own_hexes = after.observation_tensor(1 - owner)[GAME.observation_planes.index("own_hexes")].ravel()
    assert own_hexes[GAME.grid.cell_index(end)]


@pytest.mark.parametrize("seed", range(3))
def test_it_completes_no_five_where_the_same_tile_gives_one(seed: int) -> None:
    # Dark lacks f10. Light has f11, f12, f13 and f14 and lacks f10 or f15; its half of the tile may not go to f15.
    outcome = greedy_turn(position(f"{FOUR_DARK} g12-f12 e11-f11 g13-f13 e14-f14", mover=0), seed).outcome()
    assert outcome == (0, "five")


@pytest.mark.parametrize("seed", range(3))
def test_a_cone_of_its_own_color_fills_a_hole_that_would_complete_the_opponents_five(seed: int) -> None:
    """The designer's example: j12-k11 makes a hole of j11, and a light cone there makes five."""
    after = greedy_turn(position("i12-i11 h12-h11 l10-l11 j12-k11", mover=0), seed)
    assert after.outcome() is None
    assert after.action_to_string(after.history()[-1]) == "j11+D"
    assert greedy_turn(position("i12-i11 h12-h11 l10-l11", mover=1), seed).outcome() == (1, "five")
