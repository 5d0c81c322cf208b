"""Generic drawing for games without their own: hex or square cells, and stones.

A cell has a stone if one of the observation planes whose names start with ``own_`` is set for the player of that color. Other
planes are not drawn.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from stoneworks.envs.drawing import boards, pieces
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.svg import SPACING, Scene
from stoneworks.envs.rules import Game, State
from stoneworks.envs.rules.grid import HEX_DIRECTIONS
from stoneworks.envs.rules.stones import BLACK, EMPTY, WHITE

#: Distance from the edge of a board of square cells to the center of a label.
LABEL_DISTANCE = 0.35 * SPACING


def last_turn(state: State) -> list[int]:
    """Return the last action on the board and the directly preceding ones of the same player."""
    game = state.game
    num_board_actions = game.num_action_planes * game.grid.num_cells
    replayed = game.new_initial_state()
    turn: list[int] = []
    player_of_turn = None
    for action in state.history():
        player = replayed.current_player()
        if not replayed.try_apply_action(action):  # the history does not start with the initial position
            return [action for action in state.history() if action < num_board_actions][-1:]
        if action < num_board_actions:
            turn = [*turn, action] if player == player_of_turn else [action]
            player_of_turn = player
        else:
            player_of_turn = None
    return turn


def compose(state: State, annotations: Annotations) -> Scene:
    """Return the scene of a position."""
    stones = np.full(state.game.grid.num_cells, EMPTY)
    pieces_of_colors = (WHITE, BLACK) if state.game.colors[0].lower() == "white" else (BLACK, WHITE)
    for player in (0, 1):
        stones[_own_cells(state, player)] = pieces_of_colors[state.color_of(player)]
    return boards.scene_of_stones(state, stones, _board(state.game), annotations)


def _own_cells(state: State, player: int) -> npt.NDArray[np.bool_]:
    """Return ``bool[num_cells]``: the cells with stones of ``player``."""
    planes = zip(state.game.observation_planes, state.observation_tensor(player), strict=True)
    # A constant plane describes the player, not cells.
    on_cells = [plane.ravel() > 0 for name, plane in planes if name.startswith("own_") and np.ptp(plane) > 0]
    return np.any([np.zeros(state.game.grid.num_cells, np.bool_), *on_cells], axis=0) & state.game.grid.on_board


@lru_cache(maxsize=32)
def _board(game: Game) -> boards.Board:
    """Return the static parts of all pictures of a game."""
    grid = game.grid
    if grid.neighbors.shape[1] == len(HEX_DIRECTIONS):
        return boards.board_of_hexes(grid)
    centers = boards.cell_centers(grid)
    shown = [centers[cell] for cell in np.flatnonzero(grid.on_board)]
    extent = boards.extent_of(shown, SPACING / 2, SPACING / 2)
    labels, extent_with_labels = boards.side_labels(grid, extent, LABEL_DISTANCE)
    shape, ground = boards.square_shape(SPACING - pieces.LINE_WIDTH), boards.ground_of_cells(shown, boards.square_shape)
    return boards.Board(centers, shape, ground, labels, extent, extent_with_labels)
