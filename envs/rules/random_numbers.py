"""Random numbers inside kernels: one 64-bit seed per game, so that results do not depend on the number of threads."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import Int8s, UInt64s, kernel

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
_FACTOR_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3, _SHIFT_HALF = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)

_PROBES = 24


@kernel
def random_below(seeds: UInt64s, game: int, bound: int) -> int:
    """Return a uniform whole number in [0, ``bound``), ``bound`` < 2**31, and advance ``seeds[game]``.

    SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014); the upper half of its
    output is scaled by multiplication, which is biased by less than ``bound`` / 2**32.
    """
    seeds[game] += _INCREMENT
    z = seeds[game]
    z = (z ^ (z >> _SHIFT_1)) * _FACTOR_1
    z = (z ^ (z >> _SHIFT_2)) * _FACTOR_2
    z = z ^ (z >> _SHIFT_3)
    return np.int64(((z >> _SHIFT_HALF) * np.uint64(bound)) >> _SHIFT_HALF)  # type: ignore[return-value]


@kernel
def random_legal_action(mask: Int8s, seeds: UInt64s, game: int) -> int:
    """Return a uniformly chosen action whose entry in ``mask`` is set, or -1 where none is.

    Probing at random is faster than scanning unless legal actions are rare; both are uniform, so their mix is.
    """
    for _ in range(_PROBES):
        action = random_below(seeds, game, mask.shape[0])
        if mask[action]:
            return action
    num_legal = 0
    for action in range(mask.shape[0]):
        num_legal += mask[action]
    if num_legal == 0:
        return -1
    remaining = random_below(seeds, game, num_legal)
    for action in range(mask.shape[0]):
        if mask[action]:
            if remaining == 0:
                return action
            remaining -= 1
    return -1


def independent_seeds(seed: int | np.random.SeedSequence | None, num_games: int) -> UInt64s:
    """Return ``uint64[num_games]``, one independent seed per game. None draws fresh entropy."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return sequence.generate_state(num_games, np.uint64)
