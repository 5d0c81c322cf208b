"""A transposition table: values of searched positions by hash, and its kernels."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.compiler.bits import byte_swapped
from stoneworks.envs.rules.compiler.compiler import int64, kernel
from stoneworks.envs.rules.compiler.types import Int32s, Int64s, Record
from stoneworks.envs.rules.contract import NO_ACTION

#: Number of entries, a power of two.
TABLE_SIZE = 1 << 17

#: An entry; entries of key 0 are empty.
TABLE_ENTRY = np.dtype([("key", "u8"), ("value", "f4"), ("action", "i4"), ("depth", "i1"), ("bound", "i1")], align=True)
TableArray: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(TABLE_ENTRY)[::1]]

EXACT, LOWER_BOUND, UPPER_BOUND = 0, 1, 2

_SEED = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xFF51AFD7ED558CCD)
_BYTE, _SHIFT = np.uint64(8), np.uint64(32)


@kernel
def hash_bytes(content: Record) -> int:
    """Return a nonzero 64-bit hash of an array of bytes, mixed in words of eight bytes."""
    mixed = _SEED
    rest = content.size // 8 * 8
    words = content[:rest].view(np.uint64)
    for index in range(words.shape[0]):
        mixed = (mixed ^ byte_swapped(words[index])) * _FACTOR
        mixed ^= mixed >> _SHIFT
    if rest < content.size:
        word = np.uint64(0)
        for place in range(rest, content.size):
            word = (word << _BYTE) | np.uint64(content[place])
        mixed = (mixed ^ word) * _FACTOR
        mixed ^= mixed >> _SHIFT
    return mixed | np.uint64(1)  # type: ignore[return-value]


@kernel
def slot_of(key: int) -> int:
    """Return the table index of the position with hash ``key``."""
    return int64(np.uint64(key) >> np.uint64(1)) & (TABLE_SIZE - 1)


@kernel
def clear(table: TableArray, entries_in_use: Int32s, num_entries: Int64s) -> None:
    """Remove all entries; arguments as of :func:`store`."""
    for place in range(num_entries[0]):
        table[entries_in_use[place]].key = 0
    num_entries[0] = 0


@kernel
def best_known(table: TableArray, key: int) -> int:
    """Return the best action in the entry of a position, or ``NO_ACTION``."""
    entry = table[slot_of(key)]
    return int64(entry.action) if entry.key == key else NO_ACTION


@kernel
def store(
    table: TableArray,
    entries_in_use: Int32s,
    num_entries: Int64s,
    key: int,
    value: float,
    depth: int,
    bound: int,
    action: int,
) -> None:
    """Overwrite the entry at the index of a position.

    Args:
        table: ``[TABLE_SIZE]``, the table.
        entries_in_use: ``int32[TABLE_SIZE]``, the indices of the entries in use; a new one is appended.
        num_entries: ``int64[1]``, number of entries in use.
        key: hash of the position.
        value: value of the position for the player to move.
        depth: search depth of the value, in turns.
        bound: whether the value is ``EXACT`` or a bound, ``LOWER_BOUND`` or ``UPPER_BOUND``.
        action: best action, or ``NO_ACTION``.
    """
    slot = slot_of(key)
    entry = table[slot]
    if entry.key == 0:
        entries_in_use[num_entries[0]] = slot
        num_entries[0] += 1
    entry.key = key
    entry.value = value
    entry.depth = depth
    entry.bound = bound
    entry.action = action
