"""Row words: what is true of the columns of one row of a square board, as bits of a whole number; bit x is column x.

One operation on a word asks all columns of the row at once.
"""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules.kernels import kernel

_DE_BRUIJN_SEQUENCE = 0x077CB531
_COLUMN_OF_WINDOW = np.zeros(32, np.uint8)
_COLUMN_OF_WINDOW[[(_DE_BRUIJN_SEQUENCE << column & 0xFFFFFFFF) >> 27 for column in range(32)]] = range(32)


@kernel
def lowest_column(word: int) -> int:
    """Return the lowest column of a word that has one; words have 32 columns at most.

    (Leiserson, Prokop, Randall: Using de Bruijn sequences to index a 1 in a computer word, 1998.)
    """
    column: int = _COLUMN_OF_WINDOW[((word & -word) * _DE_BRUIJN_SEQUENCE & 0xFFFFFFFF) >> 27]
    return column


@kernel
def beside(word: int) -> int:
    """Return the columns next to one of ``word``, left or right."""
    return (word << 1) | (word >> 1)


@kernel
def pairs(word: int) -> int:
    """Return the columns x of which x - 1 and x are both in ``word``."""
    return word & (word << 1)


@kernel
def with_two_neighbors(word: int, below: int, above: int) -> int:
    """Return the columns of ``word`` with two or more neighbors in ``word`` and the words of the rows below and above."""
    left = word << 1
    right = word >> 1
    return word & ((left & right) | (below & above) | ((left | right) & (below | above)))


@kernel
def after_runs(runs: int, starts: int) -> int:
    """Return the column after each unbroken run of ``runs`` that starts on one of ``starts``.

    Of ``starts`` only those on a run count, and they must be its lowest column: adding 1 there carries to its end.
    """
    return (runs + (runs & starts)) & ~runs
