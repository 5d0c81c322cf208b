"""Hexhex, rhombic and square grids: counts, neighbors, names, places on a drawing, symmetries."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.grid import NO_NEIGHBOR, Grid, column_name, hexhex, rhombus, square

#: Steps ``(column, row)`` by direction, and where one row upwards is on a drawing.
HEXES = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)), (0.5, math.sqrt(3) / 2)
SQUARES = ((0, 1), (1, 0), (0, -1), (-1, 0)), (0.0, 1.0)
RADII, SIZES, TAUGO_SIZES = (1, 2, 3, 8, 15), (1, 2, 3, 8), (3, 4, 16, 24)
GRIDS = [
    *((hexhex, radius, 12, HEXES) for radius in RADII),
    *((rhombus, size, 2, HEXES) for size in SIZES),
    *((square, size, 8, SQUARES) for size in SIZES),
    *((partial(square, edge_points=True), size, 8, SQUARES) for size in TAUGO_SIZES),
]


@pytest.mark.parametrize("radius", RADII)
def test_a_cell_is_on_the_board_by_its_distance_from_the_center(radius: int) -> None:
    grid = hexhex(radius)
    for cell in range(grid.num_cells):
        r, q = np.subtract(divmod(cell, grid.width), radius)
        distance = max(abs(q), abs(r), abs(q + r))
        assert grid.on_board[cell] == (distance <= radius)
        assert grid.distance_from_center[cell] == (distance if distance <= radius else -1)


@pytest.mark.parametrize("size", SIZES)
def test_rhombi_and_squares_have_all_cells_of_a_square(size: int) -> None:
    for grid in (rhombus(size), square(size)):
        assert (grid.height, grid.width, int(grid.on_board.sum())) == (size, size, size * size)
        assert grid.distance_from_center.max() == 2 * ((size - 1) // 2)


@pytest.mark.parametrize("make", [rhombus, square, partial(square, edge_points=True)])
@pytest.mark.parametrize("size", SIZES)
def test_the_distance_from_the_center_is_a_number_of_steps(make: Callable[[int], Grid], size: int) -> None:
    grid = make(size)
    middle = range((grid.width - 1) // 2, grid.width // 2 + 1)
    reached = {row * grid.width + column for row in middle for column in middle}
    for distance in range(grid.distance_from_center.max() + 1):
        assert set(np.flatnonzero((grid.distance_from_center <= distance) & grid.on_board).tolist()) == reached
        reached |= set(grid.neighbors[list(reached)].ravel().tolist()) - {NO_NEIGHBOR}
    assert (grid.distance_from_center[~grid.on_board] == -1).all()


@pytest.mark.parametrize(("make", "size", "num_symmetries", "geometry"), GRIDS)
def test_neighbors_are_one_step_away_in_their_direction_and_symmetries_keep_them(
    make: Callable[[int], Grid],
    size: int,
    num_symmetries: int,
    geometry: tuple[tuple[tuple[int, int], ...], tuple[float, float]],
) -> None:
    """Of edge points see below."""
    grid = make(size)
    steps, up = geometry
    cell_at = {divmod(cell, grid.width): cell for cell in np.flatnonzero(grid.on_board).tolist()}
    for (row, column), cell in cell_at.items():
        expected = [cell_at.get((row + above, column + right), NO_NEIGHBOR) for right, above in steps]
        is_inside = not isinstance(make, partial) or {row, column}.isdisjoint({0, grid.width - 1})
        assert grid.neighbors[cell].tolist() == expected or not is_inside
        assert grid.positions[cell] - grid.positions[0] == pytest.approx([column + row * up[0], row * up[1]])
    assert (grid.neighbors[~grid.on_board] == NO_NEIGHBOR).all()
    assert len(grid.symmetries) == num_symmetries
    for symmetry in grid.symmetries:
        assert sorted(symmetry.directions) == [*range(len(steps))]
        assert sorted(symmetry.cells[grid.on_board]) == [*cell_at.values()]
        for cell in cell_at.values():
            image = symmetry.cells[cell]
            assert grid.distance_from_center[image] == grid.distance_from_center[cell]
            of_neighbors = [n if n == NO_NEIGHBOR else symmetry.cells[n] for n in grid.neighbors[cell]]
            assert grid.neighbors[image][symmetry.directions].tolist() == of_neighbors


def test_a_grid_whose_cells_do_not_fit_into_16_bits_is_refused() -> None:
    assert square(181).neighbors.max() == 181**2 - 1
    with pytest.raises(ValueError, match="grids must have at most 32,767 cells, off the board or on it, got 182 x 182"):
        square(182)


def test_cells_are_named_by_column_letter_and_row_number() -> None:
    grid = hexhex(2)
    assert grid.cell_names[:6] == ("a1", "b1", "c1", "d1", "e1", "a2")
    assert (grid.cell_names[12], grid.cell_names[24]) == ("c3", "e5")
    for cell, name in enumerate(grid.cell_names):
        assert grid.cell_index(name) == cell
    for unknown in ("f1", "a6", "a0", "A1", "", "1a", "a01"):
        assert grid.cell_index(unknown) is None


def test_columns_after_z_have_two_letters() -> None:
    names = {0: "a", 25: "z", 26: "aa", 27: "ab", 51: "az", 52: "ba", 701: "zz", 702: "aaa"}
    assert {column: column_name(column) for column in names} == names
    assert hexhex(14).cell_names[25:29] == ("z1", "aa1", "ab1", "ac1")


def test_six_symmetries_are_rotations_and_six_reflections() -> None:
    grid = hexhex(2)
    corners = [grid.cell_index(name) for name in ("e3", "c5", "a5", "a3", "c1", "e1")]  # counter-clockwise from E
    turned = {tuple(corners[turns:] + corners[:turns]) for turns in range(6)}
    mirrored = {tuple(reversed(order)) for order in turned}
    images = {symmetry.name: tuple(symmetry.cells[corners].tolist()) for symmetry in grid.symmetries}
    assert set(images.values()) == turned | mirrored
    assert images["identity"] == tuple(corners)
    assert images["rotate 60"] == tuple(corners[1:] + corners[:1])
    for name, image in images.items():
        assert (image in mirrored) == name.startswith("reflect")


def test_a_rhombus_maps_onto_itself_by_a_half_turn() -> None:
    assert [symmetry.name for symmetry in rhombus(3).symmetries] == ["identity", "rotate 180"]
    assert rhombus(3).symmetries[1].cells[0] == 8


@pytest.mark.parametrize("size", TAUGO_SIZES)
def test_the_board_of_taugo_has_its_intersections_and_edge_points(size: int) -> None:
    """T1: 4 N edge points, each with one neighbor; the corners of the grid are off the board."""
    game = load_game("taugo", size=size)
    grid = game.grid
    assert (grid.height, grid.width) == (size + 2, size + 2)
    num_neighbors = (grid.neighbors >= 0).sum(axis=1).reshape(size + 2, size + 2)
    assert (num_neighbors[1:-1, 1:-1] == 4).all()
    assert (num_neighbors == 1).sum() == 4 * size
    assert (num_neighbors[[0, 0, -1, -1], [0, -1, 0, -1]] == 0).all()
    assert np.array_equal(grid.on_board, num_neighbors.ravel() > 0)
    for point in np.flatnonzero(num_neighbors == 1):
        (neighbor,) = grid.neighbors[point][grid.neighbors[point] >= 0]
        assert grid.neighbors[neighbor, game.board[0]["outward"][point]] == point
