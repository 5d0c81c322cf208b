"""Hex (Piet Hein, 1942; John Nash, 1948): an example of a third-party game.

Players place stones in turn; Black wins by connecting the bottom row with the top row, White the first column with the last.
With ``swap``, player 1 may answer the first stone by changing colors instead of placing one. docs/adding-a-game.md
explains this file step by step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stoneworks import Game, State, register_game
from stoneworks.envs.rules import Explanation, Guide, Lesson, stones
from stoneworks.envs.rules.compiler.compiler import capacity, kernel, specialized_kernel
from stoneworks.envs.rules.contract import rules_kernels
from stoneworks.envs.rules.fields import STATE_HEADER, Constant, end_game, plane_names, start_game
from stoneworks.envs.rules.grid import rhombus
from stoneworks.envs.rules.options import BooleanOption, IntegerOption
from stoneworks.envs.rules.text_board import hex_board_text, status_text

# A cell holds EMPTY, or BLACK or WHITE plus the flags of the two edges of its color that the stone is connected to.
EMPTY, BLACK, WHITE, COLOR = 0, 1, 2, 3
FIRST_EDGE, LAST_EDGE, BOTH_EDGES = 4, 8, 12


class _Planes(NamedTuple):
    """The planes of an observation."""

    OWN_STONES: int = stones.OWN_STONES
    OPPONENT_STONES: int = stones.OPPONENT_STONES
    BOARD: int = stones.BOARD
    SWAP_LEGAL: int = 3
    PLAYS_BLACK: int = 4


Plane = _Planes()


@kernel
def reset(board, state):
    """Start a game."""
    start_game(state)
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
    stone = (color + 1) | board.edges[action, color]
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
        end_game(state, player, 1)  # 1 + the index in Hex.reasons


# Optional: faster random playouts, which need not compute the legal actions before each action.
finish_at_random = specialized_kernel(
    stones.finish_at_random, "hex", {"apply_action": apply_action, "count_legal_globals": swap_is_legal}
)


@kernel
def observe(board, state, player, planes):
    """Write the planes of ``Hex.observation_planes`` from the perspective of ``player``."""
    color = player ^ state.swapped
    for cell in range(board.num_cells):
        planes[Plane.OWN_STONES, cell] = state.stones[cell] & COLOR == color + 1
        planes[Plane.OPPONENT_STONES, cell] = state.stones[cell] & COLOR == 2 - color
    planes[Plane.BOARD, :] = 1
    planes[Plane.SWAP_LEGAL, :] = swap_is_legal(board, state)
    planes[Plane.PLAYS_BLACK, :] = color == 0


class Hex(Game):
    """Hex. Options: ``size``, cells a side, and ``swap``."""

    name = "hex"
    option_types = {"size": IntegerOption(11, minimum=2, maximum=181, always_shown=True), "swap": BooleanOption(True)}
    size_options = ("size",)
    num_action_planes = 1
    global_actions = ("swap",)
    observation_planes = plane_names(Plane)
    binary_observations = True
    reasons = ("connection",)
    colors = ("Black", "White")
    action_help = "actions are a cell, such as c2, and swap"
    guide = Guide(
        rules=(
            "Players place stones in turn.",
            "Black connects the bottom row with the top row, White the two other sides.",
        ),
        lessons=(Lesson("Connect the bottom row with the top row.", "hex(size=2)", ("a1", "b1"), (("a2",),)),),
        boards={"small": {"size": 5}, "standard": {"size": 11}},
    )
    kernels = rules_kernels(globals())

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        size = self.options["size"]
        self.grid = rhombus(size)
        room = capacity(size * size)
        self.state_dtype = np.dtype([*STATE_HEADER, ("swapped", "u1"), ("num_stones", "u2"), ("stones", "u1", room)])
        place = np.divmod(np.arange(size * size), size)  # row and column of each cell
        edges = [FIRST_EDGE * (line == 0) + LAST_EDGE * (line == size - 1) for line in place]
        self.board = self.board_of(
            Constant("swap", "u1", self.options["swap"]),
            Constant("edges", "u1", np.transpose(edges), by_cell=True),
            Constant("neighbors", "i2", self.grid.neighbors, by_cell=True),
        )

    def describe_turn(self, state: State) -> str:
        """Return what the player to move may do."""
        return "a stone, or a swap of colors" if self.num_actions - 1 in state.legal_actions() else "a stone"

    def explain_illegal(self, state: State, action: int) -> str:
        """Return why an action is illegal."""
        if state.is_terminal():
            return super().explain_illegal(state, action)
        if action == self.grid.num_cells:
            return "only the answer to the first stone may be a swap"
        return f"{self.grid.cell_names[action]} is occupied"

    def explain_result(self, state: State) -> Explanation:
        """Return the stones that connect the edges."""
        stones = state.record["stones"][: self.grid.num_cells]
        connected = np.flatnonzero(stones & BOTH_EDGES == BOTH_EDGES).tolist()
        return Explanation(f"{len(connected)} stones connect both edges", tuple(connected))

    def max_game_length(self) -> int:
        """Return the maximum game length: the number of cells, plus one for the swap."""
        return self.grid.num_cells + self.options["swap"]

    def color_of(self, state: State, player: int) -> int:
        """Return the color of a player; colors are exchanged after a swap."""
        return player ^ int(state.record["swapped"])

    def state_to_text(self, state: State) -> str:
        """Return the board with X for Black and O for White, and the player to move or the winner."""
        symbols = [".XO"[stone & COLOR] for stone in state.record["stones"][: self.grid.num_cells]]
        return f"{hex_board_text(self.grid, symbols)}\n{status_text(state)}"


register_game("hex", Hex, samples=("hex(size=2)", "hex(size=3,swap=False)", "hex(size=4)"))

if __name__ == "__main__":
    from stoneworks import load_bot, load_game

    game = load_game("hex(size=5)")
    bots = [load_bot(name, game, seed=0) for name in ("mcts:200", "random")]
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].step(state))
    print(state)
