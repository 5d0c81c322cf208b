"""Sets of hexes as bits, 64 to a word: small, equal for equal sets, and listed in time that grows with their members."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import UInt64s, kernel

WORD_BITS = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)

# A de Bruijn sequence: multiplied by a power of two 2**i, its six highest bits differ for every i.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_SHIFT = np.uint64(58)
_PLACES = np.zeros(WORD_BITS, np.int8)
for _place in range(WORD_BITS):
    _PLACES[((int(_SEQUENCE) << _place) & (2**64 - 1)) >> 58] = _place


def num_words(num_hexes: int) -> int:
    """Return the number of words of a set of hexes below ``num_hexes``."""
    return -(-num_hexes // WORD_BITS)


@kernel
def insert(words: UInt64s, hex_: int) -> None:
    """Put a hex in the set."""
    words[hex_ >> 6] |= _ONE << np.uint64(hex_ & 63)


@kernel
def remove(words: UInt64s, hex_: int) -> None:
    """Take a hex out of the set."""
    words[hex_ >> 6] &= ~(_ONE << np.uint64(hex_ & 63))


@kernel
def contains(words: UInt64s, hex_: int) -> bool:
    """Return whether a hex is in the set."""
    return (words[hex_ >> 6] >> np.uint64(hex_ & 63)) & _ONE != _ZERO


@kernel
def lowest(word: np.uint64) -> int:
    """Return the place of the lowest bit that is set; ``word`` is not 0.

    Members are listed by taking the lowest bit of each word until ``without_lowest`` leaves 0.
    """
    return np.int64(_PLACES[((word & (~word + _ONE)) * _SEQUENCE) >> _SHIFT])  # type: ignore[return-value]


@kernel
def without_lowest(word: np.uint64) -> np.uint64:
    """Return ``word`` without its lowest bit."""
    return word & (word - _ONE)
