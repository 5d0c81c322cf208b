"""Random play in an AEC environment with action masks, written as user code would be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pettingzoo import AECEnv


def play_aec_at_random(env: AECEnv[Any, Any, Any]) -> Callable[[int], int]:
    """Return a function that plays at least the given number of steps: ``last()``, a masked random choice, ``step``."""
    rng = np.random.default_rng(0)

    def play(steps: int) -> int:
        done = 0
        while done < steps:
            env.reset()
            while True:
                observation, _, termination, truncation, _ = env.last()
                if termination or truncation:
                    break
                actions = np.flatnonzero(observation["action_mask"])
                env.step(actions[int(rng.random() * actions.size)])
                done += 1
        return done

    return play
