"""What the pictures of Vadus and Laido share."""

from __future__ import annotations

from stoneworks.envs.drawing import svg, theme
from stoneworks.envs.drawing.svg import SPACING
from stoneworks.envs.rules import State

DOT_RADIUS = 0.09 * SPACING


def last_turn(state: State) -> list[int]:
    """Return the placements of the last turn that placed a stone.

    Stones keep their place and color, and turns alternate. That turn therefore consists of the last stones of one color
    without a pass between them.
    """
    stones = state.record["stones"]
    turn: list[int] = []
    for action in reversed(state.history()):
        if action < state.game.grid.num_cells and (not turn or stones[action] == stones[turn[0]]):
            turn.append(action)
        elif turn:
            break
    return turn[::-1]


def center_dot() -> str:
    """Return the dot in the middle of the board."""
    return svg.group(svg.circles([(0, 0)], DOT_RADIUS), fill=theme.LINE)
