"""Regions of Trugo and the ways of a picked piece through them (R6), for pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stoneworks.envs.games.trugo.plane import EDGE_HEXES, HEX_CORNERS, TOP
from stoneworks.envs.games.trugo.position import TrugoPosition
from stoneworks.envs.rules.grid import Grid

#: 0 for ``^`` or 1 for ``v``, and the column and row of the hex that owns the corner, which may be outside the grid.
Corner = tuple[int, int, int]
#: A part of a tile: cell, turn (see ``drawing.part``), and whether it joins two corners or is cut off.
Part = tuple[int, int, bool]


def corner_at(grid: Grid, kind: int, cell: int) -> Corner:
    """Return the corner of a cell."""
    return kind, cell % grid.width, cell // grid.width


def region(position: TrugoPosition, grid: Grid, start: Corner) -> set[Part]:
    """Return the parts of tiles that form the region of a corner."""
    reached = _reached(position, grid, start, passing=True)
    return {
        (cell, turn, other is not None) for corner in reached for cell, turn, other in _parts_at(position, grid, corner)
    }


def routes(
    position: TrugoPosition, grid: Grid, start: Corner, ends: Iterable[Corner]
) -> tuple[set[tuple[Corner, Corner, int]], set[tuple[Corner, Corner]]]:
    """Return the slides and the steps of a shortest way from ``start`` to each destination.

    Returns:
        Corners before and after each slide, with the cell of the tile; and corners before and after each step.
    """
    before = _reached(position, grid, start, passing=False)
    slides: set[tuple[Corner, Corner, int]] = set()
    steps: set[tuple[Corner, Corner]] = set()
    for end in ends:
        corner = end
        if end not in before:
            free = (other for other in before if other == start or not _has_piece(position, grid, other))
            corner = next(other for other in free if end in _along_edges(other))
            steps.add((corner, end))
        while corner != start:
            previous, cell = before[corner]
            slides.add((previous, corner, cell))
            corner = previous
    return slides, steps


def _reached(position: TrugoPosition, grid: Grid, start: Corner, passing: bool) -> dict[Corner, tuple[Corner, int]]:
    """Return the corners that a slide reaches, the nearest first, each with the one before it and the cell of the tile.

    With ``passing``, it also passes corners with pieces.
    """
    before = {start: (start, 0)}
    waiting = [start]
    for corner in waiting:
        for cell, _, other in _parts_at(position, grid, corner):
            if other is not None and other not in before:
                before[other] = corner, cell
                if passing or not _has_piece(position, grid, other):
                    waiting.append(other)
    return before


def _parts_at(position: TrugoPosition, grid: Grid, corner: Corner) -> Iterator[tuple[int, int, Corner | None]]:
    """Yield the parts of tiles at a corner: cell, turn, and the corner that the part joins to this one, or None."""
    kind, column, row = corner
    for index, (q, r, owned) in enumerate(HEX_CORNERS):
        cell = _cell(grid, column - q, row - r)
        if owned != kind or cell is None or (rotation := int(position.tiles[cell])) < 0:
            continue
        turn = (2 * rotation + (3 if kind == TOP else 0)) % 6
        place = (index - turn) % 6  # 3 if the corner is cut off, otherwise 1 or 5
        other_q, other_r, _ = HEX_CORNERS[(turn - place) % 6]
        yield cell, turn, None if place == 3 else (kind, column - q + other_q, row - r + other_r)


def _along_edges(corner: Corner) -> list[Corner]:
    """Return the three adjacent corners."""
    kind, column, row = corner
    sign = 1 if kind == TOP else -1
    return [(1 - kind, column + sign * q, row + sign * r) for q, r in EDGE_HEXES]


def _has_piece(position: TrugoPosition, grid: Grid, corner: Corner) -> bool:
    cell = _cell(grid, *corner[1:])
    return cell is not None and bool(position.top[corner[0], cell] >= 0)


def _cell(grid: Grid, column: int, row: int) -> int | None:
    """Return the cell in a column and a row, or None outside the grid."""
    return row * grid.width + column if 0 <= column < grid.width and 0 <= row < grid.height else None
