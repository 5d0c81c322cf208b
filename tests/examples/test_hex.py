"""Hex of examples/hex.py: against OpenSpiel's, and in everything that plays games by name."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from stoneworks import load_game
from stoneworks.envs.rules import Batch, Game

pyspiel = pytest.importorskip("pyspiel")

pytestmark = pytest.mark.usefixtures("hex_module")


# -- The rules, against OpenSpiel ----------------------------------------------------------------------------------------


def their_action(game: Game, action: int, *, swapped: bool) -> int:
    """Return OpenSpiel's action for ours.

    Both number cells by row and column, and in both player 0 begins and connects the rows. At a swap our players exchange
    colors: the first stone stays, and from then on player 1 connects the rows. OpenSpiel's players keep their colors: the
    stone is mirrored and becomes player 1's, who goes on connecting the columns. So after a swap the boards mirror each other.
    """
    size = game.options["size"]
    if action == size * size or not swapped:
        return action
    row, column = divmod(action, size)
    return column * size + row


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("size", "num_games"), [(2, 300), (3, 300), (5, 300), (8, 150), (11, 75)])
def test_random_games_agree_with_openspiel(size: int, num_games: int, swap: bool) -> None:
    game = load_game("hex", size=size, swap=swap)
    theirs = pyspiel.load_game(f"hex(board_size={size},swap={swap})")
    rng = np.random.default_rng(size)
    num_swaps = 0
    winners = set()
    for _ in range(num_games):
        state, their_state = game.new_initial_state(), theirs.new_initial_state()
        while not state.is_terminal():
            assert state.current_player() == their_state.current_player()
            swapped = bool(state.record["swapped"])
            legal = state.legal_actions()
            assert (
                sorted(their_action(game, action, swapped=swapped) for action in legal) == their_state.legal_actions()
            )
            action = int(rng.choice(legal))
            if size * size in legal and rng.random() < 0.5:
                action = size * size
            num_swaps += action == size * size
            their_state.apply_action(their_action(game, action, swapped=swapped))
            state.apply_action(action)
        assert their_state.is_terminal()
        assert state.returns() == their_state.returns()
        assert state.outcome().reason == "connection"
        assert state.move_number() <= game.max_game_length()
        winners.add(state.outcome().winner)
    assert winners == {0, 1}
    assert num_games / 3 < num_swaps < num_games if swap else num_swaps == 0


@pytest.mark.parametrize(("swap", "longest"), [(False, 4), (True, 5)])
def test_the_greatest_length_is_reached_on_the_smallest_board(swap: bool, longest: int) -> None:
    game = load_game("hex", size=2, swap=swap)
    assert game.max_game_length() == longest
    assert game.perft(longest) > 0
    assert game.perft(longest + 1) == 0


def test_equal_positions_are_equal_records_however_they_arose(hex_module: ModuleType) -> None:
    game = load_game("hex(size=4,swap=False)")
    rng = np.random.default_rng(1)
    for _ in range(200):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
        history = state.history()[:-1]
        again = game.new_initial_state()
        of_players = [list(rng.permutation(history[player::2])) for player in (0, 1)]
        for move in range(len(history)):
            again.apply_action(int(of_players[move % 2].pop()))
        assert again == game.deserialize_state("\n".join(map(game.action_to_string, history)))


def test_after_a_swap_player_1_has_the_first_stone_and_its_edges() -> None:
    state = load_game("hex(size=2)").deserialize_state("a1\nswap")
    assert (state.current_player(), state.color_of(0), state.color_of(1)) == (0, 1, 0)
    assert state.observation_tensor(1)[:, 0, 0].tolist() == [1, 0, 1, 0, 1]
    assert state.observation_tensor(0)[:, 0, 0].tolist() == [0, 1, 1, 0, 0]
    for text in ("b1", "a2"):
        state.apply_action(state.string_to_action(text))
    assert state.outcome() == (1, "connection")


# -- Everything that plays games by name ---------------------------------------------------------------------------------


def test_playouts_have_the_lengths_and_results_of_games_played_action_by_action() -> None:
    game = load_game("hex(size=4)")
    returns, lengths = Batch(game, 20_000, seed=1).random_playouts()
    rng = np.random.default_rng(2)
    slow: list[tuple[float, int]] = []
    for _ in range(4_000):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
        slow.append((state.returns()[0], state.move_number()))
    slow_returns, slow_lengths = map(np.array, zip(*slow, strict=True))
    for fast, by_action in ((returns[:, 0], slow_returns), (lengths, slow_lengths)):
        error = np.sqrt(fast.var() / len(fast) + by_action.var() / len(by_action))
        assert abs(fast.mean() - by_action.mean()) < 4.5 * error


@pytest.mark.parametrize("text", ["hex(size=1)", "hex(size=182)", "hex(swap=1)", "hex(sise=3)"])
def test_bad_options_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="hex"):
        load_game(text)


def play_out(bots: list[Any], game: Game) -> None:
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].step(state))
