"""Pictures of Laido: stones in the cells of a hexagonal board."""

from __future__ import annotations

from functools import lru_cache

from stoneworks.envs.drawing import boards
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.drawing.parts import Parts, parts_of_stones, shown_stones
from stoneworks.envs.drawing.svg import Scene
from stoneworks.envs.games.hexhex.drawing import center_dot, last_turn as last_turn
from stoneworks.envs.rules import Game, State


def compose(state: State, annotations: Annotations) -> Scene:
    """Return the scene of a position."""
    return boards.scene_of_stones(state, state.record["stones"], _board(state.game), annotations)


shown = shown_stones


def parts(game: Game) -> Parts:
    """Return the parts of the pictures."""
    return parts_of_stones(_board(game))


@lru_cache(maxsize=32)
def _board(game: Game) -> boards.Board:
    """Return the static parts of all pictures of a game."""
    return boards.board_of_hexes(game.grid, lines=center_dot())
