"""Hexhex, rhombic and square grids: counts, neighbors, names, places on a drawing, symmetries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.grid import NO_NEIGHBOR, Grid, column_name, hexhex, rhombus, square

STEPS = {"E": (1, 0), "NE": (0, 1), "NW": (-1, 1), "W": (-1, 0), "SW": (0, -1), "SE": (1, -1)}
RADII = (1, 2, 3, 8, 15)


def axial(grid: Grid, cell: int, radius: int) -> tuple[int, int]:
    row, column = divmod(cell, grid.width)
    return column - radius, row - radius


def cells_on(grid: Grid) -> list[int]:
    return [cell for cell in range(grid.num_cells) if grid.on_board[cell]]


@pytest.mark.parametrize("radius", RADII)
def test_a_cell_is_on_the_board_by_its_distance_from_the_center(radius: int) -> None:
    grid = hexhex(radius)
    for cell in range(grid.num_cells):
        q, r = axial(grid, cell, radius)
        distance = max(abs(q), abs(r), abs(q + r))
        assert grid.on_board[cell] == (distance <= radius)
        assert grid.distance_from_center[cell] == (distance if distance <= radius else -1)


@pytest.mark.parametrize("radius", RADII)
def test_neighbors_are_one_step_away_in_the_order_of_the_directions(radius: int) -> None:
    grid = hexhex(radius)
    cell_at = {axial(grid, cell, radius): cell for cell in cells_on(grid)}
    for cell in range(grid.num_cells):
        q, r = axial(grid, cell, radius)
        expected = [cell_at.get((q + dq, r + dr), NO_NEIGHBOR) for dq, dr in STEPS.values()]
        assert grid.neighbors[cell].tolist() == (expected if grid.on_board[cell] else [NO_NEIGHBOR] * 6)


@pytest.mark.parametrize("radius", RADII)
def test_neighbors_and_only_they_are_at_distance_1_on_a_drawing(radius: int) -> None:
    grid = hexhex(radius)
    directions = {"E": 0, "NE": 60, "NW": 120, "W": 180, "SW": 240, "SE": 300}
    for cell in cells_on(grid):
        distances = np.hypot(*(grid.positions - grid.positions[cell]).T)
        near = {other for other in cells_on(grid) if other != cell and distances[other] < 1.5}
        neighbors = grid.neighbors[cell]
        assert near == set(neighbors[neighbors != NO_NEIGHBOR].tolist())
        for degrees, neighbor in zip(directions.values(), neighbors, strict=True):
            if neighbor != NO_NEIGHBOR:
                step = grid.positions[neighbor] - grid.positions[cell]
                assert step == pytest.approx([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])


def test_cells_are_named_by_column_letter_and_row_number() -> None:
    grid = hexhex(2)
    assert grid.cell_names[:6] == ("a1", "b1", "c1", "d1", "e1", "a2")
    assert grid.cell_names[-1] == "e5"
    assert grid.cell_names[2 * 5 + 2] == "c3", "the center"
    for cell, name in enumerate(grid.cell_names):
        assert grid.cell_index(name) == cell
    for unknown in ("f1", "a6", "a0", "A1", "", "1a", "a01"):
        assert grid.cell_index(unknown) is None


@pytest.mark.parametrize(
    ("column", "name"),
    [(0, "a"), (25, "z"), (26, "aa"), (27, "ab"), (51, "az"), (52, "ba"), (701, "zz"), (702, "aaa")],
)
def test_columns_after_z_have_two_letters(column: int, name: str) -> None:
    assert column_name(column) == name
    names = hexhex(14).cell_names
    assert len(set(names)) == len(names) == 29 * 29
    assert names[25:29] == ("z1", "aa1", "ab1", "ac1")


@pytest.mark.parametrize("radius", RADII)
def test_symmetries_keep_neighbors_neighbors_and_turn_their_directions(radius: int) -> None:
    grid = hexhex(radius)
    assert len(grid.symmetries) == 12
    for symmetry in grid.symmetries:
        assert sorted(symmetry.directions) == [*range(6)]
        for cell in cells_on(grid):
            image = symmetry.cells[cell]
            assert grid.on_board[image]
            assert grid.distance_from_center[image] == grid.distance_from_center[cell]
            for direction in range(6):
                neighbor = grid.neighbors[cell, direction]
                of_neighbor = NO_NEIGHBOR if neighbor == NO_NEIGHBOR else symmetry.cells[neighbor]
                assert grid.neighbors[image, symmetry.directions[direction]] == of_neighbor


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


@pytest.mark.parametrize(
    ("make", "steps", "up"),
    [(rhombus, STEPS.values(), (0.5, math.sqrt(3) / 2)), (square, [(0, 1), (1, 0), (0, -1), (-1, 0)], (0, 1))],
)
@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_rhombi_and_squares_are_the_cells_of_a_square_with_the_steps_of_their_directions(
    make: Callable[[int], Grid], steps: Iterable[tuple[int, int]], up: tuple[float, float], size: int
) -> None:
    grid = make(size)
    assert (grid.height, grid.width, int(grid.on_board.sum())) == (size, size, size * size)
    for cell in range(size * size):
        row, column = divmod(cell, size)
        for (right, above), neighbor in zip(steps, grid.neighbors[cell].tolist(), strict=True):
            inside = 0 <= column + right < size and 0 <= row + above < size
            assert neighbor == (cell + above * size + right if inside else NO_NEIGHBOR)
            if inside:
                step = grid.positions[neighbor] - grid.positions[cell]
                assert step == pytest.approx([right + above * up[0], above * up[1]])


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_a_rhombus_maps_onto_itself_by_a_half_turn(size: int) -> None:
    grid = rhombus(size)
    assert [symmetry.name for symmetry in grid.symmetries] == ["identity", "rotate 180"]
    for symmetry in grid.symmetries:
        for cell, image in enumerate(symmetry.cells):
            assert grid.distance_from_center[image] == grid.distance_from_center[cell]
            of_neighbors = [n if n == NO_NEIGHBOR else symmetry.cells[n] for n in grid.neighbors[cell]]
            assert grid.neighbors[image][symmetry.directions].tolist() == of_neighbors
    assert grid.symmetries[1].cells[0] == size * size - 1


@pytest.mark.parametrize("size", [3, 4, 16, 24])
def test_the_board_of_taugo_has_its_intersections_and_edge_points(size: int) -> None:
    """T1: 4 N edge points, each with one neighbor; the corners of the grid are off the board."""
    game = load_game("taugo", size=size)
    grid = game.grid
    assert (grid.height, grid.width) == (size + 2, size + 2)
    num_neighbors = (grid.neighbors >= 0).sum(axis=1)
    inside = np.zeros((size + 2, size + 2), bool)
    inside[1:-1, 1:-1] = True
    assert np.array_equal(num_neighbors == 4, inside.ravel())
    assert (num_neighbors == 1).sum() == 4 * size
    corners = [0, size + 1, (size + 1) * (size + 2), (size + 2) ** 2 - 1]
    assert np.flatnonzero(~grid.on_board).tolist() == corners == np.flatnonzero(num_neighbors == 0).tolist()
    step = {"N": (1, 0), "E": (0, 1), "S": (-1, 0), "W": (0, -1)}
    for cell, name in enumerate(grid.cell_names):
        for direction, (up, right) in enumerate(step.values()):
            neighbor = grid.neighbors[cell, direction]
            if neighbor >= 0:
                assert neighbor == cell + up * (size + 2) + right, name
                assert grid.neighbors[neighbor, (direction + 2) % 4] == cell
                if num_neighbors[cell] == 1:
                    assert grid.neighbors[neighbor, game.board[0]["outward"][cell]] == cell


def test_the_middle_of_a_square_grid_is_at_distance_0() -> None:
    distances = load_game("taugo(size=4)").grid.distance_from_center.reshape(6, 6)
    assert distances[2:4, 2:4].max() == 0
    assert distances[1, 1] == 2
    assert distances[0, 1] == 3
    assert distances[0, 0] == -1
    distances = load_game("taugo(size=3)").grid.distance_from_center.reshape(5, 5)
    assert (distances == 0).sum() == 1
    assert distances[2, 2] == 0
    assert distances[2, 4] == 2
