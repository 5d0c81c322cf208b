"""Vadus and Laido: the best wall that each color has, or could still build.

A wall is a path of stones between two edge points. Finished, it makes a group worth 2L - n (V4), so what counts is a long
path with nothing beside it. One breadth-first search from all edge points, through own stones for nothing and through
empty points at the price of a stone, gives every point its cheapest arm to the edge; wherever arms from two different
edge points meet, they make a wall. A group with two edge stones is finished: its value can only fall, and a point
beside it is of no use to another wall.

One wall is easily blocked, so all of them count, the best the most: the score of a color is a soft maximum over its walls.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.groups import BLACK, EMPTY, WHITE
from stoneworks.envs.rules.kernels import Record, kernel
from stoneworks.models.search.turn_search import Float32s

#: What each stone that a wall still lacks takes off its value, but for those that its player may place in this turn.
PRICE_OF_MISSING_STONE = 0.8
#: The higher, the less any but the best wall counts.
SHARPNESS = 2.0
#: How much the best finished wall counts once more, because it is certain.
WEIGHT_OF_FINISHED = 0.1
#: How much the second-best finished wall counts.
WEIGHT_OF_SECOND = 0.01
#: The value of a game that the player to move can end with a pass and win.
CAN_END_AS_WINNER = 1e5
#: What a pass as the leader is better by than a stone that changes nothing.
BONUS_OF_LEADING_PASS = 0.001
#: The score through a point that is on no wall: below that of any wall.
NO_WALL = -5e4
#: Past any path length and any number of stones of a board.
FAR = 32000

# Rows of the work arrays, each with a number for every cell.
GROUP, MISSING, LENGTH, STONES, ORIGIN, PARENT, ORDER, NEXT, NUM_ROWS = 0, 1, 2, 3, 4, 5, 6, 7, 8
# Rows of the table of groups.
SIZE, NUM_EDGE_STONES, PATH_LENGTH, NUM_GROUP_ROWS = 0, 1, 2, 3
# In the row MISSING, a point that no wall may use.
BARRED = -1


@kernel
def label_groups(board: Record, stones: Record, own: int, work: Record, groups: Record) -> int:
    """Write the group of each own stone, its size and edge stones, and bar what is of no use. Return their number."""
    num_cells = board.num_cells
    members = work[ORDER]
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
                if neighbor >= 0 and stones[neighbor] == own and work[GROUP, neighbor] < 0:
                    work[GROUP, neighbor] = num_groups
                    members[size] = neighbor
                    size += 1
        groups[SIZE, num_groups] = size
        groups[NUM_EDGE_STONES, num_groups] = num_edge_stones
        groups[PATH_LENGTH, num_groups] = FAR if num_edge_stones >= 2 else 0
        num_groups += 1
        for done in range(size):
            stone = members[done]
            # Beside an edge stone, another edge stone makes a path of two.
            if num_edge_stones < 2 and not board.edge[stone]:
                continue
            for direction in range(6):
                neighbor = board.neighbors[stone, direction]
                if neighbor >= 0 and stones[neighbor] == EMPTY and (num_edge_stones >= 2 or board.edge[neighbor]):
                    work[MISSING, neighbor] = BARRED
    return num_groups


@kernel
def grow_arms(board: Record, stones: Record, own: int, work: Record, groups: Record) -> int:
    """Find the arm with the fewest missing stones from each point to the edge, and return how many points have one."""
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
        for direction in range(6):
            neighbor = board.neighbors[cell, direction]
            if neighbor < 0 or work[MISSING, neighbor] != FAR:
                continue
            work[LENGTH, neighbor] = work[LENGTH, cell] + 1
            work[ORIGIN, neighbor] = work[ORIGIN, cell]
            work[PARENT, neighbor] = cell
            work[MISSING, neighbor] = work[MISSING, cell]
            work[STONES, neighbor] = work[STONES, cell]
            if stones[neighbor] == own:
                if stones[cell] != own:
                    work[STONES, neighbor] += groups[SIZE, work[GROUP, neighbor]]
                order[num_found] = neighbor
                num_found += 1
            else:
                work[MISSING, neighbor] += 1
                work[STONES, neighbor] += 1
                later[num_later] = neighbor
                num_later += 1
    return num_found


@kernel
def survey_walls(
    board: Record, stones: Record, own: int, num_free: int, work: Record, groups: Record, scores: Float32s
) -> float:
    """Return the score of color ``own``, and write the best score of an unfinished wall through each point.

    The score of a wall is the value that its group will have, less a price for each missing stone but ``num_free``.
    """
    num_cells = board.num_cells
    num_groups = label_groups(board, stones, own, work, groups)
    num_found = grow_arms(board, stones, own, work, groups)
    order = work[ORDER]
    scores[:num_cells] = NO_WALL
    # No wall at all counts as one of score 0, else spoiling the opponent's last hope would be worth any price.
    best = 0.0
    total = 1.0  # the sum over walls of exp(SHARPNESS (score - best))
    for place in range(num_found):
        cell = order[place]
        for direction in range(3):
            neighbor = board.neighbors[cell, direction]
            if neighbor < 0 or work[MISSING, neighbor] == FAR or work[MISSING, neighbor] == BARRED:
                continue
            if work[ORIGIN, neighbor] == work[ORIGIN, cell]:
                continue
            length = work[LENGTH, cell] + work[LENGTH, neighbor]
            missing = work[MISSING, cell] + work[MISSING, neighbor]
            size = work[STONES, cell] + work[STONES, neighbor]
            if stones[cell] == own and stones[neighbor] == own:
                group = work[GROUP, cell]
                size -= groups[SIZE, group]
                if groups[NUM_EDGE_STONES, group] >= 2:
                    groups[PATH_LENGTH, group] = min(groups[PATH_LENGTH, group], length)
                    continue
            score = 2 * length - size - PRICE_OF_MISSING_STONE * max(0, missing - num_free)
            if score > best:
                total = 1.0 + total * np.exp(SHARPNESS * (best - score))
                best = score
            else:
                total += np.exp(SHARPNESS * (score - best))
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
            if score > best:
                total = 1.0 + total * np.exp(SHARPNESS * (best - score))
                best = score
            else:
                total += np.exp(SHARPNESS * (score - best))
            if score > finished:
                second = finished
                finished = score
            else:
                second = max(second, score)
    return best + np.log(total) / SHARPNESS + WEIGHT_OF_FINISHED * finished + WEIGHT_OF_SECOND * second


@kernel
def black_advantage(board: Record, state: Record, color_to_act: int, num_free: int, standing: int) -> float:
    """Return how much better the position is for Black than for White.

    Args:
        board: the board constants.
        state: the position.
        color_to_act: 0 where Black is to move, 1 where White is.
        num_free: how many stones that color may still place in this turn.
        standing: where the opponent has just passed, what a pass would end the game with: 1 a win of Black, -1 one of
            White, 0 a draw. Else anything.
    """
    num_cells = board.num_cells
    work = np.empty((NUM_ROWS, num_cells), np.int16)
    groups = np.empty((NUM_GROUP_ROWS, num_cells), np.int16)
    scores = np.empty(num_cells, np.float32)
    black = survey_walls(board, state.stones, BLACK, num_free if color_to_act == 0 else 0, work, groups, scores)
    white = survey_walls(board, state.stones, WHITE, num_free if color_to_act == 1 else 0, work, groups, scores)
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
    """Write for each point how good the best walls through it are, of the color to move and of the other one."""
    num_cells = board.num_cells
    work = np.empty((NUM_ROWS, num_cells), np.int16)
    groups = np.empty((NUM_GROUP_ROWS, num_cells), np.int16)
    scores = np.empty((2, num_cells), np.float32)
    own = BLACK if color_to_act == 0 else WHITE
    other = BLACK + WHITE - own
    survey_walls(board, state.stones, own, num_free, work, groups, scores[0])
    survey_walls(board, state.stones, other, 0, work, groups, scores[1])
    for cell in range(num_cells):
        ratings[cell] = scores[0, cell] + scores[1, cell]
    ratings[num_cells:] = np.inf
