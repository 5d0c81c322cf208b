"""Taigo (Néstor Romeral Andrés).

Tiles of a dark and a light hex are placed on an unbounded plane, single-hex holes are filled with cones, and five hexes of
one color in a row win; the opponent's row takes precedence. The rulings G1 to G6 are listed in docs/taigo.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.compiler.bits import lowest_bit
from stoneworks.envs.rules.compiler.compiler import capacity, inlined, int64, kernel
from stoneworks.envs.rules.compiler.random_numbers import random_below
from stoneworks.envs.rules.compiler.types import Float32Table, Int8s, Int16s, Record, UInt64s
from stoneworks.envs.rules.contract import Kernels, player_shown, rules_kernels
from stoneworks.envs.rules.fields import (
    NO_WINNER,
    Constant,
    Field,
    change_plane,
    end_game,
    plane_names,
    record_dtype,
    start_game,
)
from stoneworks.envs.rules.game import Game, Symmetry
from stoneworks.envs.rules.grid import HEX_DIRECTIONS, NO_NEIGHBOR, hexhex
from stoneworks.envs.rules.guide import Guide, read_guide
from stoneworks.envs.rules.options import IntegerOption, IntegerPairOption, Option
from stoneworks.envs.rules.state import State
from stoneworks.envs.rules.text_board import hex_board_text, status_text

# Endings: 1 + the index in Taigo.reasons.
BY_FIVE, LAST_TILE, NO_PLACE = 1, 2, 3

#: Action planes after the six of tiles, which are numbered by the direction from the dark to the light hex.
DARK_CONE_PLANE, LIGHT_CONE_PLANE = 6, 7

#: Cell indices of larger windows do not fit into 16 bits.
MAX_RADIUS = 90
#: More than fits into any window.
MAX_SUPPLY = 30_000

# -- The codes of cells ----------------------------------------------------------------------------------------------
# A signed byte describes a cell. An empty hex holds the number of its occupied neighbors, 0 to 6, and is a hole at
# 6. An occupied hex holds 8 * kind + joint, where kind is DARK or LIGHT; a cell outside the window holds 8 * OFF. These are
# so negative that the codes of two neighbors add up to more than 0 exactly if a tile may be placed on them.

OFF, DARK, LIGHT = -8, -7, -6
#: The joint of a cone. The joint of a tile half is 1 + the direction to the other half.
CONE = 0
HOLE = 6

#: Cells that are examined together; records have room for a multiple of it.
BLOCK = 32


class _Planes(NamedTuple):
    """The planes of an observation."""

    OWN_HEXES: int = 0
    OPPONENT_HEXES: int = 1
    HOLES_TO_FILL: int = 2
    WINDOW: int = 3
    OWN_CONES_LEFT: int = 4
    OPPONENT_CONES_LEFT: int = 5
    TILES_LEFT: int = 6
    CONE_TO_PLACE: int = 7
    DARK_TO_ACT: int = 8


Plane = _Planes()


def kind_of(code: Any) -> Any:
    """Return ``DARK``, ``LIGHT`` or ``OFF`` for the code of a cell, 0 for an empty hex. Accepts arrays."""
    return code >> 3


def joint_of(code: Any) -> Any:
    """Return ``CONE``, or 1 + the direction to the tile's other half, for the code of an occupied hex. Accepts arrays."""
    return code & 7


def is_occupied(code: Any) -> Any:
    """Return whether the code of a cell is that of an occupied hex. Accepts arrays."""
    return (code < 0) & (code != 8 * OFF)


_kind = kernel(kind_of)


def state_fields(board: np.void) -> tuple[Field, ...]:
    """Return the fields of a position on ``board``."""
    window = board["empty_window"] == 0
    low, high = np.where(window, 8 * DARK, 8 * OFF), np.where(window, HOLE, 8 * OFF)
    # The dark hex of the first tile (G1) stays where it is.
    low[board["start"]], high[board["start"]] = 8 * DARK + 1, 8 * DARK + 6
    return (
        Field("open_pairs", "i4", 0, board["num_pairs"]),  # adjacent empty hexes: a tile can be placed while there are
        Field("holes_to_fill", "i4", 0, board["num_cells"]),  # by the player to move, now; 0 if a tile is next
        Field("tiles_left", "u2", 0, board["tiles"] - 1),
        Field("cones_left", "u2", 0, board["cones"], (2,)),  # dark and light; both players may use both
        Field("five", "u1", 0, 1, (2,)),  # whether dark, light has five in a row (possibly before the turn ends)
        Field("cells", "i1", low, high, window.shape),
    )


@kernel
def makes_five(board: Record, state: Record, cell: int, color: int) -> bool:
    """Return whether a stone of ``color`` on ``cell`` is (or would be) part of a straight line of five or more."""
    kind = DARK + color
    for axis in range(3):
        length = 1
        for direction in (axis, axis + 3):
            neighbor = board.neighbors[cell, direction]
            while neighbor >= 0 and _kind(state.cells[neighbor]) == kind:
                length += 1
                neighbor = board.neighbors[neighbor, direction]
        if length >= 5:
            return True
    return False


@kernel
def continues_to_five(board: Record, state: Record, cell: int, same: int) -> bool:
    """Return what ``makes_five`` does, for the color of the neighbors of ``cell`` in the directions of the set ``same``."""
    beyond = 0  # per axis, in a byte each: how many hexes of the color the line has beside ``cell``
    while same:
        direction = lowest_bit(same)
        same &= same - 1
        hex_ = board.around[cell, direction]
        kind = _kind(state.cells[hex_])
        length = 0
        while _kind(state.cells[hex_]) == kind:
            length += 1
            hex_ = board.around[hex_, direction]
        beyond += min(length, 4) << 8 * (direction % 3)
    return (beyond & 0xFC) | (beyond & 0xFC00) | (beyond & 0xFC0000) != 0


@kernel
def fill_hex(board: Record, state: Record, cell: int, color: int, joint: int) -> None:
    """Put a cone or a tile half on an empty hex, and update holes, fives and empty pairs around it."""
    cells = state.cells
    kind = DARK + color
    occupied_neighbors = cells[cell]
    cells[cell] = 8 * kind + joint
    # Which neighbors are empty and which of the color is hard to predict: no branches.
    new_holes = -(occupied_neighbors == HOLE)
    same = 0
    for direction in range(6):
        neighbor = board.around[cell, direction]
        code = cells[neighbor]
        same |= (_kind(code) == kind) << direction
        code += code >= 0
        cells[neighbor] = code
        # G3: a hex on the border has fewer neighbors, so it never becomes a hole.
        new_holes += code == HOLE
    state.open_pairs -= board.num_neighbors[cell] - occupied_neighbors
    state.holes_to_fill += new_holes
    if same and continues_to_five(board, state, cell, same):
        state.five[color] = 1


@kernel
def lay_tile(board: Record, state: Record, dark_cell: int, direction: int) -> None:
    """Place a tile."""
    fill_hex(board, state, dark_cell, 0, 1 + direction)
    fill_hex(board, state, board.neighbors[dark_cell, direction], 1, 1 + (direction + 3) % 6)
    state.tiles_left -= 1


@kernel
def end_turn(state: Record) -> None:
    """End the game if it is decided, else pass the turn to the opponent."""
    player = state.current_player
    # Holes that remain when the cones have run out stay open (G4).
    state.holes_to_fill = 0
    # G5: the opponent's five comes first.
    if state.five[1 - player]:
        end_game(state, 1 - player, BY_FIVE)
    elif state.five[player]:
        end_game(state, player, BY_FIVE)
    elif state.tiles_left == 0:
        end_game(state, NO_WINNER, LAST_TILE)
    elif state.open_pairs == 0:  # G6
        end_game(state, NO_WINNER, NO_PLACE)
    else:
        state.current_player = 1 - player


@kernel
def reset(board: Record, state: Record) -> None:
    """Start a game with its first tile (G1)."""
    start_game(state)
    state.open_pairs = board.num_pairs
    state.tiles_left = board.tiles
    state.cones_left[0] = board.cones[0]
    state.cones_left[1] = board.cones[1]
    state.holes_to_fill = 0
    state.five[0] = 0
    state.five[1] = 0
    state.cells[:] = board.empty_window
    lay_tile(board, state, board.start, 0)


@kernel
def legal_actions(board: Record, state: Record, mask: Int8s) -> None:
    """Write the mask."""
    num_cells = board.num_cells
    if state.holes_to_fill:  # G4
        mask[: DARK_CONE_PLANE * num_cells] = 0
        for color in range(2):
            left = state.cones_left[color] > 0
            plane = mask[(DARK_CONE_PLANE + color) * num_cells : (DARK_CONE_PLANE + color + 1) * num_cells]
            for cell in range(num_cells):
                plane[cell] = left and state.cells[cell] == HOLE
        return
    # G2. Slices and sums of single bytes, which the compiler vectorizes.
    for direction in range(6):
        step = board.steps[direction]
        first = max(0, -step)
        stop = num_cells - max(0, step)
        plane = mask[direction * num_cells : (direction + 1) * num_cells]
        plane[:first] = 0
        plane[stop:] = 0
        legal = plane[first:stop]
        dark_hexes = state.cells[first:stop]
        light_hexes = state.cells[first + step : stop + step]
        for index in range(legal.shape[0]):
            legal[index] = np.int8(dark_hexes[index] + light_hexes[index]) > 0
    for index in range(board.num_false_steps):
        mask[board.false_steps[index]] = 0
    mask[DARK_CONE_PLANE * num_cells :] = 0


@kernel
def turn_is_over(state: Record) -> bool:
    """Return whether the tile and the cones of the turn have been placed.

    G4: the same player fills the holes of this turn's tile while there is a cone. Other holes need not be filled: they
    were left open because no cones remained.
    """
    return state.holes_to_fill == 0 or state.cones_left[0] + state.cones_left[1] == 0  # type: ignore[no-any-return]


@kernel
def apply_action(board: Record, state: Record, action: int) -> None:
    """Place a tile, or fill a hole with a cone."""
    plane = action // board.num_cells
    cell = action - plane * board.num_cells
    if plane < DARK_CONE_PLANE:
        lay_tile(board, state, cell, plane)
    else:
        color = plane - DARK_CONE_PLANE
        state.cones_left[color] -= 1
        fill_hex(board, state, cell, color, CONE)
    if turn_is_over(state):
        end_turn(state)


# -- Random playouts -------------------------------------------------------------------------------------------------
#
# A tile lies on two empty hexes of which one at least is on the rim: the empty hexes next to an occupied one. A list of the rim
# is all that it takes to choose a legal tile uniformly, without writing a mask.


@kernel
def list_cells_of_code(board: Record, state: Record, lowest: int, highest: int, cells: Int16s) -> int:
    """Write the cells whose code is from ``lowest`` >= 1 to ``highest`` to the front of ``cells`` and return their number."""
    found = 0
    for start in range(0, board.num_cells, BLOCK):
        # Only such codes and those of tiles have one of the last three bits.
        last_bits = 0
        for cell in range(start, start + BLOCK):
            last_bits |= state.cells[cell]
        if last_bits & 7:
            for cell in range(start, min(start + BLOCK, board.num_cells)):
                cells[found] = cell
                found += lowest <= state.cells[cell] <= highest
    return found


@kernel
def extend_rim(board: Record, state: Record, cell: int, rim: Int16s, num_rim: int) -> int:
    """Append the hexes that half a tile on ``cell`` will add to the rim, before it is placed, and return the new length."""
    for direction in range(6):
        neighbor = board.around[cell, direction]
        rim[num_rim] = neighbor
        num_rim += state.cells[neighbor] == 0
    return num_rim


@kernel
def random_tile(board: Record, state: Record, rim: Int16s, num_rim: int, seeds: UInt64s, game: int) -> tuple[int, int]:
    """Return a uniformly chosen action that lays a tile, and the new length of the rim.

    A hex of the rim and a direction are drawn until they are a place. A place of two rim hexes can be drawn from both, so half
    of its draws are rejected. Rim hexes that cannot be part of a tile any more are removed when they are drawn.
    """
    cells = state.cells
    while True:
        draw = random_below(seeds, game, 24 * num_rim)
        index = draw // 24
        cell = rim[index]
        if cells[cell] < 0 or cells[cell] == board.num_neighbors[cell]:
            num_rim -= 1
            rim[index] = rim[num_rim]
            continue
        direction = (draw - 24 * index) >> 2
        neighbor = board.around[cell, direction]
        if cells[neighbor] < 0 or (cells[neighbor] > 0 and draw & 2):
            continue
        if draw & 1:
            return direction * board.num_cells + cell, num_rim
        return (direction + 3) % 6 * board.num_cells + neighbor, num_rim


@kernel
def random_cone(board: Record, state: Record, holes: Int16s, seeds: UInt64s, game: int) -> int:
    """Return a uniformly chosen action that fills one of the first ``state.holes_to_fill`` of ``holes``, which it removes."""
    both = state.cones_left[0] > 0 and state.cones_left[1] > 0
    num_holes = state.holes_to_fill
    draw = random_below(seeds, game, num_holes << 1 if both else num_holes)
    if both:
        index = draw >> 1
        color = draw & 1
    else:
        index = draw
        color = 0 if state.cones_left[0] > 0 else 1
    cell = holes[index]
    holes[index] = holes[num_holes - 1]
    return (DARK_CONE_PLANE + color) * board.num_cells + cell  # type: ignore[no-any-return]


@kernel
def list_new_holes(board: Record, state: Record, dark_cell: int, light_cell: int, holes: Int16s) -> None:
    """Write the holes next to a tile that has just been laid."""
    found = 0
    for half in (dark_cell, light_cell):
        for side in range(6):
            cell = board.around[half, side]
            if state.cells[cell] == HOLE:
                known = False
                for index in range(found):
                    known |= holes[index] == cell
                if not known:
                    holes[found] = cell
                    found += 1


@kernel
def finish_at_random(board: Record, state: Record, mask: Int8s, seeds: UInt64s, game: int) -> int:
    """Play to the end at random: as the common kernel does, but from lists of the rim and of the holes."""
    num_cells = board.num_cells
    rim = np.empty(num_cells + 1, np.int16)
    holes = np.empty(num_cells + 1, np.int16)
    num_rim = list_cells_of_code(board, state, 1, HOLE, rim)
    if state.holes_to_fill:
        list_cells_of_code(board, state, HOLE, HOLE, holes)
    played = 0
    while not state.ending:
        played += 1
        if state.holes_to_fill:
            apply_action(board, state, random_cone(board, state, holes, seeds, game))
            continue
        action, num_rim = random_tile(board, state, rim, num_rim, seeds, game)
        direction = action // num_cells
        dark_cell = action - direction * num_cells
        light_cell = int64(board.neighbors[dark_cell, direction])
        num_rim = extend_rim(board, state, dark_cell, rim, num_rim)
        fill_hex(board, state, dark_cell, 0, 1 + direction)
        num_rim = extend_rim(board, state, light_cell, rim, num_rim)
        fill_hex(board, state, light_cell, 1, 1 + (direction + 3) % 6)
        state.tiles_left -= 1
        if turn_is_over(state):
            end_turn(state)
        else:
            list_new_holes(board, state, dark_cell, light_cell, holes)
    return played


@kernel
def observe(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    for cell in range(board.num_cells):
        planes[Plane.WINDOW, cell] = _kind(state.cells[cell]) != OFF
    planes[Plane.WINDOW + 1 :, :] = 0
    change_planes(board, state, player, True, planes)


@kernel
def update_observation(board: Record, before: Record, state: Record, planes: Float32Table) -> None:
    """Change the planes from those of ``before`` to those of ``state``."""
    change_planes(board, state, player_shown(state), before.holes_to_fill > 0 or state.holes_to_fill > 0, planes)


@inlined
def change_planes(board: Record, state: Record, player: int, with_holes: bool, planes: Float32Table) -> None:
    """Write all planes but that of the window, where they differ; that of the holes if ``with_holes``, else it is clear."""
    num_cells = board.num_cells
    for cell in range(num_cells):
        planes[Plane.OWN_HEXES, cell] = _kind(state.cells[cell]) == DARK + player
    for cell in range(num_cells):
        planes[Plane.OPPONENT_HEXES, cell] = _kind(state.cells[cell]) == LIGHT - player
    if with_holes:
        for cell in range(num_cells):
            planes[Plane.HOLES_TO_FILL, cell] = state.cells[cell] == HOLE and state.holes_to_fill > 0
    change_plane(planes, Plane.OWN_CONES_LEFT, state.cones_left[player] / max(1, board.cones[player]))
    change_plane(planes, Plane.OPPONENT_CONES_LEFT, state.cones_left[1 - player] / max(1, board.cones[1 - player]))
    change_plane(planes, Plane.TILES_LEFT, state.tiles_left / (board.tiles - 1))
    change_plane(planes, Plane.CONE_TO_PLACE, state.holes_to_fill > 0)
    change_plane(planes, Plane.DARK_TO_ACT, state.current_player == 0)


class Taigo(Game):
    """Taigo.

    Options: ``tiles`` in all (default 40), ``cones`` per color (5; up to 10 are official), ``handicap``, extra (dark, light)
    cones ((0, 0)), and ``radius`` of the window (12).
    """

    name: ClassVar[str] = "taigo"
    guide: ClassVar[Guide] = read_guide(__file__)
    option_types: ClassVar[Mapping[str, Option]] = {
        "tiles": IntegerOption(40, minimum=2, maximum=MAX_SUPPLY),
        "cones": IntegerOption(5, minimum=0, maximum=MAX_SUPPLY),
        "handicap": IntegerPairOption((0, 0), minimum=0, maximum=MAX_SUPPLY),
        "radius": IntegerOption(12, minimum=1, maximum=MAX_RADIUS, always_shown=True),
    }
    size_options: ClassVar[tuple[str, ...]] = ("tiles", "radius")
    global_actions: ClassVar[tuple[str, ...]] = ()
    reasons: ClassVar[tuple[str, ...]] = ("five", "draw", "no_place")
    colors: ClassVar[tuple[str, str]] = ("Dark", "Light")
    num_action_planes: ClassVar[int] = 8
    observation_planes: ClassVar[tuple[str, ...]] = plane_names(Plane)
    board_plane: ClassVar[str] = "window"
    action_help: ClassVar[str] = (
        "expected the dark and light cell of a tile, such as j10-k10, or a cone, such as j11+D or j11+L"
    )
    kernels: ClassVar[Kernels] = rules_kernels(globals())

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        radius, cones = self.options["radius"], self.options["cones"]
        self.grid = hexhex(radius)
        num_cells, width = self.grid.num_cells, self.grid.width
        on_window, neighbors = self.grid.on_board, self.grid.neighbors
        has_neighbor = neighbors != NO_NEIGHBOR
        steps = [r * width + q for q, r in HEX_DIRECTIONS]
        false_steps = [
            direction * num_cells + cell
            for direction, step in enumerate(steps)
            for cell in range(max(0, -step), num_cells - max(0, step))
            if on_window[cell] and on_window[cell + step] and not has_neighbor[cell, direction]
        ]
        empty_window = np.full(capacity(num_cells), 8 * OFF)
        empty_window[:num_cells][on_window] = 0
        self.board = self.board_of(
            Constant("num_pairs", "i4", has_neighbor.sum() // 2),  # pairs of adjacent hexes
            Constant("tiles", "u2", self.options["tiles"]),
            Constant("cones", "u2", [cones + extra for extra in self.options["handicap"]]),
            Constant("start", "i2", radius * width + radius),  # the dark hex of the first tile
            Constant("steps", "i2", steps),  # from a cell's index to its neighbor's, by direction
            Constant("num_false_steps", "i2", len(false_steps)),
            # Tile actions whose step wraps around the end of a row.
            Constant("false_steps", "i4", false_steps + [0] * (8 - len(false_steps))),
            Constant("empty_window", "i1", empty_window),
            Constant("num_neighbors", "i1", has_neighbor.sum(axis=1), by_cell=True),
            Constant("neighbors", "i2", neighbors, by_cell=True),
            # The neighbors again, with num_cells, an index outside the window, for each missing one.
            Constant("around", "i2", np.where(has_neighbor, neighbors, num_cells), by_cell=True),
        )
        self.state_fields = state_fields(self.board[0])
        self.state_dtype = record_dtype(self.state_fields, align=True)

    def contradictions(self, records: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """See :meth:`Game.contradictions`."""
        num_cells, over = self.grid.num_cells, records["ending"] != 0
        around = self.board[0]["around"][:num_cells]
        codes = np.ascontiguousarray(records["cells"][:, : num_cells + 1].T)  # by cell: rows are gathered faster
        occupied, empty = is_occupied(codes), codes >= 0
        num_occupied = np.zeros(codes.shape, np.int8)
        open_pairs = np.zeros(len(records), np.int64)
        for direction in range(6):
            num_occupied[:-1] += occupied[around[:, direction]]
            if direction < 3:
                open_pairs += (empty[:-1] & empty[around[:, direction]]).sum(axis=0)
        known = np.where(empty, codes == num_occupied, (codes <= 8 * LIGHT + 6) & (joint_of(codes) <= 6))
        yield "cells", ~known.all(axis=0)
        yield "open_pairs", records["open_pairs"] != open_pairs
        # G4: while there is a cone, every hole was made in this turn; without one, none is filled.
        fillable = (records["cones_left"].sum(axis=1) > 0) & ~over
        yield "holes_to_fill", records["holes_to_fill"] != np.where(fillable, (codes == HOLE).sum(axis=0), 0)
        no_place = (records["holes_to_fill"] == 0) & ((records["tiles_left"] == 0) | (open_pairs == 0))
        yield "ending", ~over & no_place
        # G5: a color marked as having five in a row, or as the winner, has five in a row on the board.
        marked = np.flatnonzero(records["five"].any(axis=1))
        without_five = np.zeros(len(records), np.bool_)
        for color in range(2):
            own = kind_of(codes[:, marked]) == DARK + color
            found = np.zeros(len(marked), np.bool_)
            for axis in range(3):
                row = own
                for _ in range(4):
                    row = np.append(own[:-1] & row[around[:, axis]], own[-1:], axis=0)
                found |= row.any(axis=0)
            without_five[marked] |= (records["five"][marked, color] != 0) & ~found
        yield "five", without_five
        winner = records["winner"]
        yield "winner", (winner != NO_WINNER) & (records["five"][np.arange(len(records)), winner] == 0)

    def max_game_length(self) -> int:
        """Return an upper bound on the length of a game: tiles and cones are used as far as there is room.

        A cone needs a hex that is not on the border (G3) and is left free by the first tile. A tile needs two of the hexes
        left free by the first tile and the cones. Cones take less room per action, so the bound has as many cones
        as possible, and then tiles.
        """
        radius: int = self.options["radius"]
        tiles: int = self.options["tiles"] - 1
        cones: int = 2 * self.options["cones"] + sum(self.options["handicap"])
        free_hexes = 3 * radius * (radius + 1) - 1
        free_hexes_off_border = max(0, 3 * radius * (radius - 1) - 1)
        cones = min(cones, free_hexes_off_border)
        return cones + min(tiles, (free_hexes - cones) // 2)

    # -- Actions and symmetries --------------------------------------------------------------------------------------

    def board_action_text(self, plane: int, cell: int) -> str:
        """Return ``j10-k10`` or ``j11+D``; for a tile whose light hex is outside the window, its direction: ``m1-SW``."""
        name = self.grid.cell_names[cell]
        if plane >= DARK_CONE_PLANE:
            return f"{name}+{'DL'[plane - DARK_CONE_PLANE]}"
        light_cell = self.grid.neighbors[cell, plane]
        if light_cell == NO_NEIGHBOR:
            return f"{name}-{('E', 'NE', 'NW', 'W', 'SW', 'SE')[plane]}"
        return f"{name}-{self.grid.cell_names[light_cell]}"

    def action_plane_images(self, directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the image of each plane: directions turn, cones stay."""
        return np.append(directions, [DARK_CONE_PLANE, LIGHT_CONE_PLANE])

    def image(self, state: State, symmetry: Symmetry) -> State:
        """Return the image of a position, with an empty history.

        Whole games have no images, since every game starts with the same tile. But playing the image of an
        action in the image of a position gives the image of the successor position.
        """
        num_cells = self.grid.num_cells
        record = state.record
        codes = record["cells"][:num_cells].copy()
        halves = is_occupied(codes) & (joint_of(codes) != CONE)
        joints = joint_of(codes[halves])
        directions = symmetry.actions[: DARK_CONE_PLANE * num_cells : num_cells] // num_cells
        codes[halves] += (1 + directions[joints - 1] - joints).astype(np.int8)
        record["cells"][symmetry.cells] = codes
        return State.from_record(self, record)

    def initial_image(self, symmetry: Symmetry) -> State:
        """Return the image of the initial position, in which the first tile is turned."""
        return self.image(self.new_initial_state(), symmetry)

    # -- Text ---------------------------------------------------------------------------------------------------------

    def state_to_text(self, state: State) -> str:
        """Return a text diagram of the part of the window that tiles can reach, and the player to move.

        D and L are tile halves, d and l are cones, * is a hole to be filled next.
        """
        record = state.record
        codes = record["cells"][: self.grid.num_cells].reshape(self.grid.height, self.grid.width)
        rows, columns = np.nonzero(is_occupied(codes))
        near = np.zeros(codes.shape, np.bool_)
        near[max(0, rows.min() - 2) : rows.max() + 3, max(0, columns.min() - 2) : columns.max() + 3] = True
        symbols = []
        for code in codes.ravel():
            if is_occupied(code):
                pair = "dl" if joint_of(code) == CONE else "DL"
                symbols.append(pair[kind_of(code) - DARK])
            else:
                symbols.append("*" if code == HOLE and record["holes_to_fill"] else ".")
        picture = hex_board_text(replace(self.grid, on_board=self.grid.on_board & near.ravel()), symbols)
        return f"{picture}\n{status_text(state, symbols='DL')}"
