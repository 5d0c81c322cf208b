"""``EvaluationCache``: caches network evaluations across the searches of one game."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.kernels import compiled_function

Answers: TypeAlias = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


class EvaluationCache:
    """Wraps a network and evaluates each distinct observation once.

    A search that starts inside the tree of an earlier search reuses its evaluations.

    Attributes:
        num_asked: number of positions evaluated by the network (cache misses).
        num_known: number of positions found in the cache (cache hits).
    """

    def __init__(self, evaluate: Callable[[npt.NDArray[np.float32]], Answers], max_bytes: int = 1 << 26) -> None:
        """Create an empty cache.

        Args:
            evaluate: the network.
            max_bytes: maximum size of the cached evaluations in bytes; the oldest are evicted first.
        """
        self.num_asked = 0
        self.num_known = 0
        self._evaluate = evaluate
        self._max_bytes = max_bytes
        self._num_bytes = 0
        self._answers: dict[bytes, tuple[npt.NDArray[np.float32], np.float32]] = {}
        self._lock = threading.Lock()

    def __call__(self, planes: npt.NDArray[np.float32]) -> Answers:
        """Return logits ``float32[n, num_actions]`` and expected results ``float32[n]`` for ``n`` >= 1 observations."""
        keys = _keys(planes)
        with self._lock:
            found = {key: self._answers[key] for key in keys if key in self._answers}
        missing = list({key: row for row, key in enumerate(keys) if key not in found}.values())
        self.num_asked += len(missing)
        self.num_known += len(keys) - len(missing)
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

    def _keep(self, answers: dict[bytes, tuple[npt.NDArray[np.float32], np.float32]]) -> None:
        with self._lock:
            for key, answer in answers.items():
                if key not in self._answers:  # another thread may have asked as well
                    self._answers[key] = answer
                    self._num_bytes += answer[0].nbytes
            while self._num_bytes > self._max_bytes:
                oldest = next(iter(self._answers))
                self._num_bytes -= self._answers.pop(oldest)[0].nbytes


_Words: TypeAlias = Annotated[npt.NDArray[np.uint32], numba.uint32[:, ::1]]
_Keys: TypeAlias = Annotated[npt.NDArray[np.uint64], numba.uint64[:, ::1]]
#: Odd factor of the hash: 2^64 divided by the golden ratio.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def hash_rows(words: _Words, keys: _Keys) -> None:
    """Write a hash of 128 bits of each row; every fourth word goes into the same of four sums, which are independent."""
    shift = np.uint64(29)
    for row in range(words.shape[0]):
        a, b, c, d = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
        size = words.shape[1]
        for word in range(0, size - 3, 4):
            a = (a ^ (a >> shift) ^ np.uint64(words[row, word])) * _FACTOR
            b = (b ^ (b >> shift) ^ np.uint64(words[row, word + 1])) * _FACTOR
            c = (c ^ (c >> shift) ^ np.uint64(words[row, word + 2])) * _FACTOR
            d = (d ^ (d >> shift) ^ np.uint64(words[row, word + 3])) * _FACTOR
        for word in range(size - size % 4, size):
            a = (a ^ (a >> shift) ^ np.uint64(words[row, word])) * _FACTOR
        keys[row, 0] = (a ^ (a >> shift)) * _FACTOR + (b ^ (b >> shift))
        keys[row, 1] = (c ^ (c >> shift)) * _FACTOR + (d ^ (d >> shift))


@cache
def _compiled_hash() -> Any:
    return compiled_function(hash_rows)


def _keys(planes: npt.NDArray[np.float32]) -> list[bytes]:
    """Return a key for each position."""
    keys = np.empty((len(planes), 2), np.uint64)
    _compiled_hash()(np.ascontiguousarray(planes).reshape(len(planes), -1).view(np.uint32), keys)
    return [key.tobytes() for key in keys]
