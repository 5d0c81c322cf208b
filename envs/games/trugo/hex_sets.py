"""Sets of hexes as bits, 64 per word: compact, canonical, and enumerable in time proportional to the number of members."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.compiler.bits import lowest_bit, num_bits
from stoneworks.envs.rules.compiler.compiler import inlined, kernel
from stoneworks.envs.rules.compiler.types import UInt64s

WORD_BITS = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


def num_words(num_hexes: int) -> int:
    """Return the number of words of a set of hexes below ``num_hexes``."""
    return -(-num_hexes // WORD_BITS)


@kernel
def insert(words: UInt64s, hex_: int) -> None:
    """Add a hex to the set ``words[num_words]``."""
    words[hex_ >> 6] |= _ONE << np.uint64(hex_ & 63)


@kernel
def remove(words: UInt64s, hex_: int) -> None:
    """Remove a hex from the set ``words[num_words]``."""
    words[hex_ >> 6] &= ~(_ONE << np.uint64(hex_ & 63))


@kernel
def contains(words: UInt64s, hex_: int) -> bool:
    """Return whether a hex is in the set ``words[num_words]``."""
    return (words[hex_ >> 6] >> np.uint64(hex_ & 63)) & _ONE != _ZERO  # type: ignore[no-any-return]


@kernel
def lowest(word: np.uint64) -> int:
    """Return the index of the lowest set bit of ``word``, which is not 0.

    Members are enumerated by taking the lowest bit of each word until ``without_lowest`` returns 0.
    """
    return lowest_bit(word)  # type: ignore[arg-type]


@kernel
def without_lowest(word: np.uint64) -> np.uint64:
    """Return ``word`` without its lowest bit."""
    return word & (word - _ONE)


@inlined
def member(words: UInt64s, number: int) -> int:
    """Return the member of the set ``words[num_words]`` that has ``number`` smaller ones."""
    word_index = 0
    while number >= num_bits(words[word_index]):
        number -= num_bits(words[word_index])
        word_index += 1
    word = words[word_index]
    for _ in range(number):
        word = without_lowest(word)
    return WORD_BITS * word_index + lowest(word)
