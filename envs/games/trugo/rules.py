"""Trugo (Cameron Browne, 2007).

Hexagonal tiles with a Truchet-like pattern are placed, and later removed. Each corner where three of them meet brings a
piece into play. Pieces slide along the regions of the pattern, step between them, pin one another, and are captured
as in Go. The rulings R1 to R10 are listed in docs/trugo.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isqrt
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.trugo import hex_sets
from stoneworks.envs.games.trugo.pieces import capture_around, has_destination, may_land, write_destinations
from stoneworks.envs.games.trugo.plane import (
    BOTTOM,
    DOUBLE,
    EMPTY_JUNCTION,
    NO_JUNCTION,
    SINGLE,
    TOP,
    corner_along_edge,
    corner_cells,
    corner_code,
    corner_of_hex,
    has_top,
    joined_corner,
    keeps_corner_colors,
    num_plane_hexes,
    plane_constants,
    plane_hexes,
    rotation_images,
    set_corner_code,
    tops_in_contents,
    with_top,
    without_top,
)
from stoneworks.envs.games.trugo.position import LAY, MOVE, NOTHING_PICKED, PICK, REMOVE, TrugoPositions
from stoneworks.envs.games.trugo.tiles import (
    find_removable,
    lay_tile,
    removal_by_surroundings,
    remove_tile,
    write_targets,
)
from stoneworks.envs.rules.compiler.bits import num_bits
from stoneworks.envs.rules.compiler.compiler import capacity, inlined, int64, kernel
from stoneworks.envs.rules.compiler.random_numbers import below, next_seed
from stoneworks.envs.rules.compiler.types import Float32Table, Int8s, Record, UInt64s
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
from stoneworks.envs.rules.grid import GridSymmetry, hexhex
from stoneworks.envs.rules.guide import Guide, read_guide
from stoneworks.envs.rules.options import BooleanOption, IntegerOption, Option

# Endings: 1 + the index in Trugo.reasons.
BY_PIECES, TOO_LONG = 1, 2


class _Planes(NamedTuple):
    """The planes of an observation."""

    BOARD: int = 0
    TILES_ROTATION_0: int = 1
    TILES_ROTATION_1: int = 2
    TILES_ROTATION_2: int = 3
    OWN_TOP_PIECES_ON_TOP_CORNERS: int = 4
    OWN_TOP_PIECES_ON_BOTTOM_CORNERS: int = 5
    OPPONENT_TOP_PIECES_ON_TOP_CORNERS: int = 6
    OPPONENT_TOP_PIECES_ON_BOTTOM_CORNERS: int = 7
    OWN_PINNED_PIECES_ON_TOP_CORNERS: int = 8
    OWN_PINNED_PIECES_ON_BOTTOM_CORNERS: int = 9
    OPPONENT_PINNED_PIECES_ON_TOP_CORNERS: int = 10
    OPPONENT_PINNED_PIECES_ON_BOTTOM_CORNERS: int = 11
    JUNCTIONS_ON_TOP_CORNERS: int = 12
    JUNCTIONS_ON_BOTTOM_CORNERS: int = 13
    PICKED_ON_TOP_CORNERS: int = 14
    PICKED_ON_BOTTOM_CORNERS: int = 15
    DESTINATION_TO_CHOOSE: int = 16
    WANING: int = 17
    POOL: int = 18
    OWN_RESERVE: int = 19
    OPPONENT_RESERVE: int = 20
    TURNS_PLAYED: int = 21
    WHITE_TO_ACT: int = 22


Plane = _Planes()


def state_fields(board: np.void) -> tuple[Field, ...]:
    """Return the fields of a position on ``board``."""
    num_hexes = len(board["cell_of_hex"])
    num_words = hex_sets.num_words(num_hexes)
    contents = np.zeros(hex_sets.WORD_BITS * num_words, np.int64)
    contents[:num_hexes] = np.where(board["cell_of_hex"] >= 0, 255, 0)
    return (
        Field("turns", "i4", 0, board["max_turns"]),  # number of turns played
        Field("picked", "i4", NOTHING_PICKED, 2 * num_hexes - 1),  # corner of the picked piece (R5)
        Field("pool", "i4", 0, board["num_tiles"]),  # tiles left to place
        Field("reserve", "u2", 0, board["pieces_each"], (2,)),  # pieces in reserve, by color
        Field("num_pieces", "u2", 0, 2**16 - 1, (2,)),  # pieces on the board including pinned ones, by color
        Field("tiles", "u8", 0, 2**64 - 1, (num_words,)),  # hexes with a tile
        Field("targets", "u8", 0, 2**64 - 1, (num_words,)),  # hexes of the legal tile turns (R3, R4)
        Field("contents", "u1", 0, contents, contents.shape),  # tile and corners of each hex, see trugo.plane
    )


@kernel
def reset(board: Record, state: Record) -> None:
    """Start a game."""
    start_game(state)  # R2
    state.turns = 0
    state.picked = NOTHING_PICKED
    state.pool = board.num_tiles
    for color in range(2):
        state.reserve[color] = board.pieces_each
        state.num_pieces[color] = 0
    state.tiles[:] = 0
    state.targets[:] = 0
    state.contents[:] = 0
    hex_sets.insert(state.targets, board.hex_of_cell[board.num_cells // 2])  # R3: White's first turn


@kernel
def legal_actions(board: Record, state: Record, mask: Int8s) -> None:
    """Write the mask."""
    num_cells = board.num_cells
    mask[:] = 0
    if state.picked != NOTHING_PICKED:
        write_destinations(board, state, state.picked, mask, MOVE * num_cells)
        return
    first_plane, num_planes = (LAY, REMOVE - LAY) if state.pool > 0 else (REMOVE, 1)
    for word_index in range(board.num_words):
        word = state.targets[word_index]
        while word:
            cell = board.cell_of_hex[hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)]
            word = hex_sets.without_lowest(word)
            for plane in range(first_plane, first_plane + num_planes):
                mask[plane * num_cells + cell] = 1
    player = state.current_player
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        # Whether the top piece is the player's own is hard to predict: branch only once that is known.
        on_top_corners = np.uint64(0)
        on_bottom_corners = np.uint64(0)
        while word:
            place = hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            own = board.tops_in_contents[player, state.contents[hex_sets.WORD_BITS * word_index + place]]
            on_top_corners |= np.uint64(own & 1) << np.uint64(place)
            on_bottom_corners |= np.uint64(own >> 1) << np.uint64(place)
        for kind in range(2):
            word = on_top_corners if kind == TOP else on_bottom_corners
            while word:
                hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
                word = hex_sets.without_lowest(word)
                if has_destination(board, state, 2 * hex_ + kind):  # R5
                    mask[(PICK + kind) * num_cells + board.cell_of_hex[hex_]] = 1


@kernel
def apply_action(board: Record, state: Record, action: int) -> None:
    """Place or remove a tile, pick a piece, or move it."""
    plane = action // board.num_cells
    # Use one integer type, so that each kernel below is compiled once.
    hex_ = int64(board.hex_of_cell[action % board.num_cells])
    if plane >= MOVE:
        play_move(board, state, int64(state.picked), 2 * hex_ + plane - MOVE)
    elif plane >= PICK:
        state.picked = 2 * hex_ + plane - PICK
    elif plane == REMOVE:
        play_tile(board, state, hex_, -1)
    else:
        play_tile(board, state, hex_, plane - LAY)


@kernel
def play_move(board: Record, state: Record, start: int, end: int) -> None:
    """Move the top piece of a corner, make the captures, and end the turn."""
    player = int64(state.current_player)
    opponent = 1 - player
    state.picked = NOTHING_PICKED
    left = without_top(corner_code(state, start))
    set_corner_code(state, start, left)
    set_corner_code(state, end, with_top(corner_code(state, end), player))
    for color in (opponent, player):  # R7
        if has_top(left, opponent):
            capture_around(board, state, start, color)
        capture_around(board, state, end, color)
    end_turn(board, state, player)


@kernel
def play_tile(board: Record, state: Record, hex_: int, rotation: int) -> None:
    """Place a tile, or remove one if ``rotation`` is -1, make the captures, and end the turn."""
    player = int64(state.current_player)
    if rotation < 0:
        remove_tile(board, state, hex_)
    else:
        served = lay_tile(board, state, hex_, rotation)
        if served:
            for color in (1 - player, player):  # R7
                for index in range(6):
                    if served >> index & 1:
                        capture_around(board, state, corner_of_hex(board, hex_, index), color)
        if state.pool == 0:
            find_removable(board, state)
    end_turn(board, state, player)


# -- Random playouts -------------------------------------------------------------------------------------------------
#
# A turn is drawn from the legal tile turns and all corners of tiles; a corner without a piece that can move is rejected and another
# turn is drawn, so that all legal actions are equally likely.


class Playout(NamedTuple):
    """Work arrays of a playout.

    Attributes:
        tiles: ``uint16[num_hexes]``, the hexes with a tile, in any order.
        place: ``uint16[num_hexes]``, the index of each in ``tiles``.
        reached: ``uint64[num_words]``, the hexes of the corners that a slide has reached.
        landings: ``uint64[2 * num_words]``, the set of corners where a piece may land.
        waiting: ``int32[num_hexes]``, the corners to slide on from.
    """

    tiles: npt.NDArray[np.uint16]
    place: npt.NDArray[np.uint16]
    reached: npt.NDArray[np.uint64]
    landings: npt.NDArray[np.uint64]
    waiting: npt.NDArray[np.int32]


@inlined
def list_tiles(board: Record, state: Record, work: Playout) -> int:
    """Write the hexes with a tile and return their number."""
    num_tiles = 0
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            work.tiles[num_tiles] = hex_
            work.place[hex_] = num_tiles
            num_tiles += 1
            word = hex_sets.without_lowest(word)
    return num_tiles


@inlined
def find_landings(board: Record, state: Record, start: int, work: Playout) -> int:
    """Write the destinations of the top piece of ``start``, as ``search_destinations`` does, and return their number (R6)."""
    num_landings = 0
    work.reached[:] = 0
    work.landings[:] = 0
    hex_sets.insert(work.reached, start >> 1)
    work.waiting[0] = start
    num_waiting = 1
    while num_waiting > 0:
        num_waiting -= 1
        corner = int64(work.waiting[num_waiting])
        for index in range(3):
            beside = int64(corner_along_edge(board, corner, index))
            if may_land(board, corner_code(state, beside)) and not hex_sets.contains(work.landings, beside):
                hex_sets.insert(work.landings, beside)
                num_landings += 1
        for index in range(3):
            joined = int64(joined_corner(board, state, corner, index))
            if joined < 0 or hex_sets.contains(work.reached, joined >> 1):
                continue
            hex_sets.insert(work.reached, joined >> 1)
            code = corner_code(state, joined)
            if code <= EMPTY_JUNCTION:
                work.waiting[num_waiting] = joined
                num_waiting += 1
            if may_land(board, code):
                hex_sets.insert(work.landings, joined)
                num_landings += 1
    return num_landings


@inlined
def draw_turn(
    board: Record, state: Record, work: Playout, num_tiles: int, num_tile_turns: int, seed: np.uint64
) -> tuple[int, int, int, np.uint64]:
    """Draw a turn.

    Returns the number of a tile turn, or -1; the corner of the piece that moves, and the number of its landings; and the new seed.
    """
    while True:
        seed = next_seed(seed)
        draw = below(seed, num_tile_turns + 2 * num_tiles)
        if draw < num_tile_turns:
            return draw, NOTHING_PICKED, 0, seed
        draw -= num_tile_turns
        corner = 2 * int64(work.tiles[draw >> 1]) + (draw & 1)
        if has_top(corner_code(state, corner), state.current_player):
            num_landings = find_landings(board, state, corner, work)
            if num_landings > 0:
                return -1, corner, num_landings, seed


@inlined
def play_drawn_tile(board: Record, state: Record, work: Playout, num_tiles: int, turn: int) -> int:
    """Lay or remove the tile of a tile turn and return the new number of tiles."""
    if state.pool > 0:
        choice = turn // (REMOVE - LAY)
        hex_ = hex_sets.member(state.targets, choice)
        work.tiles[num_tiles] = hex_
        work.place[hex_] = num_tiles
        play_tile(board, state, hex_, turn - (REMOVE - LAY) * choice)
        return num_tiles + 1
    hex_ = hex_sets.member(state.targets, turn)
    last = work.tiles[num_tiles - 1]
    work.tiles[work.place[hex_]] = last
    work.place[last] = work.place[hex_]
    play_tile(board, state, hex_, -1)
    return num_tiles - 1


@kernel
def finish_at_random(board: Record, state: Record, mask: Int8s, seeds: UInt64s, game: int) -> int:
    """Play to the end at random: as the common kernel does, but without masks."""
    num_words = board.num_words
    num_hexes = hex_sets.WORD_BITS * num_words
    # Hexes of the largest window need all 16 bits.
    work = Playout(
        np.empty(num_hexes, np.uint16),
        np.empty(num_hexes, np.uint16),
        np.empty(num_words, np.uint64),
        np.empty(2 * num_words, np.uint64),
        np.empty(num_hexes, np.int32),
    )
    num_tiles = list_tiles(board, state, work)
    seed = seeds[game]
    played = 0
    while not state.ending:
        start = int64(state.picked)
        if start != NOTHING_PICKED:
            played -= 1  # the action that picked it was not played here
            turn, num_landings = -1, find_landings(board, state, start, work)
        else:
            num_tile_turns = 0
            for word_index in range(num_words):
                num_tile_turns += num_bits(state.targets[word_index])
            if state.pool > 0:
                num_tile_turns *= REMOVE - LAY
            turn, start, num_landings, seed = draw_turn(board, state, work, num_tiles, num_tile_turns, seed)
        if turn >= 0:
            num_tiles = play_drawn_tile(board, state, work, num_tiles, turn)
            played += 1
        else:
            seed = next_seed(seed)
            play_move(board, state, start, hex_sets.member(work.landings, below(seed, num_landings)))
            played += 2
    seeds[game] = seed
    return played


@kernel
def end_turn(board: Record, state: Record, player: int) -> None:
    """End the game if the turn decides it or was the last one, and pass the turn to the other player."""
    opponent = 1 - player
    state.turns += 1
    state.current_player = opponent
    if state.pool == 0 and state.num_pieces[opponent] == 0:  # R8
        end_game(state, player, BY_PIECES)
    elif state.pool == 0 and state.num_pieces[player] == 0:
        end_game(state, opponent, BY_PIECES)
    elif state.turns == board.max_turns:  # R9
        end_game(state, NO_WINNER, TOO_LONG)
        state.truncated = 1


@kernel
def observe(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes."""
    planes[:, :] = 0
    for cell in range(board.num_cells):
        if board.cell_of_hex[board.hex_of_cell[cell]] >= 0:
            planes[Plane.BOARD, cell] = 1
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            write_hex(board, state, player, hex_, 1, planes)
    change_planes(board, state, player, planes)


@inlined
def write_hex(board: Record, state: Record, player: int, hex_: int, value: int, planes: Float32Table) -> None:
    """Write ``value`` to the entries of what is on a hex: its tile, and the junctions and pieces on its corners."""
    cell = board.cell_of_hex[hex_]
    if state.contents[hex_] & 3:
        planes[Plane.TILES_ROTATION_0 + (state.contents[hex_] & 3) - 1, cell] = value
    for kind in range(2):
        code = corner_code(state, 2 * hex_ + kind)
        if code >= SINGLE:
            planes[Plane.OWN_TOP_PIECES_ON_TOP_CORNERS + 2 * ((code & 1) ^ player) + kind, cell] = value
        if code >= DOUBLE:
            planes[Plane.OWN_PINNED_PIECES_ON_TOP_CORNERS + 2 * ((code >> 1 & 1) ^ player) + kind, cell] = value
        if code != NO_JUNCTION:
            planes[Plane.JUNCTIONS_ON_TOP_CORNERS + kind, cell] = value


@kernel
def update_observation(board: Record, before: Record, state: Record, planes: Float32Table) -> None:
    """Change the planes from those of ``before`` to those of ``state``."""
    player = player_shown(state)
    player_before = player_shown(before)
    for word_index in range(board.num_words):
        word = before.tiles[word_index] | state.tiles[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            old, new = before.contents[hex_], state.contents[hex_]
            if old == new and (player == player_before or new < SINGLE << 2):
                continue
            write_hex(board, before, player_before, hex_, 0, planes)
            write_hex(board, state, player, hex_, 1, planes)
    if before.picked != NOTHING_PICKED:
        planes[Plane.PICKED_ON_TOP_CORNERS + (before.picked & 1), board.cell_of_hex[before.picked >> 1]] = 0
    change_planes(board, state, player, planes)


@inlined
def change_planes(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write the planes that do not depend on the tiles, where they differ; those of a picked piece are clear."""
    if state.picked != NOTHING_PICKED:
        planes[Plane.PICKED_ON_TOP_CORNERS + (state.picked & 1), board.cell_of_hex[state.picked >> 1]] = 1
    change_plane(planes, Plane.DESTINATION_TO_CHOOSE, state.picked != NOTHING_PICKED)
    change_plane(planes, Plane.WANING, state.pool == 0)
    change_plane(planes, Plane.POOL, state.pool / board.num_tiles)
    if board.pieces_each > 0:
        change_plane(planes, Plane.OWN_RESERVE, state.reserve[player] / board.pieces_each)
        change_plane(planes, Plane.OPPONENT_RESERVE, state.reserve[1 - player] / board.pieces_each)
    change_plane(planes, Plane.TURNS_PLAYED, state.turns / board.max_turns)
    change_plane(planes, Plane.WHITE_TO_ACT, state.current_player == 0)


class Trugo(TrugoPositions):
    """Trugo.

    Options: ``tiles`` in the pool (default 36), ``pieces`` per player (25), ``stacking``, whether a piece may land on
    another one (True), ``max_turns`` before the game is truncated (400), ``radius`` of the window (10).
    """

    name: ClassVar[str] = "trugo"
    guide: ClassVar[Guide] = read_guide(__file__)
    option_types: ClassVar[Mapping[str, Option]] = {
        "tiles": IntegerOption(36, minimum=1, always_shown=True),
        # The maxima are those of the fields of a position.
        "pieces": IntegerOption(25, minimum=0, maximum=2**16 - 1),
        "stacking": BooleanOption(True),
        "max_turns": IntegerOption(400, minimum=1, maximum=2**31 - 1),
        "radius": IntegerOption(10, minimum=1, maximum=90, always_shown=True),
    }
    size_options: ClassVar[tuple[str, ...]] = ("tiles", "pieces", "max_turns", "radius")
    global_actions: ClassVar[tuple[str, ...]] = ()
    reasons: ClassVar[tuple[str, ...]] = ("pieces", "max_turns")
    colors: ClassVar[tuple[str, str]] = ("White", "Blue")
    num_action_planes: ClassVar[int] = 8
    observation_planes: ClassVar[tuple[str, ...]] = plane_names(Plane)
    action_help: ClassVar[str] = (
        "expected a tile and its rotation, such as h8/0, a tile to remove, xh8, a piece to pick, h8^ or h8v, "
        "or its destination, >h8^ or >h8v"
    )
    kernels: ClassVar[Kernels] = rules_kernels(globals())

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        radius, tiles = self.options["radius"], self.options["tiles"]
        num_window_hexes = 3 * radius * (radius + 1) + 1
        if tiles >= num_window_hexes:  # R10
            raise ValueError(
                f"{self.name}: option tiles must be less than {num_window_hexes}, the number of hexes in a window with "
                f"radius {radius}, got {tiles}"
            )
        self.grid = hexhex(radius)
        num_cells, hexes = self.grid.num_cells, plane_hexes(radius)
        # With room for as many hexes as cells.
        num_hexes = num_plane_hexes((isqrt(capacity(num_cells)) - 1) // 2)
        cell_of_hex = np.full(num_hexes, -1)
        cell_of_hex[hexes] = np.where(self.grid.on_board, np.arange(num_cells), -1)
        self.board = self.board_of(
            Constant("num_tiles", "i4", tiles),
            Constant("pieces_each", "i4", self.options["pieces"]),
            Constant("max_turns", "i4", self.options["max_turns"]),
            # The highest code of a corner on which a piece can land (R6).
            Constant("highest_landing", "i4", SINGLE + 1 if self.options["stacking"] else EMPTY_JUNCTION),
            Constant("num_words", "i4", hex_sets.num_words(num_plane_hexes(radius))),  # of a set of hexes
            *plane_constants(radius),
            Constant("removal_by_surroundings", "u1", removal_by_surroundings()),
            Constant("tops_in_contents", "u1", tops_in_contents()),  # by color and contents of a hex, see trugo.plane
            Constant("cell_of_hex", "i2", cell_of_hex),  # -1 outside the window
            Constant("hex_of_cell", "u2", hexes, by_cell=True),
        )
        self.state_fields = state_fields(self.board[0])
        self.state_dtype = record_dtype(self.state_fields)  # without padding

    def contradictions(self, records: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """See :meth:`Game.contradictions`."""
        board, contents, picked = self.board[0], records["contents"], records["picked"]
        has_tile = contents & 3 != 0
        words = np.packbits(has_tile, axis=1, bitorder="little").view(np.uint64)
        yield "tiles", (records["tiles"] != words).any(axis=1)
        codes = np.stack([contents >> 2 & 7, contents >> 5])
        for kind, sign in ((TOP, 1), (BOTTOM, -1)):  # R2
            meeting = np.all([np.roll(has_tile, -sign * step, axis=1) for step in board["meeting_steps"]], axis=0)
            yield "contents", ((codes[kind] != NO_JUNCTION) != meeting).any(axis=1)
        num_tiles = has_tile.sum(axis=1)
        total, is_waxing = records["pool"] + num_tiles, records["pool"] > 0
        yield "pool", np.where(is_waxing, total != board["num_tiles"], total > board["num_tiles"])  # R3
        for color in range(2):
            pieces = (codes >= SINGLE) & (codes & 1 == color)
            pinned = (codes >= DOUBLE) & (codes >> 1 & 1 == color)
            yield "num_pieces", records["num_pieces"][:, color] != (pieces.sum(axis=(0, 2)) + pinned.sum(axis=(0, 2)))
        given = records["reserve"].astype(np.int64) + records["num_pieces"]
        yield "reserve", (given > board["pieces_each"]).any(axis=1)  # R3
        # Every tile was placed, and every missing tile removed, in a turn of its own.
        placed = board["num_tiles"] - records["pool"]
        tile_turns = np.where(is_waxing, placed, 2 * board["num_tiles"] - num_tiles)
        goes_on_too_long = (records["turns"] == board["max_turns"]) & (records["ending"] == 0)
        yield "turns", (records["turns"] < tile_turns) | goes_on_too_long
        code = codes[picked & 1, np.arange(len(records)), picked >> 1]
        own = (code >= SINGLE) & (code & 1 == records["current_player"])
        yield "picked", (picked != NOTHING_PICKED) & ~own
        expected = np.array(records)
        self.compiled(write_targets)(self.board, expected)
        yield "targets", (records["targets"] != expected["targets"]).any(axis=1)

    def board_action_text(self, plane: int, cell: int) -> str:
        """See :meth:`Game.board_action_text`."""
        texts = ("{}/0", "{}/1", "{}/2", "x{}", "{}^", "{}v", ">{}^", ">{}v")
        return texts[plane].format(self.grid.cell_names[cell])

    def keeps_rules(self, of_grid: GridSymmetry) -> bool:
        """See :meth:`Game.keeps_rules`."""
        return keeps_corner_colors(of_grid)

    def action_plane_images(self, directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Game.action_plane_images`."""
        images = np.arange(self.num_action_planes)
        images[LAY:REMOVE] = LAY + rotation_images(directions)
        return images

    def observation_plane_images(self, directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Game.observation_plane_images`."""
        images = np.arange(len(self.observation_planes))
        first = Plane.TILES_ROTATION_0
        images[first : first + 3] = first + rotation_images(directions)
        return images

    def action_cell_images(self, of_grid: GridSymmetry) -> npt.NDArray[np.int64]:
        """See :meth:`Game.action_cell_images`."""
        corners = [corner_cells(self.grid, of_grid, kind) for kind in (TOP, BOTTOM)]
        return np.stack([of_grid.cells] * PICK + corners * 2)

    def observation_cell_images(self, of_grid: GridSymmetry) -> npt.NDArray[np.int64]:
        """See :meth:`Game.observation_cell_images`."""
        corners = [corner_cells(self.grid, of_grid, kind) for kind in (TOP, BOTTOM)]
        of_corners = range(Plane.OWN_TOP_PIECES_ON_TOP_CORNERS, Plane.PICKED_ON_BOTTOM_CORNERS + 1)
        return np.stack([corners[plane % 2] if plane in of_corners else of_grid.cells for plane in Plane])

    def max_game_length(self) -> int:
        """Return an upper bound: two actions per turn, but one in each of the first four, before there are two junctions.

        Without pieces the last tile ends the game. So does the third of three, which creates at most one junction.
        """
        tiles, max_turns = int(self.options["tiles"]), int(self.options["max_turns"])
        if tiles <= 3 or self.options["pieces"] == 0:
            return min(tiles, max_turns)
        return 2 * max_turns - min(4, max_turns)
