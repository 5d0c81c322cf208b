"""The best few of many actions, kept in order while they come one by one."""

from __future__ import annotations

from stoneworks.envs.rules.kernels import Int64s, Record, kernel


@kernel
def insert_best(best: Int64s, num_best: int, limit: int, ratings: Record, action: int) -> int:
    """Put ``action`` where its rating belongs among the best so far, and return how many there are now.

    Args:
        best: the best actions so far, the best of all first; of equal ones, which came first.
        num_best: how many they are.
        limit: how many are kept at most.
        ratings: an array: the rating of each action.
        action: one more.
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
