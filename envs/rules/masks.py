"""Action masks in kernels: lists of their legal actions."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.bits import lowest_bit
from stoneworks.envs.rules.kernels import Int8s, Int64s, kernel


@kernel
def list_legal(mask: Int8s, actions: Int64s) -> int:
    """Write the actions whose entry in ``mask`` is 1, in ascending order, to ``actions`` and return their number.

    Eight entries are skipped at once if they are zeros. ``actions`` has room for all actions.
    """
    num_actions = mask.shape[0]
    rest = num_actions // 8 * 8
    words = mask[:rest].view(np.uint64)
    num_legal = 0
    for index in range(words.shape[0]):
        word = words[index]
        while word:
            actions[num_legal] = 8 * index + (lowest_bit(word) >> 3)
            num_legal += 1
            word &= word - np.uint64(1)
    for action in range(rest, num_actions):
        if mask[action]:
            actions[num_legal] = action
            num_legal += 1
    return num_legal
