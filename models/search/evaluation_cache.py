"""``EvaluationCache``: caches network evaluations across the searches of one game."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Answers: TypeAlias = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


class EvaluationCache:
    """Wraps a network and evaluates each distinct observation once.

    A search that starts inside the tree of an earlier search reuses its evaluations. Observations are identified by 64-bit
    hashes; collisions are possible but negligibly rare. Measured on one core against the greedy bot: 27 instead of 37 ms per
    step with 400 simulations in Vadus 5, 5.5 instead of 6 ms with 64; 3 to 4 % more in Laido, Taigo and Trugo.
    """

    def __init__(self, evaluate: Callable[[npt.NDArray[np.float32]], Answers], max_bytes: int = 1 << 26) -> None:
        """Create an empty cache.

        Args:
            evaluate: the network.
            max_bytes: maximum size of the cached evaluations in bytes; the oldest are evicted first.
        """
        self._evaluate = evaluate
        self._max_bytes = max_bytes
        self._num_bytes = 0
        self._answers: dict[int, tuple[npt.NDArray[np.float32], np.float32]] = {}
        self._lock = threading.Lock()

    def __call__(self, planes: npt.NDArray[np.float32]) -> Answers:
        """Return logits ``float32[n, num_actions]`` and expected results ``float32[n]`` for ``n`` >= 1 observations."""
        keys = [hash(of_position.tobytes()) for of_position in planes]
        with self._lock:
            found = {key: self._answers[key] for key in keys if key in self._answers}
        missing = list({key: row for row, key in enumerate(keys) if key not in found}.values())
        if missing:
            everything = len(missing) == len(keys)
            logits, values = self._evaluate(planes if everything else planes[missing])
            new = {
                keys[row]: (of_row.copy(), value) for row, of_row, value in zip(missing, logits, values, strict=True)
            }
            self._keep(new)
            if everything:
                return logits, values
            found |= new
        return np.stack([found[key][0] for key in keys]), np.array([found[key][1] for key in keys], np.float32)

    def clear(self) -> None:
        """Remove all cached evaluations."""
        self._answers.clear()
        self._num_bytes = 0

    def _keep(self, answers: dict[int, tuple[npt.NDArray[np.float32], np.float32]]) -> None:
        with self._lock:
            for key, answer in answers.items():
                if key not in self._answers:  # another thread may have asked as well
                    self._answers[key] = answer
                    self._num_bytes += answer[0].nbytes
            while self._num_bytes > self._max_bytes:
                oldest = next(iter(self._answers))
                self._num_bytes -= self._answers.pop(oldest)[0].nbytes
