"""The evaluation of Trugo, simply: a pass per color, and masks of destinations. The rating of a single move is the package's."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.games.trugo import heuristic as fast, hex_sets
from stoneworks.envs.games.trugo.pieces import destination_action, write_destinations
from stoneworks.envs.games.trugo.plane import (
    DOUBLE,
    EMPTY_JUNCTION,
    NO_JUNCTION,
    SINGLE,
    corner_along_edge,
    corner_code,
    corner_of_hex,
)
from stoneworks.envs.games.trugo.position import LAY, MOVE, NOTHING_PICKED, PICK, REMOVE
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32s, Int8s, Int32s, Record


@kernel
def find_groups(board: Record, state: Record, group_of: Int32s, groups: Int32s) -> int:
    """Write the group of each corner, ``int32[corners]``, and the flattened group table; return the number of groups.

    ``PIECES`` is the number of pieces that a capture takes (R7). An open corner is an empty junction or no junction;
    ``LAST_OPEN`` is one of the open corners.
    """
    group_of[:] = fast.NO_GROUP
    counted_for = np.full(group_of.size, fast.NO_GROUP, np.int32)
    waiting = np.empty(2 * board.num_tiles + 2, np.int32)
    num_groups = 0
    for start in range(group_of.size):
        code = corner_code(state, start)
        if not hex_sets.contains(state.tiles, start // 2) or code < SINGLE or group_of[start] != fast.NO_GROUP:
            continue
        color = code & 1
        row = fast.NUM_COLUMNS * num_groups
        groups[row : row + fast.NUM_COLUMNS] = 0
        groups[row + fast.COLOR] = color
        groups[row + fast.LAST_OPEN] = -1
        group_of[start] = num_groups
        waiting[0] = start
        num_waiting = 1
        while num_waiting > 0:
            num_waiting -= 1
            member = waiting[num_waiting]
            code = corner_code(state, member)
            groups[row + fast.PIECES] += 2 if code >= DOUBLE and (code >> 1 & 1) == color else 1
            for index in range(3):
                beside = corner_along_edge(board, member, index)
                code = corner_code(state, beside)
                if code <= EMPTY_JUNCTION:
                    if counted_for[beside] != num_groups:
                        counted_for[beside] = num_groups
                        groups[row + fast.NUM_OPEN] += 1
                        groups[row + fast.LAST_OPEN] = beside
                elif (code & 1) == color and group_of[beside] == fast.NO_GROUP:
                    group_of[beside] = num_groups
                    waiting[num_waiting] = beside
                    num_waiting += 1
        num_groups += 1
    return num_groups


@kernel
def pieces_on_tile(board: Record, state: Record, hex_: int, color: int) -> int:
    """Return the number of pieces of ``color`` on the corners of a tile, including pinned ones."""
    number = 0
    for index in range(6):
        code = corner_code(state, corner_of_hex(board, hex_, index))
        number += code >= SINGLE and (code & 1) == color
        number += code >= DOUBLE and (code >> 1 & 1) == color
    return number


@kernel
def tiles_at(board: Record, state: Record, corner: int) -> int:
    """Return the number of tiles that meet at a corner; -1 if one of them would be off the board."""
    num_tiles = 0
    for place in range(3):
        hex_ = corner // 2 + board.meeting_steps[place] * (-1 if corner & 1 else 1)
        if board.cell_of_hex[hex_] < 0:
            return -1
        num_tiles += hex_sets.contains(state.tiles, hex_)
    return num_tiles


@kernel
def can_fill(board: Record, state: Record, corner: int, color: int, group: int, group_of: Int32s) -> bool:
    """Return whether ``color`` can bring a piece to the open corner next to ``group``, with a tile or by one of its moves."""
    if corner_code(state, corner) == NO_JUNCTION:
        # Top corners are White's, bottom corners Blue's (R1).
        is_own = corner & 1 == color and state.reserve[color] > 0
        return is_own and state.pool > 0 and tiles_at(board, state, corner) == 2
    destinations = np.zeros(2 * board.num_cells, np.int8)
    for start in range(group_of.size):
        code = corner_code(state, start)
        if not hex_sets.contains(state.tiles, start // 2) or code < SINGLE or (code & 1) != color:
            continue
        opens = False
        for index in range(3):
            opens |= group_of[corner_along_edge(board, start, index)] == group
        if opens and (code < DOUBLE or (code >> 1 & 1) != color):
            continue
        destinations[:] = 0
        write_destinations(board, state, start, destinations, 0)
        if destinations[destination_action(board, corner, 0)]:
            return True
    return False


@kernel
def rate_tile(board: Record, state: Record, player: int, hex_: int, group_of: Int32s, groups: Int32s) -> float:
    """Return the rating for ``player`` of placing a tile: the pieces that it adds, and the groups that they surround."""
    rating = 0.0
    for index in range(6):
        corner = corner_of_hex(board, hex_, index)
        color = corner & 1
        if tiles_at(board, state, corner) != 2 or state.reserve[color] == 0:
            continue
        sign = 1 if color == player else -1
        rating += 0.5 * sign
        for edge in range(3):
            group = group_of[corner_along_edge(board, corner, edge)]
            row = fast.NUM_COLUMNS * group
            if group != fast.NO_GROUP and groups[row + fast.COLOR] != color and groups[row + fast.NUM_OPEN] == 1:
                rating += sign * groups[row + fast.PIECES]
    return rating


@kernel
def worth_of(board: Record, state: Record, color: int, num_groups: int, group_of: Int32s, groups: Int32s) -> float:
    """Return the value of the pieces of ``color``; ``-LAST_PIECES`` if the next turn can capture all of them."""
    worth = float(state.num_pieces[color])
    if state.pool > 0:
        worth += fast.IN_RESERVE * min(state.reserve[color], state.pool)
    for corner in range(group_of.size):
        code = corner_code(state, corner)
        if hex_sets.contains(state.tiles, corner // 2) and code >= DOUBLE and (code >> 1 & 1) == color:
            worth -= 1 - (fast.PINNED_BY_FRIEND if (code & 1) == color else fast.PINNED_BY_ENEMY)
    opponent = 1 - color
    max_danger = 0.0
    total = 0.0
    most_lost = 0
    for group in range(num_groups):
        row = fast.NUM_COLUMNS * group
        if groups[row + fast.COLOR] != color:
            continue
        worth += fast.OPEN_CORNER * groups[row + fast.NUM_OPEN]
        if groups[row + fast.NUM_OPEN] == 1 and can_fill(
            board, state, groups[row + fast.LAST_OPEN], opponent, group, group_of
        ):
            total += groups[row + fast.PIECES]
            max_danger = max(max_danger, float(groups[row + fast.PIECES]))
            most_lost = max(most_lost, groups[row + fast.PIECES])
    if state.pool == 0:
        for hex_ in range(state.contents.size):
            lost = pieces_on_tile(board, state, hex_, color) if hex_sets.contains(state.targets, hex_) else 0
            if lost > 0:
                most_lost = max(most_lost, lost)
                max_danger = max(max_danger, float(lost - pieces_on_tile(board, state, hex_, opponent)))
        total = max(total, max_danger)
    if state.current_player != opponent:
        return worth - fast.DANGER_TO_WHO_ACTS * total
    if state.pool == 0 and most_lost >= state.num_pieces[color]:
        return -fast.LAST_PIECES
    return worth - fast.MAX_DANGER_SHARE * max_danger - fast.OTHER_DANGER_SHARE * (total - max_danger)


@kernel
def rate_pick(board: Record, state: Record, start: int, group_of: Int32s, groups: Int32s) -> float:
    """Return the rating of the most promising move of the top piece of ``start``."""
    num_cells = board.num_cells
    player = corner_code(state, start) & 1
    destinations = np.zeros(2 * num_cells, np.int8)
    write_destinations(board, state, start, destinations, 0)
    best = -2.0
    for index in range(2 * num_cells):
        if destinations[index]:
            end = 2 * board.hex_of_cell[index % num_cells] + index // num_cells
            best = max(best, fast.rate_landing(board, state, player, start, end, group_of, groups))
    return best


@kernel
def heuristic(board: Record, state: Record, player: int) -> float:
    """Return the difference in piece values in favor of ``player``."""
    group_of = np.empty(2 * state.contents.size, np.int32)
    groups = np.empty(2 * fast.NUM_COLUMNS * (board.num_tiles + 1), np.int32)
    num_groups = find_groups(board, state, group_of, groups)
    advantage = worth_of(board, state, player, num_groups, group_of, groups)
    advantage -= worth_of(board, state, 1 - player, num_groups, group_of, groups)
    if state.pool == 0:
        num_tiles = 0
        for hex_ in range(state.contents.size):
            num_tiles += hex_sets.contains(state.tiles, hex_)
        advantage *= 1 + fast.URGENCY * (1 - num_tiles / board.num_tiles)
    if state.picked != NOTHING_PICKED:
        promise = rate_pick(board, state, state.picked, group_of, groups)
        advantage += promise if state.current_player == player else -promise
    return max(-2 * fast.LAST_PIECES, min(2 * fast.LAST_PIECES, advantage))


@kernel
def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Rate tiles by the pieces that they add or remove, and moves by what they fill, pin and save."""
    group_of = np.empty(2 * state.contents.size, np.int32)
    groups = np.empty(2 * fast.NUM_COLUMNS * (board.num_tiles + 1), np.int32)
    find_groups(board, state, group_of, groups)
    num_cells = board.num_cells
    player = state.current_player
    for action in range(mask.size):
        if not mask[action]:
            continue
        plane = action // num_cells
        hex_ = board.hex_of_cell[action % num_cells]
        if plane >= MOVE:
            end = 2 * hex_ + plane - MOVE
            ratings[action] = fast.rate_landing(board, state, player, state.picked, end, group_of, groups)
        elif plane >= PICK:
            ratings[action] = rate_pick(board, state, 2 * hex_ + plane - PICK, group_of, groups)
        elif plane == REMOVE:
            own = pieces_on_tile(board, state, hex_, player)
            ratings[action] = pieces_on_tile(board, state, hex_, 1 - player) - own
        elif plane == LAY or not mask[action - num_cells]:
            ratings[action] = rate_tile(board, state, player, hex_, group_of, groups)
        else:
            ratings[action] = ratings[action - num_cells]
