"""Heuristic of Taugo: the current scores and the estimated gains of each player's next turns.

Points are scored for the perimeter stones of each string, increasing with their number, and for stones on edge points (T9).
Each possible next turn is rated by its approximate gain: a line in one direction to its end, the strings that it connects,
and a cut at its start or end. The gain of a cut includes the enemy string's loss, which is largest for a long string that
is split. Stones that can be cut and lines that are still open therefore contribute to the opponent's gains.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.taugo.lines import CORNER, NONE, cut_from, next_stone, search_first_stones
from stoneworks.envs.games.taugo.rules import NUM_ROW_WORDS, place_stone, put_stone
from stoneworks.envs.games.taugo.strings import NO_STRING, join_strings
from stoneworks.envs.rules.compiler.bits import num_bits
from stoneworks.envs.rules.compiler.compiler import inlined, int64, kernel, linked
from stoneworks.envs.rules.compiler.ranking import insert_best
from stoneworks.envs.rules.compiler.types import (
    BoardRecord,
    Float32s,
    Int8s,
    Int16s,
    Int32s,
    Int64s,
    Record,
    StateRecord,
)
from stoneworks.envs.rules.contract import NO_ACTION
from stoneworks.envs.rules.stones import BLACK, EMPTY

#: Fitted (see :mod:`tools.heuristic_scale`).
SCALE = 310.0
#: Number of turns of each player that are played out.
NUM_TURNS_TRIED = 16
#: Weight of the gain of the best turn of the player to move.
WEIGHT_OF_NEXT_TURN = 0.9
#: Weight of the gain of the opponent's best turn, which the player to move may still prevent.
WEIGHT_OF_TURN_AFTER = 0.6
#: Weight ratio between each turn and the next better one.
WEIGHT_OF_ALTERNATIVE = 0.8
#: Penalty for each string.
PRICE_OF_STRING = 0.1
#: Weight of the opponent's gains through a point, relative to the mover's own gains.
WEIGHT_OF_OBSTRUCTION = 0.8
#: Value of a position in which the player to move can end the game with a pass and win.
CAN_END_AS_WINNER = 1e5
#: Bonus for passing while ahead.
BONUS_OF_LEADING_PASS = 0.001

#: Perimeter stones of each string by label, and the totals of ``count_strings``.
Counts: TypeAlias = tuple[Int16s, Float32s]
#: Stones, strings, and row words of a position.
SavedStones: TypeAlias = tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint16], Int32s]
#: Counts before the turn and after a cut, saved stones, and by label the number of the last line that met the string.
LineWork: TypeAlias = tuple[Counts, Counts, SavedStones, Int32s]

#: A line in progress, from the perspective of its player.
LINE = np.dtype(
    [
        ("points", "f8"),  # lead without the half point
        ("connected", "i8"),  # perimeter stones of its string
        ("num_own", "f8"),  # strings of the player
        ("num_other", "f8"),  # strings of the opponent
        ("label", "i4"),  # of its string, NO_STRING before a cut
        ("number", "i4"),  # number of the line; the part after a cut has a number of its own
        ("number_of_first_stone", "i4"),  # number of the first stone of the turn
    ]
)


@kernel
def triangle(count: int) -> float:
    """Return 1 + 2 + ... + ``count``."""
    return count * (count + 1) / 2.0


@kernel
def count_stone(state: Record, cell: int, on_perimeter: Int16s) -> int:
    """Count the stone on a point of the perimeter, if there is one; return by how much it changes the lead of Black (T9)."""
    label = state.strings[cell]
    if label == NO_STRING:
        return 0
    on_perimeter[label] += 1
    points = int64(on_perimeter[label])  # T(k) = T(k - 1) + k
    return points if state.stones[cell] == BLACK else -points


@kernel
def count_strings(board: Record, state: Record, on_perimeter: Int16s, standing: Float32s) -> float:
    """Write the number of perimeter stones of each string by label to ``on_perimeter``, and the counts per color to ``standing``.

    ``standing`` holds the edge stones of each color, then the strings of each color. Returns Black's points minus White's,
    without the half point for fewer strings.
    """
    stones, strings = state.stones, state.strings
    num_strings = 0
    num_black = 0
    for cell in range(board.num_cells):
        is_first = strings[cell] == cell
        num_strings += is_first
        num_black += is_first & (stones[cell] == BLACK)
    standing[2] = num_black
    standing[3] = num_strings - num_black
    on_perimeter[:] = 0
    width = board.width
    last = width - 1
    lead = 0
    for place in range(1, last):
        lead += count_stone(state, width + place, on_perimeter)
        lead += count_stone(state, (last - 1) * width + place, on_perimeter)
        if 1 < place < last - 1:
            lead += count_stone(state, place * width + 1, on_perimeter)
            lead += count_stone(state, place * width + last - 1, on_perimeter)
    for row in range(2):
        rows, columns = state.rows[row], state.columns[row]
        num_on_rows = num_bits(rows[1]) + num_bits(rows[width])
        standing[row] = num_on_rows + num_bits(columns[1]) + num_bits(columns[width])
    return lead + triangle(standing[0]) - triangle(standing[1])


@kernel
def with_half_point(lead: float, num_own_strings: float, num_other_strings: float) -> float:
    """Return a lead in points with the half point for fewer strings (T9)."""
    if num_own_strings == num_other_strings:
        return lead
    return lead + 0.5 if num_own_strings < num_other_strings else lead - 0.5


@kernel
def gain_of_cut(
    board: Record, state: Record, on_perimeter: Int16s, point: int, heading: int, connected: int, num_edge_stones: float
) -> float:
    """Return the approximate gain of a legal cut to ``point``.

    Args:
        board: the board constants.
        state: the position.
        on_perimeter: number of perimeter stones by string label.
        point: end point of the cut.
        heading: direction of the cut.
        connected: number of perimeter stones of the string that the cut starts from.
        num_edge_stones: number of the mover's stones on edge points.
    """
    back = (heading + 2) % 4
    cell = board.neighbors[point, back]
    label = state.strings[cell]
    num_flipped = 0
    num_sides = 0
    while state.strings[cell] == label:
        num_flipped += board.perimeter[cell]
        for turn in (1, 3):
            num_sides += state.strings[board.neighbors[cell, (heading + turn) % 4]] == label
        cell = board.neighbors[cell, back]
    left = on_perimeter[label] - num_flipped
    remaining = triangle(left)
    if num_sides >= 2:  # the string may split; assume halves
        remaining = triangle(left // 2) + triangle(left - left // 2)
    gain = triangle(on_perimeter[label]) - remaining
    gain += triangle(connected + num_flipped + board.perimeter[point]) - triangle(connected)
    if not board.intersection[point]:
        gain += num_edge_stones + 1
    return gain


@kernel
def gain_of_line(
    board: Record,
    state: Record,
    on_perimeter: Int16s,
    start: int,
    direction: int,
    color: int,
    connected: int,
    num_edge_stones: float,
) -> float:
    """Return the approximate gain of extending a line from ``start`` as far as possible; arguments as in ``gain_of_cut``."""
    last = start
    longer = connected
    cell = board.neighbors[start, direction]
    while state.stones[cell] == EMPTY and board.intersection[cell]:
        longer += board.perimeter[cell]
        last = cell
        cell = board.neighbors[cell, direction]
    gain = triangle(longer) - triangle(connected)
    if state.stones[cell] == 3 - color:
        point = cut_from(board, state, last, direction, color)
        if point != CORNER:
            gain += gain_of_cut(board, state, on_perimeter, point, direction, longer, num_edge_stones)
    return gain


@kernel
def mark_way(board: Record, state: Record, start: int, direction: int, color: int, gain: float, ways: Float32s) -> None:
    """Raise the rating of each empty point on the path of a line or cut from ``start`` to at least ``gain``."""
    cell = board.neighbors[start, direction]
    while state.stones[cell] == EMPTY:
        ways[cell] = max(ways[cell], gain)
        cell = board.neighbors[cell, direction]
    while state.stones[cell] == 3 - color:
        cell = board.neighbors[cell, direction]
    if state.stones[cell] == EMPTY:
        ways[cell] = max(ways[cell], gain)


@inlined
def join_around(
    board: Record, state: Record, cell: int, color: int, on_perimeter: Int16s, labels: Int32s
) -> tuple[int, int, float]:
    """Find the strings of ``color`` that a stone on ``cell`` joins; ``labels`` is a work buffer of four.

    Returns their number, the perimeter stones of the new string, and the points of the separate strings.
    """
    num_joined = 0
    connected = int(board.perimeter[cell])
    separate = 0.0
    for direction in range(4):
        neighbor = board.neighbors[cell, direction]
        if state.stones[neighbor] != color:
            continue
        label = state.strings[neighbor]
        known = False
        for place in range(num_joined):
            known |= labels[place] == label
        if not known:
            labels[num_joined] = label
            num_joined += 1
            connected += on_perimeter[label]
            separate += triangle(on_perimeter[label])
    return num_joined, connected, separate


@kernel
def gain_of_cut_action(
    board: Record, state: Record, on_perimeter: Int16s, action: int, color: int, num_edge_stones: float
) -> float:
    """Return the approximate gain of the legal cut ``action`` of ``color``."""
    heading = action // board.num_cells - 1
    point = action % board.num_cells
    back = (heading + 2) % 4
    friend = board.neighbors[point, back]
    while state.stones[friend] != color:
        friend = board.neighbors[friend, back]
    connected = on_perimeter[state.strings[friend]]
    return gain_of_cut(board, state, on_perimeter, point, heading, connected, num_edge_stones)


@kernel
@linked
def rate_turns(
    board: BoardRecord,
    state: StateRecord,
    color: int,
    on_perimeter: Int16s,
    num_edge_stones: float,
    gains: Float32s,
    ways: Float32s,
    rated: Int64s,
) -> int:
    """Write the approximate gain of a turn of ``color`` by first action and by point on its path.

    ``ways`` is empty if the gains by point are not needed. The actions with a gain are written to ``rated``, in ascending
    order, and their number is returned.
    """
    num_cells = board.num_cells
    mask, labels = np.zeros(board.num_actions, np.int8), np.empty(4, np.int32)
    for cell in range(num_cells):
        mask[cell] = (state.stones[cell] == EMPTY) & board.intersection[cell]
    search_first_stones(board, state, color, mask)
    gains[:] = 0
    ways[:] = 0
    num_rated = 0
    for cell in range(num_cells):
        if not mask[cell]:
            continue
        num_joined, connected, separate = join_around(board, state, cell, color, on_perimeter, labels)
        max_gain = gain = triangle(connected) - separate
        if num_joined:  # otherwise it is a single stone (T4)
            for direction in range(4):
                of_line = gain + gain_of_line(
                    board, state, on_perimeter, cell, direction, color, connected, num_edge_stones
                )
                max_gain = max(max_gain, of_line)
                if of_line > gain and ways.shape[0] > 0:
                    mark_way(board, state, cell, direction, color, of_line, ways)
        gains[cell] = max_gain
        if ways.shape[0] > 0:
            ways[cell] = max(ways[cell], max_gain)
        rated[num_rated] = cell
        num_rated += max_gain > 0

    # Cuts are rare: look at eight entries at once.
    words = mask[: mask.shape[0] // 8 * 8].view(np.uint64)
    action = num_cells
    while action < 5 * num_cells:
        if action & 7 == 0 and action >> 3 < words.shape[0] and words[action >> 3] == 0:
            action += 8
            continue
        if not mask[action]:
            action += 1
            continue
        gain = gain_of_cut_action(board, state, on_perimeter, action, color, num_edge_stones)
        gains[action] = gain
        if ways.shape[0] > 0:
            ways[action % num_cells] = max(ways[action % num_cells], gain)
        rated[num_rated] = action
        num_rated += gain > 0
        action += 1
    return num_rated


@kernel
def take_stone(board: Record, state: Record, cell: int, color: int) -> None:
    """Remove a stone that ``put_stone`` has placed."""
    state.stones[cell] = EMPTY
    row, column = board.row[cell], board.column[cell]
    state.rows[color - 1, row + 1] ^= 1 << column
    state.columns[color - 1, column + 1] ^= 1 << row


@kernel
def save_stones(board: Record, state: Record, saved: SavedStones) -> None:
    """Save the fields of the state that placing stones changes."""
    stones, strings, words = saved
    for cell in range(board.num_cells):
        stones[cell] = state.stones[cell]
    for cell in range(board.num_cells):
        strings[cell] = state.strings[cell]
    for row in range(2):
        for index in range(NUM_ROW_WORDS):
            words[row, index] = state.rows[row, index]
            words[2 + row, index] = state.columns[row, index]


@kernel
def restore_stones(board: Record, state: Record, saved: SavedStones) -> None:
    """Restore the fields saved by ``save_stones``."""
    stones, strings, words = saved
    for cell in range(board.num_cells):
        state.stones[cell] = stones[cell]
    for cell in range(board.num_cells):
        state.strings[cell] = strings[cell]
    for row in range(2):
        for index in range(NUM_ROW_WORDS):
            state.rows[row, index] = words[row, index]
            state.columns[row, index] = words[2 + row, index]


@inlined
def add_to_string(
    board: Record, state: Record, cell: int, color: int, on_perimeter: Int16s, met: Int32s, line: Record
) -> None:
    """Update the counts of ``line`` for a stone on ``cell``, which joins adjacent strings to the string of the line."""
    points = line.points - triangle(line.connected)
    connected = line.connected + int64(board.perimeter[cell])
    num_own = line.num_own
    string, number, number_of_first_stone = line.label, line.number, line.number_of_first_stone
    for side in range(4):
        neighbor = board.neighbors[cell, side]
        label = state.strings[neighbor]
        if state.stones[neighbor] != color or label == NO_STRING or label == string:
            continue
        if met[label] != number and met[label] != number_of_first_stone:
            met[label] = number
            num_own -= 1
            connected += on_perimeter[label]
            points -= triangle(on_perimeter[label])
    line.points = points + triangle(connected)
    line.connected = connected
    line.num_own = num_own


@kernel
def count_after_cut(board: Record, state: Record, player: int, after_cut: Counts, line: Record) -> None:
    """Recount all strings after a cut by ``player``."""
    on_perimeter, standing = after_cut
    points = count_strings(board, state, on_perimeter, standing)
    label = state.strings[state.last_stone]
    line.points = points if player == 0 else -points
    line.connected = on_perimeter[label]
    line.num_own, line.num_other = standing[2 + player], standing[3 - player]
    line.number += 1
    line.number_of_first_stone = line.number
    line.label = label


@inlined
def best_of_line(
    board: Record, state: Record, player: int, action: int, direction: int, has_cut: bool, work: LineWork, line: Record
) -> tuple[float, bool]:
    """Play ``action`` and extend the line as far as possible; return the maximum lead and whether the turn has cut."""
    counts, after_cut, _, met = work
    on_perimeter = after_cut[0] if has_cut else counts[0]
    best = -np.inf
    first = int64(state.last_stone)  # of the stones without labels
    while action != NO_ACTION:
        if action < board.num_cells:
            add_to_string(board, state, action, player + 1, on_perimeter, met, line)
            put_stone(board, state, action, player + 1)
            state.last_stone = action
            state.direction = direction
        else:
            if not has_cut:
                join_strings(board, state, first)
            while first != state.last_stone:
                first = board.neighbors[first, direction]
                join_strings(board, state, first)
            place_stone(board, state, action)
            has_cut = True
            first = int64(state.last_stone)
            count_after_cut(board, state, player, after_cut, line)
            on_perimeter = after_cut[0]
        best = max(best, with_half_point(line.points, line.num_own, line.num_other))
        action = next_stone(board, state, direction)
    return best, has_cut


@inlined
def best_of_stone(
    board: Record, state: Record, player: int, cell: int, lead: float, work: LineWork, line: Record
) -> float:
    """Return the maximum lead of ``player`` during turns that begin with a stone on ``cell``."""
    (on_perimeter, standing), _, saved, met = work
    num_own, num_other = standing[2 + player], standing[3 - player]
    line.number += 1
    number = line.number
    line.number_of_first_stone = number
    line.points, line.connected, line.num_own, line.num_other = lead, 0, num_own + 1, num_other
    line.label = NO_STRING
    add_to_string(board, state, cell, player + 1, on_perimeter, met, line)
    points, connected, num_joined = line.points, line.connected, line.num_own
    best = with_half_point(points, num_joined, num_other)
    if num_joined > num_own:  # it stands alone (T4 (b))
        return best
    put_stone(board, state, cell, player + 1)
    state.last_stone = cell
    for direction in range(4):
        action = next_stone(board, state, direction)
        if action == NO_ACTION:
            continue
        line.number += 1
        line.number_of_first_stone = number
        line.points, line.connected, line.num_own, line.num_other = points, connected, num_joined, num_other
        line.label = NO_STRING
        of_line, has_cut = best_of_line(board, state, player, action, direction, False, work, line)
        best = max(best, of_line)
        if has_cut:
            restore_stones(board, state, saved)
            put_stone(board, state, cell, player + 1)
        else:
            last = int64(state.last_stone)
            while last != cell:
                take_stone(board, state, last, player + 1)
                last = int64(board.neighbors[last, direction ^ 2])
        state.last_stone = cell
        state.direction = NONE
    take_stone(board, state, cell, player + 1)
    return best


@kernel
def best_of_cut(board: Record, state: Record, player: int, action: int, work: LineWork, line: Record) -> float:
    """Return the maximum lead of ``player`` during the turn that begins with the cut ``action``."""
    _, after_cut, saved, _ = work
    place_stone(board, state, action)
    count_after_cut(board, state, player, after_cut, line)
    best = with_half_point(line.points, line.num_own, line.num_other)
    direction = int64(state.direction)
    onward = next_stone(board, state, direction)
    if onward != NO_ACTION:
        of_line, _ = best_of_line(board, state, player, onward, direction, True, work, line)
        best = max(best, of_line)
    restore_stones(board, state, saved)
    state.direction = NONE
    return best


@kernel
def weighted_sum(gains: npt.NDArray[np.float64]) -> float:
    """Sort ``gains[n]`` and return their weighted sum: weight 1 for the largest, less for each smaller one."""
    for place in range(1, len(gains)):  # less to compile than NumPy's function
        gain = gains[place]
        while place > 0 and gains[place - 1] > gain:
            gains[place] = gains[place - 1]
            place -= 1
        gains[place] = gain
    total = 0.0
    for gain in gains:
        total = gain + WEIGHT_OF_ALTERNATIVE * total
    return total


@kernel
@linked
def outlook(
    board: BoardRecord,
    state: StateRecord,
    player: int,
    lead: float,
    on_perimeter: Int16s,
    standing: Float32s,
    gains: Float32s,
    rated: Int64s,
) -> float:
    """Return the weighted sum of the gains of the best turns of ``player``, who leads by ``lead`` points.

    A turn starts with one of the actions ``rated`` that have the largest ``gains`` and continues straight, in the
    direction that gains most. The position is modified during the call and restored.

    A line that does not cut only joins strings, so its score follows from the counts of the strings that it meets, and its
    stones get no labels. They get them before a cut, after which all strings are counted.
    """
    num_cells = board.num_cells
    chosen = np.empty(NUM_TURNS_TRIED, np.int64)
    num_chosen = 0
    for action in rated:
        num_chosen = insert_best(chosen, num_chosen, NUM_TURNS_TRIED, gains, action)
    saved = (np.empty(num_cells, np.uint8), np.empty(num_cells, np.uint16), np.empty((4, NUM_ROW_WORDS), np.int32))
    counts = (on_perimeter, standing)
    after_cut = (np.empty(num_cells, np.int16), np.empty(4, np.float32))
    met = np.zeros(num_cells, np.int32)  # by label: number of the last line that met the string
    work = counts, after_cut, saved, met
    lines = np.zeros(1, LINE)  # keep the array: numba does not count references to its records
    before = with_half_point(lead, standing[2 + player], standing[3 - player])
    of_turns = np.zeros(NUM_TURNS_TRIED, np.float64)
    to_act, num_passes = state.current_player, state.consecutive_passes
    state.current_player = player
    save_stones(board, state, saved)
    for place in range(num_chosen):
        action = chosen[place]
        if action < num_cells:
            best = best_of_stone(board, state, player, action, lead, work, lines[0])
        else:
            best = best_of_cut(board, state, player, action, work, lines[0])
        state.last_stone = NONE
        of_turns[place] = max(0.0, best - before)
    state.current_player = to_act
    state.consecutive_passes = num_passes
    return weighted_sum(of_turns)


@kernel
def heuristic(board: Record, state: Record, player: int) -> float:
    """Return the score lead of ``player``, adjusted by the estimated gains of both players' next turns."""
    num_cells = board.num_cells
    to_act = state.current_player
    on_perimeter = np.empty(num_cells, np.int16)
    standing = np.empty(4, np.float32)
    points = count_strings(board, state, on_perimeter, standing)
    if to_act == 1:
        points = -points
    lead = with_half_point(points, standing[2 + to_act], standing[3 - to_act])
    value = lead + PRICE_OF_STRING * (standing[3 - to_act] - standing[2 + to_act])
    if state.last_stone != NONE:
        connected = on_perimeter[state.strings[state.last_stone]]
        prospect = 0.0
        if board.intersection[state.last_stone]:
            for direction in range(4):
                if state.direction in (NONE, direction):
                    gain = gain_of_line(
                        board, state, on_perimeter, state.last_stone, direction, to_act + 1, connected, standing[to_act]
                    )
                    prospect = max(prospect, gain)
        value += prospect
    else:
        gains = np.empty(board.num_actions, np.float32)
        ways = np.empty(0, np.float32)
        rated = np.empty(board.num_actions, np.int64)
        for turn, weight in enumerate((WEIGHT_OF_NEXT_TURN, -WEIGHT_OF_TURN_AFTER)):
            mover = to_act ^ turn
            num_rated = rate_turns(board, state, mover + 1, on_perimeter, standing[mover], gains, ways, rated)
            value += weight * outlook(
                board, state, mover, points if turn == 0 else -points, on_perimeter, standing, gains, rated[:num_rated]
            )
        if state.consecutive_passes:
            if lead > 0:
                value = CAN_END_AS_WINNER
            elif lead == 0:
                value = max(value, 0.0)
            else:
                value -= BONUS_OF_LEADING_PASS
    return value if player == to_act else -value  # type: ignore[no-any-return]


@kernel
def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Rate each action by the approximate gain of its turn and of the opponent's turns through its point."""
    num_cells = board.num_cells
    player = state.current_player
    on_perimeter = np.empty(num_cells, np.int16)
    standing = np.empty(4, np.float32)
    count_strings(board, state, on_perimeter, standing)
    rated = np.empty(board.num_actions, np.int64)
    ways = np.empty(num_cells, np.float32)
    rate_turns(board, state, 2 - player, on_perimeter, standing[1 - player], ratings, ways, rated)
    obstruction = ways.copy()
    rate_turns(board, state, player + 1, on_perimeter, standing[player], ratings, ways, rated)
    for action in range(5 * num_cells):
        ratings[action] += WEIGHT_OF_OBSTRUCTION * obstruction[action % num_cells]
    ratings[5 * num_cells] = np.inf


@kernel
def may_win(board: Record, state: Record, action: int) -> bool:
    """Return whether the turn may win: only a second pass in a row ends the game (T8)."""
    return state.consecutive_passes == 1 and action == board.num_actions - 1  # type: ignore[no-any-return]
