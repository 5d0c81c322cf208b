"""Random numbers in kernels: one 64-bit seed per game, so that results do not depend on the number of threads."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.compiler.bits import word_at
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Int8s, UInt64s

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
_FACTOR_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3, _SHIFT_HALF = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)

_EVERY_SECOND_BYTE = np.uint64(0x00FF00FF00FF00FF)
_EACH_PAIR_OF_BYTES = np.uint64(0x0001000100010001)
_SHIFT_BYTE, _SHIFT_PAIRS = np.uint64(8), np.uint64(48)
#: Words whose bytes are added at once: the sums of at most 255 fit into bytes.
_BLOCK, _LARGE_BLOCK = 16, 240
_PROBES = 24


@kernel
def random_below(seeds: UInt64s, game: int, bound: int) -> int:
    """Return a uniformly random integer in [0, ``bound``), ``bound`` < 2**31, and advance ``seeds[game]``.

    SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). The upper half of its
    output is scaled by multiplication, with a bias of less than ``bound`` / 2**32.
    """
    seeds[game] = next_seed(seeds[game])
    return below(seeds[game], bound)


@kernel
def next_seed(seed: np.uint64) -> np.uint64:
    """Return the seed after ``seed``."""
    return np.uint64(seed + _INCREMENT)


@kernel
def below(seed: np.uint64, bound: int) -> int:
    """Return the number in [0, ``bound``) that belongs to a seed (see :func:`random_below`)."""
    z = np.uint64(seed)
    z = (z ^ (z >> _SHIFT_1)) * _FACTOR_1
    z = (z ^ (z >> _SHIFT_2)) * _FACTOR_2
    z = z ^ (z >> _SHIFT_3)
    return np.int64(((z >> _SHIFT_HALF) * np.uint64(bound)) >> _SHIFT_HALF)  # type: ignore[return-value]


@kernel
def _sum_of_bytes(mask: Int8s, start: int, stop: int) -> int:
    """Return the sum of the entries (each 0 or 1) of the words ``start`` to ``stop`` of ``mask``, at most 255 words."""
    sums = np.uint64(0)
    for word in range(start, stop):
        sums += word_at(mask, 8 * word)
    pairs = (sums & _EVERY_SECOND_BYTE) + ((sums >> _SHIFT_BYTE) & _EVERY_SECOND_BYTE)
    return np.int64((pairs * _EACH_PAIR_OF_BYTES) >> _SHIFT_PAIRS)  # type: ignore[return-value]


@kernel
def random_legal_action(mask: Int8s, seeds: UInt64s, game: int) -> int:
    """Return a uniformly random action whose entry in ``mask[num_actions]`` is 1, or -1 if there is none.

    Random probing is faster than counting unless legal actions are rare. Both are uniform, and so is their combination.
    Counting adds eight entries at a time. The random numbers are those of ``seeds[game]``.
    """
    num_actions = mask.shape[0]
    for _ in range(_PROBES):
        action = random_below(seeds, game, num_actions)
        if mask[action]:
            return action
    rest = num_actions // 8 * 8
    num_words = num_actions // 8
    num_legal = 0
    for block in range(0, num_words, _LARGE_BLOCK):
        num_legal += _sum_of_bytes(mask, block, min(block + _LARGE_BLOCK, num_words))
    for action in range(rest, num_actions):
        num_legal += mask[action]
    if num_legal == 0:
        return -1
    remaining = random_below(seeds, game, num_legal)
    word = 0
    while word < num_words:
        in_block = _sum_of_bytes(mask, word, min(word + _BLOCK, num_words))
        if remaining < in_block:
            break
        remaining -= in_block
        word += _BLOCK
    while word < num_words:
        in_word = _sum_of_bytes(mask, word, word + 1)
        if remaining < in_word:
            break
        remaining -= in_word
        word += 1
    action = min(8 * word, rest)
    while not mask[action] or remaining > 0:
        remaining -= mask[action]
        action += 1
    return int(action)


def independent_seeds(seed: int | np.random.SeedSequence | None, num_games: int) -> UInt64s:
    """Return ``uint64[num_games]``, one independent seed per game. None uses fresh entropy."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return np.asarray(sequence.generate_state(num_games, np.uint64), np.uint64)
