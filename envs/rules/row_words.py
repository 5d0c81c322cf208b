"""Row words: the stones of one colour in one row of a square board as bits of a whole number, bit x for column x.

Taugo looks for all legal stones and all legal cuts of a turn at once, a row at a time (docs/taugo.md has the reasoning).
Bit 0 and the bit after the last intersection are edge points, and so are the rows 0 and N + 1.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import kernel

#: Rows that records have room for: the 26 of a board of 24 intersections a side, and one above that stays empty.
NUM_ROWS = 27

_DE_BRUIJN = 0x077CB531
_INDEX_OF_BIT = np.zeros(32, np.uint8)
for _index in range(32):
    _INDEX_OF_BIT[((_DE_BRUIJN << _index) & 0xFFFFFFFF) >> 27] = _index


@kernel
def lowest_column(word: int) -> int:
    """Return the column of the lowest bit of a word that is not 0, by a de Bruijn sequence (Leiserson, Prokop, Randall, 1998)."""
    return np.int64(_INDEX_OF_BIT[((word & -word) * _DE_BRUIJN & 0xFFFFFFFF) >> 27])


@kernel
def pairs(word: int) -> int:
    """Return the columns x of which x - 1 and x are both set."""
    return word & (word << 1)


@kernel
def sides(word: int) -> int:
    """Return the columns beside which, left or right, a column is set."""
    return (word << 1) | (word >> 1)


@kernel
def with_two_friends(word: int, below: int, above: int) -> int:
    """Return those columns of a row that are set together with two or more of their four neighbours."""
    left = word << 1
    right = word >> 1
    return word & ((left & right) | (below & above) | ((left | right) & (below | above)))
