"""Evaluation of Taugo: the current scores and the estimated gains of each player's next turns.

Points are scored for the perimeter stones of each string, increasing with their number, and for stones on edge points (T9).
Each possible next turn is rated by its approximate gain: a line in one direction to its end, the strings that it connects,
and a cut at its start or end. The gain of a cut includes the enemy string's loss, which is largest for a long string that
is split. Stones that can be cut and lines that are still open therefore contribute to the opponent's gains.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.groups import EMPTY
from stoneworks.envs.rules.kernels import Int8s, Record, kernel
from stoneworks.envs.rules.taugo.game import NUM_ROW_WORDS, apply_action, scores
from stoneworks.envs.rules.taugo.lines import CORNER, NONE, cut_from, next_stone, search_first_stones
from stoneworks.envs.rules.taugo.strings import NO_STRING
from stoneworks.envs.rules.templates import NO_ACTION
from stoneworks.models.search.best_actions import insert_best
from stoneworks.models.search.turn_search import Float32s

#: Fitted (see :mod:`stoneworks.training.evaluation_scale`).
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


@kernel
def triangle(count: int) -> float:
    """Return 1 + 2 + ... + ``count``."""
    return count * (count + 1) / 2.0


@kernel
def count_strings(board: Record, state: Record, on_perimeter: npt.NDArray[np.int16], standing: Float32s) -> None:
    """Write the number of perimeter stones of each string by label to ``on_perimeter``, and the counts per color to ``standing``.

    ``standing`` holds the edge stones of each color, then the strings of each color.
    """
    on_perimeter[:] = 0
    standing[:] = 0
    for cell in range(board.num_cells):
        label = state.strings[cell]
        if label == NO_STRING:
            continue
        row = state.stones[cell] - 1
        standing[2 + row] += label == cell
        if board.perimeter[cell]:
            on_perimeter[label] += 1
        elif not board.intersection[cell]:
            standing[row] += 1


@kernel
def gain_of_cut(
    board: Record,
    state: Record,
    on_perimeter: npt.NDArray[np.int16],
    point: int,
    heading: int,
    connected: int,
    num_edge_stones: float,
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
    on_perimeter: npt.NDArray[np.int16],
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


@kernel
def rate_turns(
    board: Record,
    state: Record,
    color: int,
    on_perimeter: npt.NDArray[np.int16],
    num_edge_stones: float,
    mask: Int8s,
    gains: Float32s,
    ways: Float32s,
) -> float:
    """Write the approximate gain of a turn of ``color`` by first action and by point on its path; return the greatest gain.

    ``mask`` is a work buffer.
    """
    num_cells = board.num_cells
    mask[:] = 0
    for cell in range(num_cells):
        mask[cell] = (state.stones[cell] == EMPTY) & board.intersection[cell]
    search_first_stones(board, state, color, mask)
    gains[:] = 0
    ways[:] = 0
    best = 0.0
    labels = np.empty(4, np.int32)
    for cell in range(num_cells):
        if not mask[cell]:
            continue
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
        gain = triangle(connected) - separate
        greatest = gain
        if num_joined:  # otherwise it is a single stone (T4)
            for direction in range(4):
                of_line = gain + gain_of_line(
                    board, state, on_perimeter, cell, direction, color, connected, num_edge_stones
                )
                greatest = max(greatest, of_line)
                if of_line > gain:
                    mark_way(board, state, cell, direction, color, of_line, ways)
        gains[cell] = greatest
        ways[cell] = max(ways[cell], greatest)
        best = max(best, greatest)

    for action in range(num_cells, 5 * num_cells):
        if not mask[action]:
            continue
        heading = action // num_cells - 1
        point = action % num_cells
        back = (heading + 2) % 4
        friend = board.neighbors[point, back]
        while state.stones[friend] != color:
            friend = board.neighbors[friend, back]
        gain = gain_of_cut(
            board, state, on_perimeter, point, heading, on_perimeter[state.strings[friend]], num_edge_stones
        )
        gains[action] = gain
        ways[point] = max(ways[point], gain)
        best = max(best, gain)
    return best


@kernel
def lead_of(board: Record, state: Record, player: int) -> float:
    """Return the score lead of ``player``, including the string penalty."""
    black, white = scores(board, state)
    return black - white if player == 0 else white - black


@kernel
def save_position(state: Record, room: npt.NDArray[np.int32]) -> None:
    """Save what placements change of a position to ``room``: rows for stones, strings, row and column words, and the turn."""
    room[0, : len(state.stones)] = state.stones
    room[1, : len(state.strings)] = state.strings
    room[2, :NUM_ROW_WORDS] = state.rows[0]
    room[3, :NUM_ROW_WORDS] = state.rows[1]
    room[4, :NUM_ROW_WORDS] = state.columns[0]
    room[5, :NUM_ROW_WORDS] = state.columns[1]
    room[6, 0] = state.current_player
    room[6, 1] = state.last_stone
    room[6, 2] = state.direction
    room[6, 3] = state.consecutive_passes


@kernel
def restore_position(state: Record, room: npt.NDArray[np.int32]) -> None:
    """Restore a position saved with ``save_position``."""
    state.stones[:] = room[0, : len(state.stones)]
    state.strings[:] = room[1, : len(state.strings)]
    state.rows[0, :] = room[2, :NUM_ROW_WORDS]
    state.rows[1, :] = room[3, :NUM_ROW_WORDS]
    state.columns[0, :] = room[4, :NUM_ROW_WORDS]
    state.columns[1, :] = room[5, :NUM_ROW_WORDS]
    state.current_player = room[6, 0]
    state.last_stone = room[6, 1]
    state.direction = room[6, 2]
    state.consecutive_passes = room[6, 3]


@kernel
def gain_of_turn(
    board: Record, state: Record, room: npt.NDArray[np.int32], player: int, action: int, lead: float
) -> float:
    """Play out the turns that start with ``action`` and continue straight, and return the gain of the best one.

    The caller must restore the position. ``room`` is a buffer for the position after the action; ``player`` is the player to
    move, with score lead ``lead``.
    """
    apply_action(board, state, action)
    best = lead_of(board, state, player)
    if state.current_player != player:
        return best - lead
    save_position(state, room)
    for direction in range(4):
        onward = next_stone(board, state, direction)
        if onward == NO_ACTION:
            continue
        while onward != NO_ACTION:
            apply_action(board, state, onward)
            best = max(best, lead_of(board, state, player))
            onward = next_stone(board, state, direction) if state.current_player == player else NO_ACTION
        restore_position(state, room)
    return best - lead


@kernel
def outlook(board: Record, state: Record, player: int, lead: float, gains: Float32s) -> float:
    """Return the weighted sum of the gains of the best turns of ``player``, whose score lead is ``lead``.

    ``gains`` rates the first actions of the turns. The position is modified during the call and restored.
    """
    chosen = np.empty(NUM_TURNS_TRIED, np.int64)
    num_chosen = 0
    for action in range(5 * board.num_cells):
        if gains[action] > 0:
            num_chosen = insert_best(chosen, num_chosen, NUM_TURNS_TRIED, gains, action)
    of_turns = np.zeros(NUM_TURNS_TRIED, np.float64)
    room = np.empty((2, 7, max(len(state.stones), NUM_ROW_WORDS)), np.int32)
    save_position(state, room[0])
    for place in range(num_chosen):
        state.current_player = player
        of_turns[place] = max(0.0, gain_of_turn(board, state, room[1], player, chosen[place], lead))
        restore_position(state, room[0])
    of_turns.sort()
    total = 0.0
    for place in range(NUM_TURNS_TRIED):
        total = of_turns[place] + WEIGHT_OF_ALTERNATIVE * total
    return total


@kernel
def evaluate(board: Record, state: Record, player: int) -> float:
    """Return the score lead of ``player``, adjusted by the estimated gains of both players' next turns."""
    num_cells = board.num_cells
    to_act = state.current_player
    lead = lead_of(board, state, to_act)
    on_perimeter = np.empty(num_cells, np.int16)
    standing = np.empty(4, np.float32)
    count_strings(board, state, on_perimeter, standing)
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
        mask = np.empty(board.num_actions, np.int8)
        gains = np.empty(board.num_actions, np.float32)
        ways = np.empty(num_cells, np.float32)
        for turn, weight in enumerate((WEIGHT_OF_NEXT_TURN, -WEIGHT_OF_TURN_AFTER)):
            mover = to_act ^ turn
            rate_turns(board, state, mover + 1, on_perimeter, standing[mover], mask, gains, ways)
            value += weight * outlook(board, state, mover, lead if turn == 0 else -lead, gains)
        if state.consecutive_passes:
            if lead > 0:
                value = CAN_END_AS_WINNER
            elif lead == 0:
                value = max(value, 0.0)
            else:
                value -= BONUS_OF_LEADING_PASS
    return value if player == to_act else -value


@kernel
def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Rate each action by the approximate gain of its turn and of the opponent's turns through its point."""
    num_cells = board.num_cells
    player = state.current_player
    on_perimeter = np.empty(num_cells, np.int16)
    standing = np.empty(4, np.float32)
    count_strings(board, state, on_perimeter, standing)
    room = np.empty(board.num_actions, np.int8)
    ways = np.empty(num_cells, np.float32)
    rate_turns(board, state, 2 - player, on_perimeter, standing[1 - player], room, ratings, ways)
    obstruction = ways.copy()
    rate_turns(board, state, player + 1, on_perimeter, standing[player], room, ratings, ways)
    for action in range(5 * num_cells):
        ratings[action] += WEIGHT_OF_OBSTRUCTION * obstruction[action % num_cells]
    ratings[5 * num_cells] = np.inf


@kernel
def may_win(board: Record, state: Record, action: int) -> bool:
    """Return whether the turn may win: only a second pass in a row ends the game (T8)."""
    return state.consecutive_passes == 1 and action == board.num_actions - 1
