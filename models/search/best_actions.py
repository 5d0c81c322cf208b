"""Selection of actions: the top k by rating, and a random one among those with the highest value."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import Int64s, Record, UInt64s, int64, kernel
from stoneworks.envs.rules.random_numbers import random_below
from stoneworks.envs.rules.templates import NO_ACTION


@kernel
def insert_best(best: Int64s, num_best: int, limit: int, ratings: Record, action: int) -> int:
    """Insert ``action`` into the sorted list of the best actions and return the new length of the list.

    Args:
        best: the best actions so far, in descending order of rating; ties in order of insertion. Updated in place.
        num_best: number of actions in ``best``.
        limit: maximum number of actions to keep.
        ratings: rating of each action, indexed by action.
        action: the action to insert.
    """
    place = num_best
    while place > 0 and ratings[best[place - 1]] < ratings[action]:
        place -= 1
    if place >= limit:
        return num_best
    for later in range(min(num_best, limit - 1), place, -1):
        best[later] = best[later - 1]
    best[place] = action
    return min(num_best + 1, limit)


@kernel
def draw_best(values: Record, candidates: Record, num_candidates: int, seeds: UInt64s, row: int) -> int:
    """Return a random candidate among those with the highest value; the draw does not depend on the order of the candidates."""
    greatest = -np.inf
    num_equal = 0
    for place in range(num_candidates):
        value = values[candidates[place]]
        if value > greatest:
            greatest = value
            num_equal = 0
        num_equal += value == greatest
    remaining = random_below(seeds, row, num_equal)
    for place in range(num_candidates):
        action = candidates[place]
        if values[action] != greatest:
            continue
        num_before = 0
        for other in range(num_candidates):
            num_before += values[candidates[other]] == greatest and candidates[other] < action
        if num_before == remaining:
            return int64(action)
    return NO_ACTION
