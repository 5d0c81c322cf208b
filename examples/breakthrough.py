"""Breakthrough (Dan Troyka, 2000): an example of a game with a direction and several planes of actions.

Pieces move one step forward, straight or diagonally, and capture diagonally; the first to reach the opposite edge, or to capture
everything, wins. An action is a piece's cell and one of three planes: forward to the left, forward, forward to the right. Player
0 moves upward. docs/adding-a-game.md explains what such a game must say of its actions and symmetries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stoneworks import Game, State, register_game
from stoneworks.envs.rules.compiler.compiler import capacity, kernel
from stoneworks.envs.rules.contract import rules_kernels
from stoneworks.envs.rules.fields import STATE_HEADER, Constant, end_game, plane_names, start_game
from stoneworks.envs.rules.grid import GridSymmetry, square
from stoneworks.envs.rules.options import IntegerOption
from stoneworks.envs.rules.text_board import square_board_text, status_text

EMPTY = 0  # a cell holds this, or 1 + the player whose piece it is
LEFT, FORWARD, RIGHT = 0, 1, 2  # the planes of actions
NORTH, EAST, WEST = 0, 1, 3  # directions of a square grid


class _Planes(NamedTuple):
    """The planes of an observation."""

    OWN_PIECES: int = 0
    OPPONENT_PIECES: int = 1
    BOARD: int = 2
    MOVES_UPWARD: int = 3


Plane = _Planes()


@kernel
def reset(board, state):
    """Put two rows of pieces at each edge."""
    start_game(state)
    state.cells[:] = EMPTY
    for cell in range(2 * board.side):
        state.cells[cell] = 1
        state.cells[board.num_cells - 1 - cell] = 2


@kernel
def target_of(board, state, action):
    """Return the cell that an action leads to, or -1 if there is none."""
    plane, cell = action // board.num_cells, action % board.num_cells
    column = cell % board.side + plane - FORWARD
    row = cell // board.side + (1 if state.current_player == 0 else -1)
    if column < 0 or column >= board.side or row < 0 or row >= board.side:
        return -1
    return row * board.side + column


@kernel
def legal_actions(board, state, mask):
    """Write the mask: straight to an empty cell, diagonally to any cell without a piece of one's own."""
    own = 1 + state.current_player
    for action in range(board.num_actions):
        mask[action] = 0
        target = target_of(board, state, action)
        if state.cells[action % board.num_cells] == own and target >= 0:
            straight = action // board.num_cells == FORWARD
            mask[action] = state.cells[target] == EMPTY if straight else state.cells[target] != own


@kernel
def apply_action(board, state, action):
    """Move a piece; the game ends if it reaches the edge, or if the opponent has no piece left."""
    player = state.current_player
    target = target_of(board, state, action)
    state.cells[action % board.num_cells] = EMPTY
    state.cells[target] = 1 + player
    state.current_player = 1 - player
    num_left = 0
    for cell in range(board.num_cells):
        num_left += state.cells[cell] == 2 - player
    if target // board.side == (board.side - 1 if player == 0 else 0):
        end_game(state, player, 1)  # 1 + the index in Breakthrough.reasons
    elif num_left == 0:
        end_game(state, player, 2)


@kernel
def observe(board, state, player, planes):
    """Write the planes of ``Breakthrough.observation_planes`` from the perspective of ``player``."""
    for cell in range(board.num_cells):
        planes[Plane.OWN_PIECES, cell] = state.cells[cell] == 1 + player
        planes[Plane.OPPONENT_PIECES, cell] = state.cells[cell] == 2 - player
    planes[Plane.BOARD, :] = 1
    planes[Plane.MOVES_UPWARD, :] = player == 0


class Breakthrough(Game):
    """Breakthrough. Option: ``size``, cells a side."""

    name = "breakthrough"
    option_types = {"size": IntegerOption(6, minimum=4, maximum=26, always_shown=True)}
    size_options = ("size",)
    num_action_planes = 3
    global_actions = ()
    observation_planes = plane_names(Plane)
    binary_observations = True
    reasons = ("breakthrough", "capture")
    colors = ("White", "Black")
    action_help = "actions are a cell and a direction, such as b2< or b2^ or b2>"
    kernels = rules_kernels(globals())

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        side = self.options["size"]
        self.grid = square(side)
        self.state_dtype = np.dtype([*STATE_HEADER, ("cells", "u1", capacity(side * side))])
        self.board = self.board_of(Constant("side", "i4", side))

    def board_action_text(self, plane: int, cell: int) -> str:
        """Return the cell and the direction as a player who moves upward sees it on the board: ``b2<``, ``b2^``, ``b2>``."""
        return f"{self.grid.cell_names[cell]}{'<^>'[plane]}"

    def keeps_rules(self, of_grid: GridSymmetry) -> bool:
        """Return whether upward stays upward: only the reflection that swaps left and right does that."""
        return bool(of_grid.directions[NORTH] == NORTH)

    def action_plane_images(self, directions: np.ndarray) -> np.ndarray:
        """Return the image of each action plane: the reflection swaps left and right."""
        return np.array([RIGHT, FORWARD, LEFT] if directions[EAST] == WEST else [LEFT, FORWARD, RIGHT])

    def max_game_length(self) -> int:
        """Return an upper bound: each piece takes at most as many steps as there are rows to cross."""
        side = self.options["size"]
        return 2 * side * ((side - 1) + (side - 2))

    def state_to_text(self, state: State) -> str:
        """Return the board with X for the pieces that move upward and O for the others, and the player to move or the winner."""
        symbols = [".XO"[piece] for piece in state.record["cells"][: self.grid.num_cells]]
        return f"{square_board_text(self.grid, symbols)}\n{status_text(state)}"


register_game("breakthrough", Breakthrough, samples=("breakthrough(size=4)", "breakthrough(size=5)"))

if __name__ == "__main__":
    from stoneworks import check_game, load_bot, load_game

    print(check_game("breakthrough(size=5)"))
    game = load_game("breakthrough(size=6)")
    bots = [load_bot(name, game, seed=0) for name in ("mcts:200", "random")]
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].step(state))
    print(state)
