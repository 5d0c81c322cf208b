"""The greedy bot's Trugo: captures, of its own and against it, and the end of the game."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stoneworks.envs.rules import State, load_game
from stoneworks.envs.rules.trugo.plane import plane_hexes
from stoneworks.models import load_bot

WHITE, BLUE = 0, 1


#: The hexes at most two steps from e5.
DISC = [
    "e3",
    "f3",
    "g3",
    "d4",
    "e4",
    "f4",
    "g4",
    "c5",
    "d5",
    "e5",
    "f5",
    "g5",
    "c6",
    "d6",
    "e6",
    "f6",
    "c7",
    "d7",
    "e7",
]


def waxing_position(pieces: Mapping[str, str], to_act: int) -> State:
    """Return a position on ``DISC``, all tiles in rotation 0, with empty reserves and one tile in the pool.

    ``pieces`` has one or two letters by corner, the upper piece first: X is White's, O Blue's.
    """
    game = load_game("trugo(radius=4,tiles=20)")
    cells = [game.grid.cell_index(name) for name in DISC]
    hexes = plane_hexes(4)
    record = game.new_initial_state().record.copy()
    record["current_player"], record["turns"], record["pool"], record["reserve"] = to_act, 20, 1, 0
    beside = {int(cell) for cell in game.grid.neighbors[cells].ravel()} - set(cells)
    for field, members in (("tiles", cells), ("targets", beside)):
        words = [0] * len(record[field])
        for cell in members:
            words[hexes[cell] // 64] |= 1 << int(hexes[cell]) % 64
        record[field] = np.array(words, np.uint64)
    for cell in cells:
        record["contents"][hexes[cell]] = 1
        for kind, directions in enumerate(((1, 2), (4, 5))):
            if all(game.grid.neighbors[cell, direction] in cells for direction in directions):
                colors = ["XO".index(letter) for letter in pieces.get(game.grid.cell_names[cell] + "^v"[kind], "")]
                code = (1, 2, 4)[len(colors)] + sum(color << place for place, color in enumerate(colors))
                record["contents"][hexes[cell]] |= code << (2 + 3 * kind)
    letters = "".join(pieces.values())
    record["num_pieces"] = letters.count("X"), letters.count("O")
    state = State.from_record(game, record, trusted=True)
    shown = game.position(state)
    assert (shown.top >= 0).sum() == len(pieces), "every piece stands on a junction"
    return state


def after_greedy_turn(state: State, seed: int = 0) -> State:
    bot = load_bot("greedy", state.get_game(), seed=seed)
    player = state.current_player()
    state = state.clone()
    while state.current_player() == player:
        state.apply_action(bot.step(state))
    return state


def fewest_pieces_after_a_move(state: State, color: int) -> int:
    """Return how few pieces of ``color`` any move of a piece, by the player to move, leaves."""
    fewest = state.record["num_pieces"][color]
    for pick in state.legal_actions():
        picked = state.child(pick)
        if picked.current_player() == state.current_player():
            fewest = min(fewest, *(picked.child(end).record["num_pieces"][color] for end in picked.legal_actions()))
    return fewest


#: Blue's piece on e5v has one open corner left, f3^, to which White's piece on e3^ can slide.
ENDANGERED = {"e5v": "O", "e4^": "X", "f4^": "X", "e3^": "X", "d6^": "O"}


def test_a_capture_is_found_and_played() -> None:
    state = waxing_position(ENDANGERED, WHITE)
    after = after_greedy_turn(state)
    assert after.record["num_pieces"][BLUE] == 1
    assert after.record["num_pieces"][WHITE] == 3


def test_a_capture_of_a_stack_of_two_is_preferred_to_that_of_one_piece() -> None:
    """R7. Blue's stack on e6v lacks f5^, a move to which leaves the single piece alone."""
    pieces = {"e5v": "O", "e4^": "X", "f4^": "X", "e3^": "X", "e6v": "OO", "e5^": "X", "d5^": "O"}
    state = waxing_position(pieces, WHITE)
    assert fewest_pieces_after_a_move(state, BLUE) < state.record["num_pieces"][BLUE]
    assert after_greedy_turn(state).record["num_pieces"][BLUE] == fewest_pieces_after_a_move(state, BLUE)


def test_a_group_in_danger_is_saved() -> None:
    state = waxing_position(ENDANGERED, BLUE)
    assert fewest_pieces_after_a_move(waxing_position(ENDANGERED, WHITE), BLUE) == 1
    after = after_greedy_turn(state)
    assert fewest_pieces_after_a_move(after, BLUE) == 2
