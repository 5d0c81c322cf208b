"""Hex (Piet Hein, 1942; John Nash, 1948): an example of a third-party game.

Players place stones in turn; Black wins by connecting the bottom row with the top row, White the first column with the last.
With ``swap``, player 1 may answer the first stone by changing colors instead of placing one. docs/adding-a-game.md
explains this file step by step.
"""

from __future__ import annotations

import numpy as np

from stoneworks import Game, State, register_game
from stoneworks.envs.rules.game import BOARD_HEADER, STATE_HEADER
from stoneworks.envs.rules.grid import HEX_DIRECTIONS, NO_NEIGHBOR, Grid, GridSymmetry
from stoneworks.envs.rules.kernels import capacity, kernel
from stoneworks.envs.rules.options import BooleanOption, IntegerOption
from stoneworks.envs.rules.random_numbers import random_below
from stoneworks.envs.rules.templates import NO_WINNER, TERMINAL_PLAYER
from stoneworks.envs.rules.text_board import hex_board_text

# A cell holds EMPTY, or BLACK or WHITE plus the flags of the two edges of its color that the stone is connected to.
EMPTY, BLACK, WHITE, COLOR = 0, 1, 2, 3
FIRST_EDGE, LAST_EDGE, BOTH_EDGES = 4, 8, 12


@kernel
def reset(board, state):
    """Start a game."""
    state.current_player = 0
    state.winner = NO_WINNER
    state.ending = 0
    state.truncated = 0
    state.swapped = 0
    state.num_stones = 0
    state.stones[:] = EMPTY


@kernel
def swap_is_legal(board, state):
    """Return whether the next action is player 1's first."""
    return board.swap and state.num_stones == 1 and not state.swapped


@kernel
def legal_actions(board, state, mask):
    """Write the mask: every empty cell, and the swap."""
    for cell in range(board.num_cells):
        mask[cell] = state.stones[cell] == EMPTY
    mask[board.num_cells] = swap_is_legal(board, state)


@kernel
def connect(board, state, start):
    """Propagate the edges of a new stone to the connected stones of its color."""
    changed = np.empty(board.num_cells, np.int16)
    changed[0] = start
    num_changed = 1
    while num_changed:
        num_changed -= 1
        cell = changed[num_changed]
        stone = state.stones[cell]
        for direction in range(6):
            neighbor = board.neighbors[cell, direction]
            # Add missing edges to neighbors of the same color.
            if neighbor >= 0 and (state.stones[neighbor] ^ stone) & COLOR == 0 and state.stones[neighbor] != stone:
                state.stones[neighbor] = stone
                changed[num_changed] = neighbor
                num_changed += 1


@kernel
def apply_action(board, state, action):
    """Place a stone, or swap colors."""
    player = state.current_player
    state.current_player = 1 - player
    if action == board.num_cells:
        state.swapped = 1
        return
    color = player ^ state.swapped
    stone = (color + 1) | board.edges[color, action]
    to_connect = False
    for direction in range(6):
        neighbor = board.neighbors[action, direction]
        if neighbor >= 0 and state.stones[neighbor] & COLOR == color + 1:
            stone |= state.stones[neighbor]
            to_connect = True
    state.stones[action] = stone
    state.num_stones += 1
    if to_connect and stone & BOTH_EDGES:
        connect(board, state, action)
    if stone & BOTH_EDGES == BOTH_EDGES:
        state.current_player = TERMINAL_PLAYER
        state.winner = player
        state.ending = 1  # 1 + index in Hex.reasons


@kernel
def finish_at_random(board, state, mask, seeds, game):
    """Play a random playout to the end. Optional; faster than computing the legal actions before each action."""
    empty = np.empty(board.num_cells, np.int16)
    num_empty = 0
    for cell in range(board.num_cells):
        empty[num_empty] = cell
        num_empty += state.stones[cell] == EMPTY
    played = 0
    while not state.ending:
        choice = random_below(seeds, game, num_empty + swap_is_legal(board, state))
        if choice == num_empty:
            apply_action(board, state, board.num_cells)
        else:
            apply_action(board, state, empty[choice])
            num_empty -= 1
            empty[choice] = empty[num_empty]
        played += 1
    return played


@kernel
def observe(board, state, player, planes):
    """Write the planes of ``Hex.observation_planes`` from the perspective of ``player``."""
    color = player ^ state.swapped
    for cell in range(board.num_cells):
        planes[0, cell] = state.stones[cell] & COLOR == color + 1
        planes[1, cell] = state.stones[cell] & COLOR == 2 - color
    planes[2, :] = 1
    planes[3, :] = swap_is_legal(board, state)
    planes[4, :] = color == 0


def rhombus(size: int) -> Grid:
    """Return the board: ``size`` rows of ``size`` hexes, each row half a hex to the right of the one below."""
    row, column = (axis.ravel() for axis in np.mgrid[0:size, 0:size])
    cells = np.arange(size * size)
    neighbors = np.full((size * size, 6), NO_NEIGHBOR, np.int16)
    for direction, (step_column, step_row) in enumerate(HEX_DIRECTIONS):
        to_column, to_row = column + step_column, row + step_row
        inside = (to_column >= 0) & (to_column < size) & (to_row >= 0) & (to_row < size)
        neighbors[inside, direction] = (to_row * size + to_column)[inside]
    return Grid(
        height=size,
        width=size,
        on_board=np.ones(size * size, np.bool_),
        neighbors=neighbors,
        positions=np.stack([column + row / 2, row * np.sqrt(3) / 2], axis=1),
        distance_from_center=(abs(2 * column - size + 1) // 2 + abs(2 * row - size + 1) // 2).astype(np.int16),
        symmetries=(
            GridSymmetry("identity", cells, np.arange(6)),
            GridSymmetry("rotate 180", cells[::-1].copy(), (np.arange(6) + 3) % 6),
        ),
    )


class Hex(Game):
    """Hex. Options: ``size``, cells a side, and ``swap``."""

    name = "hex"
    option_types = {"size": IntegerOption(11, minimum=2, maximum=181, always_shown=True), "swap": BooleanOption(True)}
    scale_options = ("size",)
    num_action_planes = 1
    global_actions = ("swap",)
    observation_planes = ("own_stones", "opponent_stones", "board", "swap_legal", "plays_black")
    binary_observations = True
    reasons = ("connection",)
    colors = ("Black", "White")
    action_help = "actions are a cell, such as c2, and swap"
    kernels = {
        "reset": reset,
        "legal_actions": legal_actions,
        "apply_action": apply_action,
        "observe": observe,
        "finish_at_random": finish_at_random,
    }

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        size = self.options["size"]
        self.grid = rhombus(size)
        room = capacity(size * size)
        self.state_dtype = np.dtype([*STATE_HEADER, ("swapped", "u1"), ("num_stones", "u2"), ("stones", "u1", room)])
        edges, neighbors = ("edges", "u1", (2, room)), ("neighbors", "i2", (room, 6))
        self.board = np.zeros(1, np.dtype([*BOARD_HEADER, ("swap", "u1"), edges, neighbors], align=True))
        board, row, column = self.board[0], *np.divmod(np.arange(size * size), size)
        board["num_cells"], board["num_actions"] = size * size, self.num_distinct_actions()
        board["swap"] = self.options["swap"]
        board["neighbors"][: size * size] = self.grid.neighbors
        for color, place in enumerate((row, column)):
            board["edges"][color, : size * size] = FIRST_EDGE * (place == 0) + LAST_EDGE * (place == size - 1)

    def max_game_length(self) -> int:
        """Return the maximum game length: the number of cells, plus one for the swap."""
        return self.grid.num_cells + self.options["swap"]

    def color_of(self, state: State, player: int) -> int:
        """Return the color of a player; colors are exchanged after a swap."""
        return player ^ int(state.record["swapped"])

    def score(self, state: State) -> None:
        """Return None; Hex has no score."""

    def state_to_text(self, state: State) -> str:
        """Return the board with X for Black and O for White, and the player to move or the winner."""
        picture = hex_board_text(
            self.grid, [".XO"[stone & COLOR] for stone in state.record["stones"][: self.grid.num_cells]]
        )
        outcome = state.outcome()
        player = state.current_player() if outcome is None else outcome.winner
        color = self.color_of(state, player)
        return f"{picture}\n{self.colors[color]} ({'XO'[color]}, player {player}) {'to move' if outcome is None else 'has won'}"


register_game("hex", Hex, samples=("hex(size=2)", "hex(size=3,swap=False)", "hex(size=4)"))

if __name__ == "__main__":
    from stoneworks import load_bot, load_game

    game = load_game("hex(size=5)")
    bots = [load_bot(name, game, seed=0) for name in ("mcts:200", "random")]
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].step(state))
    print(state)
