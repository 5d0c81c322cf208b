"""The best actions so far, in a sorted list, for evaluations and searches."""

from __future__ import annotations

from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Int64s, Record


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
