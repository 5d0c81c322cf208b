"""Heuristic of Trugo: learned weights, and on boards where these are no stronger, a hand-written heuristic.

The learned one sums weights from ``heuristic.json`` (see :mod:`stoneworks.envs.rules.compiler.weights`): of each piece by the
tiles around it, of each top piece by its three neighbors, of removable tiles by the pieces on them, of the best tile to lay,
and of small numbers of pieces.

The hand-written one, from which the weights were learned, counts material and the captures that the next turn may make. A
group is in danger if the opponent can fill its last open corner; in the waning phase, so are the pieces on a tile that may be
removed. A turn captures only one of these, so the largest danger to the player not to move counts nearly in full and all others
count little. In the waning phase, an advantage is worth more the fewer tiles are left, which makes the leading player prefer to
end the game.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stoneworks.envs.games.trugo import hex_sets
from stoneworks.envs.games.trugo.pieces import search_destinations
from stoneworks.envs.games.trugo.plane import (
    DOUBLE,
    EMPTY_JUNCTION,
    NO_JUNCTION,
    SINGLE,
    corner_along_edge,
    corner_code,
    corner_of_hex,
    has_tile,
    has_top,
    joined_corner,
    tiles_around,
)
from stoneworks.envs.games.trugo.position import LAY, MOVE, NOTHING_PICKED, PICK, REMOVE
from stoneworks.envs.rules.compiler.bits import list_legal, num_bits
from stoneworks.envs.rules.compiler.compiler import inlined, int64, kernel
from stoneworks.envs.rules.compiler.types import Float32s, Int8s, Int32s, Record
from stoneworks.envs.rules.compiler.weights import Phases, add_term, read_weights

#: Fitted (see :mod:`tools.heuristic_scale`) to the hand-written heuristic; learned weights are in its units.
SCALE = 15.0
# In units of an unpinned piece on the board.
PINNED_BY_ENEMY = 0.5
PINNED_BY_FRIEND = 0.8
IN_RESERVE = 0.5
OPEN_CORNER = 0.02
MAX_DANGER_SHARE, OTHER_DANGER_SHARE = 0.8, 0.25  # fractions of the pieces in danger if the opponent is to move
DANGER_TO_WHO_ACTS = 0.1

#: Additional weight of an advantage when no tiles are left.
URGENCY = 3.0
#: Value of being able to capture all of the opponent's pieces: less than a win, more than any other value.
LAST_PIECES = 1e5

#: Maximum number of opponent pieces on the board for which to search for a turn that captures all of them.
FEW_PIECES = 3

# Columns of the group table.
COLOR, PIECES, NUM_OPEN, LAST_OPEN = 0, 1, 2, 3
NUM_COLUMNS = 4

NO_GROUP = -1

#: Bits of the contents of a hex of which one is set if it has a piece, or two pieces on one corner.
ANY_PIECE = 6 << 2 | 6 << 5
ANY_DOUBLE = DOUBLE << 2 | DOUBLE << 5


@kernel
def find_groups(board: Record, state: Record) -> tuple[int, Int32s, Int32s]:
    """Return the number of groups, the group of each corner, ``int32[corners]``, and the flattened group table.

    ``PIECES`` is the number of pieces that a capture takes (R7). An open corner is an empty junction or no junction;
    ``LAST_OPEN`` is one of the open corners. The entry of an open corner is negative: ``NO_GROUP``, or less once it has been
    counted for a group.
    """
    group_of = np.full(2 * state.contents.size, NO_GROUP, np.int32)
    groups = np.empty(2 * NUM_COLUMNS * (board.num_tiles + 1), np.int32)
    waiting = np.empty(2 * board.num_tiles + 2, np.int32)
    num_groups = 0
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            if state.contents[hex_] & ANY_PIECE == 0:
                continue
            for kind in range(2):
                start = 2 * hex_ + kind
                code = corner_code(state, start)
                if code < SINGLE or group_of[start] != NO_GROUP:
                    continue
                color = code & 1
                row = NUM_COLUMNS * num_groups
                groups[row + COLOR] = color
                groups[row + PIECES] = 0
                groups[row + NUM_OPEN] = 0
                groups[row + LAST_OPEN] = -1
                group_of[start] = num_groups
                waiting[0] = start
                num_waiting = 1
                while num_waiting > 0:
                    num_waiting -= 1
                    member = waiting[num_waiting]
                    code = corner_code(state, member)
                    groups[row + PIECES] += 2 if code >= DOUBLE and (code >> 1 & 1) == color else 1
                    for index in range(3):
                        beside = corner_along_edge(board, member, index)
                        code = corner_code(state, beside)
                        if code <= EMPTY_JUNCTION:
                            if group_of[beside] != NO_GROUP - 1 - num_groups:
                                group_of[beside] = NO_GROUP - 1 - num_groups
                                groups[row + NUM_OPEN] += 1
                                groups[row + LAST_OPEN] = beside
                        elif (code & 1) == color and group_of[beside] == NO_GROUP:
                            group_of[beside] = num_groups
                            waiting[num_waiting] = beside
                            num_waiting += 1
                num_groups += 1
    return num_groups, group_of, groups


@kernel
def surrounds(board: Record, state: Record, corner: int, group: int, group_of: Int32s) -> bool:
    """Return whether moving the top piece of ``corner`` away opens a corner next to ``group``."""
    code = corner_code(state, corner)
    if code >= DOUBLE and (code >> 1 & 1) == (code & 1):
        return False
    return (  # type: ignore[no-any-return]
        group_of[corner_along_edge(board, corner, 0)] == group
        or group_of[corner_along_edge(board, corner, 1)] == group
        or group_of[corner_along_edge(board, corner, 2)] == group
    )


@kernel
def slides_to(board: Record, state: Record, start: int, color: int, group: int, group_of: Int32s) -> bool:
    """Return whether a piece of ``color`` that does not surround ``group`` can slide to the empty corner ``start`` (R6)."""
    reached = np.zeros(board.num_words, np.uint64)
    hex_sets.insert(reached, start >> 1)
    waiting = np.empty(board.num_tiles + 1, np.int32)
    waiting[0] = start
    num_waiting = 1
    while num_waiting > 0:
        num_waiting -= 1
        corner = waiting[num_waiting]
        for index in range(3):
            joined = joined_corner(board, state, corner, index)
            if joined < 0 or hex_sets.contains(reached, joined >> 1):
                continue
            hex_sets.insert(reached, joined >> 1)
            code = corner_code(state, joined)
            if code <= EMPTY_JUNCTION:
                waiting[num_waiting] = joined
                num_waiting += 1
            elif (code & 1) == color and not surrounds(board, state, joined, group, group_of):
                return True
    return False


@kernel
def can_fill(board: Record, state: Record, corner: int, color: int, group: int, group_of: Int32s) -> bool:
    """Return whether ``color`` can bring a piece to the open corner next to ``group``, with a tile or by a move."""
    if corner_code(state, corner) == NO_JUNCTION:
        # Top corners are White's, bottom corners Blue's (R1).
        if state.pool == 0 or (corner & 1) != color or state.reserve[color] == 0:
            return False
        sign = -1 if corner & 1 else 1
        num_tiles = 0
        room = True
        for index in range(3):
            hex_ = (corner >> 1) + sign * board.meeting_steps[index]
            if has_tile(state, hex_):
                num_tiles += 1
            elif board.cell_of_hex[hex_] < 0:
                room = False
        return room and num_tiles == 2
    if slides_to(board, state, corner, color, group, group_of):
        return True
    for index in range(3):
        beside = corner_along_edge(board, corner, index)
        code = corner_code(state, beside)
        if code <= EMPTY_JUNCTION:
            if slides_to(board, state, beside, color, group, group_of):
                return True
        elif (code & 1) == color and not surrounds(board, state, beside, group, group_of):
            return True
    return False


@kernel
def pieces_on_tile(board: Record, state: Record, hex_: int) -> tuple[int, int]:
    """Return the number of pieces of each color on the corners of a tile, including pinned ones."""
    number = 0
    number_1 = 0
    for index in range(6):
        code = corner_code(state, corner_of_hex(board, hex_, index))
        number += (code >= SINGLE) + (code >= DOUBLE)
        number_1 += ((code >= SINGLE) & code) + ((code >= DOUBLE) & (code >> 1))
    return number - number_1, number_1


@kernel
def worth_of(board: Record, state: Record, color: int, num_groups: int, group_of: Int32s, groups: Int32s) -> float:
    """Return the value of the pieces of ``color``; ``-LAST_PIECES`` if the next turn can capture all of them."""
    worth = float(state.num_pieces[color])
    if state.pool > 0:
        worth += IN_RESERVE * min(state.reserve[color], state.pool)
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            if state.contents[hex_] & ANY_DOUBLE == 0:
                continue
            for kind in range(2):
                code = corner_code(state, 2 * hex_ + kind)
                if code >= DOUBLE and (code >> 1 & 1) == color:
                    worth -= 1 - (PINNED_BY_FRIEND if (code & 1) == color else PINNED_BY_ENEMY)
    opponent = 1 - color
    max_danger = 0.0
    total = 0.0
    most_lost = 0
    for group in range(num_groups):
        row = NUM_COLUMNS * group
        if groups[row + COLOR] != color:
            continue
        worth += OPEN_CORNER * groups[row + NUM_OPEN]
        if groups[row + NUM_OPEN] == 1 and can_fill(board, state, groups[row + LAST_OPEN], opponent, group, group_of):
            total += groups[row + PIECES]
            max_danger = max(max_danger, float(groups[row + PIECES]))
            most_lost = max(most_lost, groups[row + PIECES])
    if state.pool == 0:
        for word_index in range(board.num_words):
            word = state.targets[word_index]
            while word:
                hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
                word = hex_sets.without_lowest(word)
                on_tile = pieces_on_tile(board, state, hex_)
                lost = on_tile[color]
                if lost > 0:
                    most_lost = max(most_lost, lost)
                    max_danger = max(max_danger, float(lost - on_tile[opponent]))
        total = max(total, max_danger)
    if state.current_player != opponent:
        return worth - DANGER_TO_WHO_ACTS * total
    if state.pool == 0 and most_lost >= state.num_pieces[color]:
        return -LAST_PIECES
    return worth - MAX_DANGER_SHARE * max_danger - OTHER_DANGER_SHARE * (total - max_danger)


@kernel
def rate_landing(
    board: Record, state: Record, player: int, start: int, end: int, group_of: Int32s, groups: Int32s
) -> float:
    """Return the rating for ``player`` of moving a piece from ``start`` to ``end``."""
    rating = 0.0
    code = corner_code(state, end)
    if code >= SINGLE:
        rating += 0.5 if (code & 1) != player else -0.2
    open_beside = False
    for index in range(3):
        beside = corner_along_edge(board, end, index)
        code = corner_code(state, beside)
        if code <= EMPTY_JUNCTION or beside == start:
            open_beside = True
            continue
        row = NUM_COLUMNS * group_of[beside]
        if (code & 1) == player:
            open_beside = open_beside or groups[row + NUM_OPEN] > 1
        elif groups[row + NUM_OPEN] == 1 and groups[row + LAST_OPEN] == end:
            rating += groups[row + PIECES]
            open_beside = True
        else:
            rating += 0.3 / max(groups[row + NUM_OPEN], 1)
    if not open_beside:
        rating -= 1
    code = corner_code(state, start)
    if code >= DOUBLE:
        rating += 0.2 if (code >> 1 & 1) == player else -0.5
    if groups[NUM_COLUMNS * group_of[start] + NUM_OPEN] == 1:
        rating += 0.5
    return rating


@kernel
def rate_pick(board: Record, state: Record, start: int, group_of: Int32s, groups: Int32s) -> float:
    """Return the rating of the most promising move of the top piece of ``start``."""
    player = corner_code(state, start) & 1
    ends = np.empty(4 * (board.num_tiles + 1), np.int32)
    best = -2.0
    for index in range(search_destinations(board, state, start, False, ends)):
        best = max(best, rate_landing(board, state, player, start, int64(ends[index]), group_of, groups))
    return best


@kernel
def rate_tile(board: Record, state: Record, player: int, hex_: int, group_of: Int32s, groups: Int32s) -> float:
    """Return the rating for ``player`` of placing a tile, from the pieces that it adds and the corners that they fill."""
    around = tiles_around(board, state, hex_)
    rating = 0.0
    for index in range(6):
        between = (1 << (7 - index) % 6) | (1 << (8 - index) % 6)
        color = index & 1
        if around & between != between or state.reserve[color] == 0:
            continue
        rating += 0.5 if color == player else -0.5
        corner = corner_of_hex(board, hex_, index)
        for edge in range(3):
            beside = corner_along_edge(board, corner, edge)
            if has_top(corner_code(state, beside), 1 - color):
                row = NUM_COLUMNS * group_of[beside]
                if groups[row + NUM_OPEN] == 1:
                    rating += groups[row + PIECES] if color == player else -groups[row + PIECES]
    return rating


@kernel
def count_tiles(board: Record, state: Record) -> int:
    """Return the number of tiles on the board."""
    num_tiles = 0
    for word_index in range(board.num_words):
        num_tiles += num_bits(state.tiles[word_index])
    return num_tiles


@kernel
def hand_written_heuristic(board: Record, state: Record, player: int) -> float:
    """Return the difference in piece values in favor of ``player``."""
    num_groups, group_of, groups = find_groups(board, state)
    advantage = worth_of(board, state, player, num_groups, group_of, groups)
    advantage -= worth_of(board, state, 1 - player, num_groups, group_of, groups)
    if state.pool == 0:
        advantage *= 1 + URGENCY * (1 - count_tiles(board, state) / board.num_tiles)
    if state.picked != NOTHING_PICKED:
        promise = rate_pick(board, state, int64(state.picked), group_of, groups)
        advantage += promise if state.current_player == player else -promise
    return max(-2 * LAST_PIECES, min(2 * LAST_PIECES, advantage))


# -- Learned weights ---------------------------------------------------------------------------------------------------

#: Steps between the start and the end of each half of the game (waxing: tiles in the pool; waning: tiles left).
PHASES_OF_HALF = 32
PHASES = Phases((0, 4, 12, 20, 32, 33, 37, 42, 49, 57, 65))
#: Boards with weights of their own, and how many tiles a board that uses them has at most.
BOARDS = ("tiles=18", "tiles=36")
MAX_TILES = (18, 36)
#: Fewest tiles of a board that uses learned weights.
MIN_TILES = 10

_PIECES = ("single", "on own", "on opponent's", "below opponent's")
#: Three corners along the edges of a top piece's: how many are not junctions, empty ones, occupied by its own color.
_NEIGHBORS = [(none, empty, own) for none in range(4) for empty in range(4 - none) for own in range(4 - none - empty)]
_SIDE = (
    *(f"{piece}, fewest tiles around {tiles}" for piece in _PIECES for tiles in range(2, 7)),
    *(f"neighbors: {none} missing, {empty} empty, {own} own" for none, empty, own in _NEIGHBORS),
    *(f"removable tile with {own} own, {other} others" for own in range(4) for other in range(4)),
    *(f"largest loss by a removed tile {loss}" for loss in range(-1, 6)),
    *(f"best balance of a tile {balance}" for balance in range(-2, 4)),
    *(f"{number} pieces" for number in range(8)),
)
# Places of the terms of a side, in the order of the names.
PIECE, NEIGHBORS, TILE, LOSS, BALANCE, NUM_PIECES = 0, 20, 40, 56, 63, 69
NUM_OF_SIDE = len(_SIDE)
#: Terms of the player to move, then those of the opponent, then a constant.
TERMS = (*(f"own {name}" for name in _SIDE), *(f"opponent's {name}" for name in _SIDE), "constant")
CONSTANT = 2 * NUM_OF_SIDE

#: ``int64[64]`` by missing + 4 empty + 16 own neighbors: the place among ``NEIGHBORS``.
_PLACE_OF_NEIGHBORS = np.zeros(64, np.int64)
for _place, (_none, _empty, _own) in enumerate(_NEIGHBORS):
    _PLACE_OF_NEIGHBORS[_none + 4 * _empty + 16 * _own] = _place
#: ``int64[64, 2]`` by the tiles around an empty hex: how many junctions of each color a tile makes (R2).
_NEW_JUNCTIONS = np.zeros((64, 2), np.int64)
for _around in range(64):
    for _index in range(6):
        _between = (1 << (7 - _index) % 6) | (1 << (8 - _index) % 6)
        _NEW_JUNCTIONS[_around, _index & 1] += _around & _between == _between

WEIGHTS = read_weights(Path(__file__).with_name("heuristic.json"), TERMS, PHASES, BOARDS)


@kernel
def table_of(board: Record) -> int:
    """Return the index in ``BOARDS`` of the weights of a board, or -1 if it plays with the hand-written heuristic."""
    if board.num_tiles < MIN_TILES:
        return -1
    for table in range(len(MAX_TILES)):
        if board.num_tiles <= MAX_TILES[table]:
            return table
    return -1


@kernel
def phase_of(board: Record, state: Record) -> int:
    """Return the phase of a position, an index into the weights of a board."""
    num_tiles = int64(state.pool) if state.pool > 0 else count_tiles(board, state)
    phase = (num_tiles * PHASES_OF_HALF + board.num_tiles // 2) // board.num_tiles
    return phase if state.pool > 0 else PHASES_OF_HALF + 1 + phase  # type: ignore[no-any-return]


@inlined
def weigh_piece(
    board: Record, state: Record, corner: int, code: int, around_of: Int8s, player: int, weights: Float32s, counts: Any
) -> tuple[float, bool]:
    """Return the weights of the pieces on a corner, and whether the top piece cannot be surrounded in one turn."""
    sign = -1 if corner & 1 else 1
    hex_ = corner >> 1
    fewest = min(
        around_of[hex_ + sign * board.meeting_steps[0]],
        around_of[hex_ + sign * board.meeting_steps[1]],
        around_of[hex_ + sign * board.meeting_steps[2]],
    )
    color = code & 1
    own = NUM_OF_SIDE * (color != player)
    term = PIECE + max(0, int64(fewest) - 2)
    if code < DOUBLE:
        value = add_term(weights, counts, own + term)
    elif (code >> 1 & 1) == color:
        value = add_term(weights, counts, own + term + 5)
    else:
        value = add_term(weights, counts, own + term + 10)
        value += add_term(weights, counts, NUM_OF_SIDE - own + term + 15)
    neighbors = 0
    for index in range(3):
        beside = int64(corner_code(state, corner_along_edge(board, corner, index)))
        if beside == NO_JUNCTION:
            neighbors += 1
        elif beside == EMPTY_JUNCTION:
            neighbors += 4
        elif (beside & 1) == color:
            neighbors += 16
    value += add_term(weights, counts, own + NEIGHBORS + _PLACE_OF_NEIGHBORS[neighbors])
    return value, (neighbors & 3) > 0 or (neighbors >> 2 & 3) > 1


@kernel
def weigh_removals(board: Record, state: Record, player: int, weights: Float32s, counts: Any) -> tuple[float, int]:
    """Return the weights of the removable tiles, and the most pieces that the opponent loses with one (R4)."""
    value = 0.0
    loss = other_loss = -1
    most = 0
    for word_index in range(board.num_words):
        word = state.targets[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            on_tile = pieces_on_tile(board, state, hex_)
            own, other = int64(on_tile[player]), int64(on_tile[1 - player])
            if own == 0 and other == 0:
                continue
            value += add_term(weights, counts, TILE + 4 * min(own, 3) + min(other, 3))
            value += add_term(weights, counts, NUM_OF_SIDE + TILE + 4 * min(other, 3) + min(own, 3))
            if own > 0:
                loss = max(loss, own - other)
            if other > 0:
                other_loss = max(other_loss, other - own)
                most = max(most, other)
    value += add_term(weights, counts, LOSS + 1 + min(loss, 5))
    value += add_term(weights, counts, NUM_OF_SIDE + LOSS + 1 + min(other_loss, 5))
    return value, most


@kernel
def weigh_next_tile(board: Record, state: Record, player: int, weights: Float32s, counts: Any) -> float:
    """Return the weights of the best tiles that each player may lay next, by the pieces that they add (R3)."""
    best = other_best = -2
    for word_index in range(board.num_words):
        word = state.targets[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            around = tiles_around(board, state, hex_)
            balance = _NEW_JUNCTIONS[around, player] - _NEW_JUNCTIONS[around, 1 - player]
            best = max(best, balance)
            other_best = max(other_best, -balance)
    value = add_term(weights, counts, BALANCE + 2 + min(best, 3))
    return value + add_term(weights, counts, NUM_OF_SIDE + BALANCE + 2 + min(other_best, 3))


@kernel
def fills_last(board: Record, state: Record, player: int) -> bool:
    """Return whether ``player`` can fill the last open corner of a group that has all of the opponent's pieces."""
    num_groups, group_of, groups = find_groups(board, state)
    for group in range(num_groups):
        row = NUM_COLUMNS * group
        is_last = groups[row + COLOR] != player and groups[row + PIECES] >= state.num_pieces[1 - player]
        if is_last and groups[row + NUM_OPEN] == 1:
            return can_fill(board, state, groups[row + LAST_OPEN], player, group, group_of)
    return False


@kernel
def weigh(board: Record, state: Record, weights: Float32s, counts: Any) -> float:
    """Return the sum of the weights of a position's terms for the player to move; ``LAST_PIECES`` more if it wins now.

    Args:
        board: the board constants.
        state: the position.
        weights: ``float32[num_terms]``, the weights in the phase of the position.
        counts: None, or ``int32[num_terms]``, to which the number of each term is added.
    """
    player = int64(state.current_player)
    around_of = np.empty(state.contents.size, np.int8)
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            around_of[hex_] = num_bits(np.uint64(tiles_around(board, state, hex_)))  # type: ignore[arg-type]
    value = float(add_term(weights, counts, CONSTANT))
    enclosed = True  # the opponent's pieces
    for word_index in range(board.num_words):
        word = state.tiles[word_index]
        while word:
            hex_ = hex_sets.WORD_BITS * word_index + hex_sets.lowest(word)
            word = hex_sets.without_lowest(word)
            if state.contents[hex_] & ANY_PIECE == 0:
                continue
            for kind in range(2):
                corner = 2 * hex_ + kind
                code = int64(corner_code(state, corner))
                if code >= SINGLE:
                    of_piece, is_safe = weigh_piece(board, state, corner, code, around_of, player, weights, counts)
                    value += of_piece
                    enclosed = enclosed and not (is_safe and (code & 1) != player)
    for color in range(2):
        if state.num_pieces[color] < 8:
            term = NUM_PIECES + int64(state.num_pieces[color])
            value += add_term(weights, counts, term if color == player else NUM_OF_SIDE + term)
    if state.pool > 0:
        return value + weigh_next_tile(board, state, player, weights, counts)
    of_tiles, most = weigh_removals(board, state, player, weights, counts)
    value += of_tiles
    left = state.num_pieces[1 - player]
    if left <= most or (enclosed and left <= FEW_PIECES and fills_last(board, state, player)):
        value += LAST_PIECES
    return value


@kernel
def heuristic(board: Record, state: Record, player: int) -> float:
    """Return the value for ``player`` by the learned weights of the board, or by the hand-written heuristic if it has none."""
    table = table_of(board)
    if table < 0:
        return hand_written_heuristic(board, state, player)
    value = weigh(board, state, WEIGHTS[table, phase_of(board, state)], None)
    if state.picked != NOTHING_PICKED:
        _, group_of, groups = find_groups(board, state)
        value += rate_pick(board, state, int64(state.picked), group_of, groups)
    value = max(-2 * LAST_PIECES, min(2 * LAST_PIECES, value))
    return value if player == state.current_player else -value


@kernel
def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Rate tiles by the pieces that they add or remove, and moves by what they fill, pin and save."""
    _, group_of, groups = find_groups(board, state)
    num_cells = board.num_cells
    player = int64(state.current_player)
    actions = np.empty(mask.size, np.int64)
    for place in range(list_legal(mask, actions)):
        action = actions[place]
        plane = action // num_cells
        hex_ = int64(board.hex_of_cell[action - plane * num_cells])
        if plane >= MOVE:
            end = 2 * hex_ + plane - MOVE
            ratings[action] = rate_landing(board, state, player, int64(state.picked), end, group_of, groups)
        elif plane >= PICK:
            ratings[action] = rate_pick(board, state, 2 * hex_ + plane - PICK, group_of, groups)
        elif plane == REMOVE:
            on_tile = pieces_on_tile(board, state, hex_)
            ratings[action] = on_tile[1 - player] - on_tile[player]
        elif plane == LAY or not mask[action - num_cells]:
            ratings[action] = rate_tile(board, state, player, hex_, group_of, groups)
        else:
            ratings[action] = ratings[action - num_cells]


@kernel
def may_win(board: Record, state: Record, action: int) -> bool:
    """Return whether the turn may win (R8): the opponent has few pieces left, which one turn may capture.

    A turn could capture more than ``FEW_PIECES`` pieces, but the search for such turns costs more than it gains.
    """
    return state.pool <= 1 and state.num_pieces[1 - state.current_player] <= FEW_PIECES  # type: ignore[no-any-return]
