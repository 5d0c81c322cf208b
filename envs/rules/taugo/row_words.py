"""Row words: a set of columns of one row of a square board as the bits of an integer. Bit x is column x.

One bitwise operation processes all columns of the row.
"""

from __future__ import annotations

from stoneworks.envs.rules.kernels import kernel


@kernel
def beside(word: int) -> int:
    """Return the columns to the left and right of those in ``word``."""
    return (word << 1) | (word >> 1)


@kernel
def pairs(word: int) -> int:
    """Return the columns x such that x - 1 and x are both in ``word``."""
    return word & (word << 1)


@kernel
def with_two_neighbors(word: int, below: int, above: int) -> int:
    """Return the columns of ``word`` with two or more neighbors in ``word`` and the words of the rows below and above."""
    left = word << 1
    right = word >> 1
    return word & ((left & right) | (below & above) | ((left | right) & (below | above)))


@kernel
def after_runs(runs: int, starts: int) -> int:
    """Return the column after each unbroken run of ``runs`` that starts in ``starts``.

    Only those of ``starts`` that are in a run count, and each must be its lowest column: adding 1 there carries to the end.
    """
    return (runs + (runs & starts)) & ~runs
