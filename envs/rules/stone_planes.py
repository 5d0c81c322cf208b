"""The observation planes that games of stones begin with."""

from __future__ import annotations

from stoneworks.envs.rules.kernels import Float32Table, Record, kernel


@kernel
def observe_stones(board: Record, state: Record, color: int, planes: Float32Table) -> None:
    """Write the first three planes: own stones, opponent's stones, board."""
    own = color + 1
    other = 2 - color
    for cell in range(board.num_cells):
        planes[0, cell] = state.stones[cell] == own
    for cell in range(board.num_cells):
        planes[1, cell] = state.stones[cell] == other
    for cell in range(board.num_cells):
        planes[2, cell] = board.on_board[cell]
