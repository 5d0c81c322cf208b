"""The evaluation of Taugo, written simply: whole scores after each stone, and copies of all that a stone changes.

It has the legal first actions, lines and scores of the rules, and the package's estimates for a single line and for a cut.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.games.taugo.heuristic import (
    NUM_TURNS_TRIED,
    PRICE_OF_STRING,
    WEIGHT_OF_ALTERNATIVE,
    WEIGHT_OF_NEXT_TURN,
    WEIGHT_OF_OBSTRUCTION,
    WEIGHT_OF_TURN_AFTER,
    SavedStones,
    gain_of_cut_action,
    gain_of_line,
    mark_way,
    restore_stones,
    save_stones,
    triangle,
)
from stoneworks.envs.games.taugo.lines import NONE, next_stone
from stoneworks.envs.games.taugo.rules import NUM_ROW_WORDS, apply_action, legal_actions, scores
from stoneworks.envs.games.taugo.strings import NO_STRING
from stoneworks.envs.rules.compiler.compiler import int64, kernel
from stoneworks.envs.rules.compiler.ranking import insert_best
from stoneworks.envs.rules.compiler.types import Float32s, Int8s, Record
from stoneworks.envs.rules.contract import NO_ACTION


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
def lead_of(board: Record, state: Record, player: int) -> float:
    """Return the score lead of ``player``."""
    points = scores(board, state)
    return float(points[player] - points[1 - player])


@kernel
def rate_turns(
    board: Record,
    state: Record,
    color: int,
    on_perimeter: npt.NDArray[np.int16],
    num_edge_stones: float,
    gains: Float32s,
    ways: Float32s,
) -> None:
    """Write the approximate gain of a turn of ``color`` by first action and by point on its path."""
    num_cells = board.num_cells
    mask = np.zeros(board.num_actions, np.int8)
    to_act = int64(state.current_player)
    state.current_player = color - 1
    legal_actions(board, state, mask)
    state.current_player = to_act
    gains[:] = 0
    ways[:] = 0
    for action in range(5 * num_cells):
        cell = action % num_cells
        if not mask[action]:
            continue
        if action >= num_cells:
            gains[action] = gain_of_cut_action(board, state, on_perimeter, action, color, num_edge_stones)
        else:
            joined = np.zeros(num_cells, np.bool_)
            for direction in range(4):
                neighbor = board.neighbors[cell, direction]
                if state.stones[neighbor] == color:
                    joined[state.strings[neighbor]] = True
            connected = on_perimeter[:num_cells][joined].sum() + board.perimeter[cell]
            gain = triangle(connected)
            for label in range(num_cells):
                gain -= triangle(on_perimeter[label]) * joined[label]
            gains[action] = gain
            for direction in range(4 * joined.any()):
                of_line = gain + gain_of_line(
                    board, state, on_perimeter, cell, direction, color, connected, num_edge_stones
                )
                gains[action] = max(gains[action], of_line)
                if of_line > gain:
                    mark_way(board, state, cell, direction, color, of_line, ways)
        ways[cell] = max(ways[cell], gains[action])


@kernel
def restore_position(board: Record, state: Record, saved: SavedStones, player: int, last_stone: int) -> None:
    """Restore a position of a turn without a direction, after no pass, whose stones are saved."""
    restore_stones(board, state, saved)
    state.current_player, state.last_stone, state.direction, state.consecutive_passes = player, last_stone, NONE, 0


@kernel
def gain_of_turn(board: Record, state: Record, saved: SavedStones, player: int, action: int, lead: float) -> float:
    """Play out the turns that start with ``action`` and continue straight, and return the gain of the best one.

    The caller must restore the position. ``saved`` is a buffer for the stones after the action; ``player`` is the player to
    move, with score lead ``lead``.
    """
    apply_action(board, state, action)
    best = lead_of(board, state, player)
    if state.current_player != player:
        return best - lead
    save_stones(board, state, saved)
    last_stone, heading = int64(state.last_stone), int64(state.direction)
    for direction in range(4):
        onward = next_stone(board, state, direction)
        if onward == NO_ACTION:
            continue
        while onward != NO_ACTION:
            apply_action(board, state, onward)
            best = max(best, lead_of(board, state, player))
            onward = next_stone(board, state, direction) if state.current_player == player else NO_ACTION
        restore_position(board, state, saved, player, last_stone)
        state.direction = heading
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
    size, words = board.num_cells, (4, NUM_ROW_WORDS)
    before = (np.empty(size, np.uint8), np.empty(size, np.uint16), np.empty(words, np.int32))
    after = (np.empty(size, np.uint8), np.empty(size, np.uint16), np.empty(words, np.int32))
    save_stones(board, state, before)
    to_act = int64(state.current_player)
    for place in range(num_chosen):
        state.current_player = player
        of_turns[place] = max(0.0, gain_of_turn(board, state, after, player, chosen[place], lead))
        restore_position(board, state, before, to_act, NONE)
    of_turns.sort()
    total = 0.0
    for place in range(NUM_TURNS_TRIED):
        total = of_turns[place] + WEIGHT_OF_ALTERNATIVE * total
    return total


@kernel
def heuristic(board: Record, state: Record, player: int) -> float:
    """Return the evaluation at the start of a turn, if the last turn was no pass."""
    to_act = state.current_player
    lead = lead_of(board, state, to_act)
    on_perimeter = np.empty(board.num_cells, np.int16)
    standing = np.empty(4, np.float32)
    count_strings(board, state, on_perimeter, standing)
    value = lead + PRICE_OF_STRING * (standing[3 - to_act] - standing[2 + to_act])
    gains = np.empty(board.num_actions, np.float32)
    ways = np.empty(board.num_cells, np.float32)
    for turn, weight in enumerate((WEIGHT_OF_NEXT_TURN, -WEIGHT_OF_TURN_AFTER)):
        mover = to_act ^ turn
        rate_turns(board, state, mover + 1, on_perimeter, standing[mover], gains, ways)
        value += weight * outlook(board, state, mover, lead if turn == 0 else -lead, gains)
    return value if player == to_act else -value


@kernel
def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Rate the actions at the start of a turn by their gains and by those of the opponent through their points."""
    on_perimeter = np.empty(board.num_cells, np.int16)
    standing, gains = np.empty(4, np.float32), np.empty((2, board.num_actions), np.float32)
    ways = np.empty((2, board.num_cells), np.float32)
    count_strings(board, state, on_perimeter, standing)
    for player in range(2):
        rate_turns(board, state, player + 1, on_perimeter, standing[player], gains[player], ways[player])
    mover = state.current_player
    for action in range(5 * board.num_cells):
        obstruction = ways[1 - mover, action % board.num_cells]
        ratings[action] = gains[mover, action] + WEIGHT_OF_OBSTRUCTION * obstruction
    ratings[5 * board.num_cells] = np.inf
