"""Heuristic of Vadus and Laido: the best walls that each color has or can still build.

A wall is a path of stones between two edge points. A finished wall is a group worth 2L - n (V4), so long paths without
extra stones score best. One breadth-first search from all edge points, with cost 0 for own stones and 1 for empty points,
finds the cheapest arm from every point to the edge; two arms from different edge points that meet form a wall. A group with
two edge stones is finished: its value can only decrease, and points next to it cannot be part of another wall.

A single wall is easily blocked, so the score of a color is a soft maximum over all of its walls.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.compiler.compiler import inlined, kernel
from stoneworks.envs.rules.compiler.types import Float32s, Record
from stoneworks.envs.rules.stones import BLACK, EMPTY, WHITE

#: Penalty for each missing stone of a wall, except those that its player may place in this turn.
PRICE_OF_MISSING_STONE = 0.8
#: Inverse temperature of the soft maximum over walls.
SHARPNESS = 2.0
#: Additional weight of the best finished wall.
WEIGHT_OF_FINISHED = 0.1
#: Weight of the second-best finished wall.
WEIGHT_OF_SECOND = 0.01
#: Value of a position in which the player to move can end the game with a pass and win.
CAN_END_AS_WINNER = 1e5
#: Bonus for passing while ahead.
BONUS_OF_LEADING_PASS = 0.001
#: Score of a point that is on no wall, below the score of any wall.
NO_WALL = -5e4
#: Larger than any path length or number of stones on a board.
FAR = 32000

# Rows of the work array, one value per cell.
GROUP, MISSING, LENGTH, STONES, ORIGIN, PARENT, ORDER, NEXT, NUM_ROWS = 0, 1, 2, 3, 4, 5, 6, 7, 8
# Rows of the group table.
SIZE, NUM_EDGE_STONES, PATH_LENGTH, NUM_GROUP_ROWS = 0, 1, 2, 3
# Value in row MISSING of a point that no wall may use.
BARRED = -1


@kernel
def label_groups(board: Record, stones: Record, own: int, work: Record, groups: Record) -> int:
    """Label the groups of a color and mark the points that its walls cannot use.

    Args:
        board: the board.
        stones: ``[num_cells]``, the color of each stone, or ``EMPTY``.
        own: the color.
        work: output: rows ``GROUP`` (the group of each own stone, or -1) and ``MISSING`` (``BARRED`` for points that walls cannot
            use, else ``FAR``); the row ``ORDER`` is scratch space. Rows have ``num_cells + 1`` columns; the last is off the board.
        groups: output: rows ``SIZE``, ``NUM_EDGE_STONES`` and ``PATH_LENGTH`` (``FAR`` with two edge stones, else 0).

    Returns:
        The number of groups.
    """
    num_cells = board.num_cells
    members = work[ORDER]
    work[MISSING, num_cells] = BARRED
    for cell in range(num_cells):
        work[GROUP, cell] = -1
        work[MISSING, cell] = FAR if stones[cell] == own or stones[cell] == EMPTY else BARRED
    num_groups = 0
    for start in range(num_cells):
        if stones[start] != own or work[GROUP, start] >= 0:
            continue
        work[GROUP, start] = num_groups
        members[0] = start
        size = 1
        done = 0
        num_edge_stones = 0
        while done < size:
            stone = members[done]
            done += 1
            num_edge_stones += board.edge[stone]
            for direction in range(6):
                neighbor = board.neighbors[stone, direction]
                if stones[neighbor] == own and work[GROUP, neighbor] < 0:
                    work[GROUP, neighbor] = num_groups
                    members[size] = neighbor
                    size += 1
        groups[SIZE, num_groups] = size
        groups[NUM_EDGE_STONES, num_groups] = num_edge_stones
        groups[PATH_LENGTH, num_groups] = FAR if num_edge_stones >= 2 else 0
        num_groups += 1
        for done in range(size):
            stone = members[done]
            # Next to an edge stone, another edge stone makes a path of two.
            if num_edge_stones < 2 and not board.edge[stone]:
                continue
            for direction in range(6):
                neighbor = board.neighbors[stone, direction]
                if stones[neighbor] == EMPTY and (num_edge_stones >= 2 or board.edge[neighbor]):
                    work[MISSING, neighbor] = BARRED
    return num_groups


@kernel
def grow_arms(board: Record, stones: Record, own: int, work: Record, groups: Record) -> int:
    """Find the arm with the fewest missing stones from each point to the edge and return the number of points with one."""
    order, later = work[ORDER], work[NEXT]
    num_done, num_found, num_later = 0, 0, 0
    for cell in range(board.num_cells):
        if not board.edge[cell] or work[MISSING, cell] == BARRED:
            continue
        work[LENGTH, cell] = 1
        work[ORIGIN, cell] = cell
        work[PARENT, cell] = -1
        if stones[cell] == own:
            work[MISSING, cell] = 0
            work[STONES, cell] = groups[SIZE, work[GROUP, cell]]
            order[num_found] = cell
            num_found += 1
        else:
            work[MISSING, cell] = 1
            work[STONES, cell] = 1
            later[num_later] = cell
            num_later += 1
    while num_done < num_found or num_later > 0:
        if num_done == num_found:
            for place in range(num_later):
                order[num_found] = later[place]
                num_found += 1
            num_later = 0
        cell = order[num_done]
        num_done += 1
        length, origin = work[LENGTH, cell] + 1, work[ORIGIN, cell]
        missing, size, is_own = work[MISSING, cell], work[STONES, cell], stones[cell] == own
        for direction in range(6):
            neighbor = board.neighbors[cell, direction]
            if work[MISSING, neighbor] != FAR:
                continue
            work[LENGTH, neighbor] = length
            work[ORIGIN, neighbor] = origin
            work[PARENT, neighbor] = cell
            if stones[neighbor] == own:
                work[MISSING, neighbor] = missing
                work[STONES, neighbor] = size if is_own else size + groups[SIZE, work[GROUP, neighbor]]
                order[num_found] = neighbor
                num_found += 1
            else:
                work[MISSING, neighbor] = missing + 1
                work[STONES, neighbor] = size + 1
                later[num_later] = neighbor
                num_later += 1
    return num_found


@kernel
def compare_surveyed(black: Record, num_black: int, white: Record, num_white: int) -> int:
    """Return what ``compare_groups`` does, from the group tables of a survey (V6)."""
    values = np.empty((2, max(num_black, num_white)), np.int16)
    for row, groups, number in ((0, black, num_black), (1, white, num_white)):
        for group in range(number):
            value = 2 * groups[PATH_LENGTH, group] - groups[SIZE, group]
            rank = group
            while rank > 0 and values[row, rank - 1] < value:
                values[row, rank] = values[row, rank - 1]
                rank -= 1
            values[row, rank] = value
    for rank in range(min(num_black, num_white)):
        if values[0, rank] != values[1, rank]:
            return 1 if values[0, rank] > values[1, rank] else -1
    return 0


@inlined
def add_wall(best: float, total: float, score: float) -> tuple[float, float]:
    """Return the highest score, and the sum over walls of exp(SHARPNESS (score - highest)), with one more wall."""
    if score > best:
        return score, 1.0 + total * np.exp(SHARPNESS * (best - score))
    return best, total + np.exp(SHARPNESS * (score - best))


@kernel
def survey_walls(
    board: Record, stones: Record, own: int, num_free: int, work: Record, groups: Record, scores: Float32s
) -> tuple[float, int]:
    """Return the score of color ``own`` and the number of its groups.

    The best score of an unfinished wall through each point is written to ``scores``. The score of a wall is the value of its
    finished group, minus a penalty for each missing stone beyond ``num_free``.
    """
    num_cells = board.num_cells
    num_groups = label_groups(board, stones, own, work, groups)
    num_found = grow_arms(board, stones, own, work, groups)
    order = work[ORDER]
    scores[:num_cells] = NO_WALL
    # Having no wall counts as a wall of score 0; otherwise blocking the opponent's last wall would dominate everything.
    best = 0.0
    total = 1.0  # the sum over walls of exp(SHARPNESS (score - best))
    for place in range(num_found):
        cell = order[place]
        arm_length, origin, is_own = work[LENGTH, cell], work[ORIGIN, cell], stones[cell] == own
        arm_missing, arm_stones = work[MISSING, cell], work[STONES, cell]
        for direction in range(3):
            neighbor = board.neighbors[cell, direction]
            others = work[MISSING, neighbor]
            if others == FAR or others == BARRED or work[ORIGIN, neighbor] == origin:
                continue
            length = arm_length + work[LENGTH, neighbor]
            missing = arm_missing + others
            size = arm_stones + work[STONES, neighbor]
            if is_own and stones[neighbor] == own:
                group = work[GROUP, cell]
                size -= groups[SIZE, group]
                if groups[NUM_EDGE_STONES, group] >= 2:
                    groups[PATH_LENGTH, group] = min(groups[PATH_LENGTH, group], length)
                    continue
            score = 2 * length - size - PRICE_OF_MISSING_STONE * max(0, missing - num_free)
            best, total = add_wall(best, total, score)
            scores[cell] = max(scores[cell], score)
            scores[neighbor] = max(scores[neighbor], score)
    for place in range(num_found - 1, -1, -1):
        cell = order[place]
        parent = work[PARENT, cell]
        if parent >= 0:
            scores[parent] = max(scores[parent], scores[cell])
    finished = 0.0
    second = 0.0
    for group in range(num_groups):
        if groups[NUM_EDGE_STONES, group] >= 2:
            score = 2 * groups[PATH_LENGTH, group] - groups[SIZE, group]
            best, total = add_wall(best, total, score)
            if score > finished:
                second = finished
                finished = score
            else:
                second = max(second, score)
    score = best + np.log(total) / SHARPNESS + WEIGHT_OF_FINISHED * finished + WEIGHT_OF_SECOND * second
    return score, num_groups


@kernel
def black_advantage(board: Record, state: Record, color_to_act: int, num_free: int, standing: int) -> float:
    """Return the value of the position from Black's perspective.

    Args:
        board: the board constants.
        state: the position.
        color_to_act: color to move, 0 for Black, 1 for White.
        num_free: number of stones that the color to move may still place in this turn.
        standing: result of ending the game with a pass: 1 a win for Black, -1 a win for White, 0 a draw. Used only if the
            opponent has just passed.
    """
    num_cells = board.num_cells
    work = np.empty((NUM_ROWS, num_cells + 1), np.int16)
    groups = np.empty((NUM_GROUP_ROWS, num_cells), np.int16)
    scores = np.empty(num_cells, np.float32)
    black, _ = survey_walls(board, state.stones, BLACK, num_free if color_to_act == 0 else 0, work, groups, scores)
    white, _ = survey_walls(board, state.stones, WHITE, num_free if color_to_act == 1 else 0, work, groups, scores)
    advantage = black - white
    if state.consecutive_passes == 0:
        return advantage
    sign = 1 if color_to_act == 0 else -1
    if standing * sign > 0:
        return sign * CAN_END_AS_WINNER
    if standing == 0:
        return sign * max(sign * advantage, 0.0)
    return advantage - sign * BONUS_OF_LEADING_PASS


@kernel
def rate_points(board: Record, state: Record, color_to_act: int, num_free: int, ratings: Float32s) -> None:
    """Rate each point by the best walls of both colors through it."""
    num_cells = board.num_cells
    work = np.empty((NUM_ROWS, num_cells + 1), np.int16)
    groups = np.empty((NUM_GROUP_ROWS, num_cells), np.int16)
    scores = np.empty((2, num_cells), np.float32)
    own = BLACK if color_to_act == 0 else WHITE
    other = BLACK + WHITE - own
    survey_walls(board, state.stones, own, num_free, work, groups, scores[0])
    survey_walls(board, state.stones, other, 0, work, groups, scores[1])
    for cell in range(num_cells):
        ratings[cell] = scores[0, cell] + scores[1, cell]
    ratings[num_cells:] = np.inf
