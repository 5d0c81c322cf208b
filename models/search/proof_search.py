"""Proof search: exact results by alpha-beta search with null windows, a transposition table in memory and symmetries.

A template over a game's kernels, like all searches. It decides whether the result of a position is at least a threshold for
one player. With a threshold, each position has two possible outcomes, so no values are carried along the path: the player to
move succeeds if any action leads to a position in which the same player succeeds or the opponent fails. Nothing
assumes that players alternate.

Each position is identified by a hash of its observation for the player to move, which must determine the result of the
game. The hash is the sum over the entries of the observation of a random key times the entry, for each symmetry of the
game; positions are merged by taking the symmetry with the smallest sum. Before a position is searched, all its successors are
looked up in the table.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.compiler.bits import highest_bit, list_legal
from stoneworks.envs.rules.compiler.compiler import int64, kernel
from stoneworks.envs.rules.compiler.ranking import insert_best
from stoneworks.envs.rules.compiler.types import (
    BoardArray,
    Float32Table,
    Int32Table,
    Record,
    StateArray,
    UInt64s,
)
from stoneworks.envs.rules.contract import apply_action, legal_actions, observe, rate_actions, result_bounds
from stoneworks.envs.rules.fields import NO_WINNER

#: Number of entries that a position may be in: a cache line.
BUCKET = 8
#: The bits of an entry that hold the key; the rest are the bounds (two bits each) and the effort (six bits).
KEY_BITS = 54

FRAME = np.dtype(
    [
        ("key", "u8"),
        ("bucket", "i8"),
        ("num_chosen", "i4"),
        ("num_done", "i4"),
        ("need", "i4"),  # the result that the player to move needs to succeed
        ("entered", "i4"),
        ("start", "i8"),  # the number of positions visited before
    ],
    align=True,
)
FrameArray: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(FRAME)[::1]]
UInt32Table: TypeAlias = Annotated[npt.NDArray[np.uint32], numba.uint32[:, ::1]]
UInt64Table: TypeAlias = Annotated[npt.NDArray[np.uint64], numba.uint64[:, ::1]]

#: How much the latest outcome of an action counts for its history.
RATE_OF_HISTORY = np.float32(0.02)

_KEY_MASK = np.uint64((1 << KEY_BITS) - 1)
_BOUNDS_SHIFT, _EFFORT_SHIFT = np.uint64(KEY_BITS), np.uint64(KEY_BITS + 4)
_ONE = np.uint64(1)
_EXPONENT, _SIGNIFICAND, _FLOAT = np.uint64(23), np.uint64(9), np.uint64(0xFFFFFFFF)
#: Bounds as stored: lower bound + 1, and four times the upper bound + 1.
_UNKNOWN = 8


class Progress(NamedTuple):
    """How far a search is; the default is its start.

    Attributes:
        ply: the current ply, -1 once the search is decided.
        num_positions: number of positions visited.
        success: whether the player to move at the root succeeds, once it is decided.
    """

    ply: int = 0
    num_positions: int = 0
    success: bool = False


class Stack(NamedTuple):
    """The positions from the root to the current one, and the work at each; ``depth`` is more than the actions left in the game.

    Attributes:
        path: ``[depth]``, the positions.
        frames: ``[depth]``, the remaining work at each. To start, ``entered`` of the first is 0 and ``need`` is set.
        candidates: ``int32[depth, num_actions]``, the actions to try at each.
    """

    path: StateArray
    frames: FrameArray
    candidates: Int32Table


class HashKeys(NamedTuple):
    """Random keys of observations.

    Attributes:
        keys: ``uint64[num_planes * (num_cells + 1), 2 * num_symmetries]``, two per symmetry of each entry, those of the entry's
            image, then those of planes of a single value.
        usual: ``uint32[num_planes, num_cells]``, the bits of the entry that add nothing to the hash: those of the initial
            position, or 0 in planes that a symmetry changes.
    """

    keys: UInt64Table
    usual: UInt32Table


def hash_keys(game: Game) -> HashKeys:
    """Return the keys of the observations of ``game``."""
    num_planes, num_cells = game.flat_observation_shape
    num_entries = num_planes * num_cells
    random = np.random.default_rng(0).integers(0, 2**64, (num_entries + num_planes, 2), np.uint64)
    images = [np.concatenate([symmetry.observation, num_entries + symmetry.planes]) for symmetry in game.symmetries]
    usual = game.new_initial_state().observation_tensor(0)
    changed = np.zeros(num_planes, np.bool_)
    for symmetry in game.symmetries:
        changed |= (symmetry.of_observation(usual) != usual).any(axis=(1, 2))
    usual[changed] = 0
    keys = np.empty((num_entries + num_planes, 2 * len(images)), np.uint64)
    for index, image in enumerate(images):
        keys[:, 2 * index : 2 * index + 2] = random[image]
    return HashKeys(keys, usual.reshape(num_planes, num_cells).view(np.uint32))


@kernel
def factor_of(bits: int) -> int:
    """Return the bits of a float32 rotated, so that the factor of 1.0 is odd and no bits of a key are lost."""
    word = np.uint64(bits)
    return word >> _EXPONENT | (word << _SIGNIFICAND & _FLOAT)  # type: ignore[return-value]


@kernel
def hash_observation(bits: Record, hashing: HashKeys, sums: UInt64s) -> int:
    """Write the hash of an observation, and return the index of the smallest first word in ``sums``.

    Args:
        bits: ``uint32[num_planes, num_cells]``, the bits of the observation.
        hashing: see :func:`hash_keys`.
        sums: output, ``uint64[2 * num_symmetries]``: two words per symmetry.
    """
    num_planes, num_cells = bits.shape
    num_sums = sums.shape[0]
    sums[:] = 0
    for plane in range(num_planes):
        first = bits[plane, 0]
        differences = np.uint32(0)
        for cell in range(num_cells):  # without an early end, so that it is vectorized
            differences |= bits[plane, cell] ^ first
        if differences == 0:
            factor = factor_of(first)
            if factor:
                row = hashing.keys[num_planes * num_cells + plane]
                for index in range(num_sums):
                    sums[index] += factor * row[index]
            continue
        for cell in range(num_cells):
            usual = hashing.usual[plane, cell]
            if bits[plane, cell] != usual:
                factor = factor_of(bits[plane, cell]) - factor_of(usual)
                row = hashing.keys[plane * num_cells + cell]
                for index in range(num_sums):
                    sums[index] += factor * row[index]
    smallest = 0
    for index in range(2, num_sums, 2):
        if sums[index] < sums[smallest]:
            smallest = index
    return smallest


@kernel
def place_of(bits: Record, hashing: HashKeys, sums: UInt64s, table: UInt64s) -> tuple[int, int]:
    """Return the bucket of an observation in ``table[num_buckets * BUCKET]``, and its key (see :func:`hash_observation`)."""
    smallest = hash_observation(bits, hashing, sums)
    bucket = int64(sums[smallest] & np.uint64(table.shape[0] // BUCKET - 1)) * BUCKET
    return bucket, sums[smallest + 1] & _KEY_MASK | _ONE


@kernel
def find(table: UInt64s, bucket: int, key: int) -> int:
    """Return the index of the entry with ``key`` in a bucket of ``table[num_buckets * BUCKET]``, or -1."""
    for index in range(bucket, bucket + BUCKET):
        if table[index] & _KEY_MASK == key:
            return index
    return -1


@kernel
def known_bounds(table: UInt64s, bucket: int, key: int) -> tuple[int, int]:
    """Return bounds of the result of a position for the player to move, from ``table[num_buckets * BUCKET]``."""
    index = find(table, bucket, key)
    if index < 0:
        return -1, 1
    bounds = int64(table[index] >> _BOUNDS_SHIFT & np.uint64(15))
    return (bounds & 3) - 1, (bounds >> 2) - 1


@kernel
def store(table: UInt64s, bucket: int, key: int, need: int, success: bool, positions: int) -> None:
    """Store whether the player to move of a position gets at least ``need``.

    A new entry replaces the one of minimum effort in its bucket of ``table[num_buckets * BUCKET]``.
    """
    index = find(table, bucket, key)
    effort = np.uint64(highest_bit(positions + 1))
    bounds = _UNKNOWN
    if index >= 0:
        bounds = int64((table[index] >> _BOUNDS_SHIFT) & np.uint64(15))
        effort = max(effort, table[index] >> _EFFORT_SHIFT)
    else:
        index = bucket
        for other in range(bucket + 1, bucket + BUCKET):
            if table[other] >> _EFFORT_SHIFT < table[index] >> _EFFORT_SHIFT:
                index = other
    low, high = bounds & 3, bounds >> 2
    if success:
        low = max(low, need + 1)
    else:
        high = min(high, need)
    table[index] = key | np.uint64(low + 4 * high) << _BOUNDS_SHIFT | effort << _EFFORT_SHIFT


# Long: recursion is unrolled into a stack of arrays that all parts of the loop read and write.
def search_proof(
    board: BoardArray,
    stack: Stack,
    table: UInt64s,
    hashing: HashKeys,
    history: Float32Table,
    progress: Progress,
    max_positions: int,
) -> tuple[int, int, bool]:
    """Continue a search until it is decided or ``max_positions`` positions have been visited; return the new progress.

    Args:
        board: the board constants.
        stack: the path to the current position.
        table: ``[num_buckets * BUCKET]``, the transposition table; 0 is an empty entry.
        hashing: see :func:`hash_keys`.
        history: ``float32[2, num_actions]``, how often each action of each player succeeded, to order actions.
        progress: how far the search is.
        max_positions: number of visited positions, those of earlier calls included, after which no other is begun.
    """
    path, frames, candidates = stack
    num_actions = board[0].num_actions
    mask = np.empty(num_actions, np.int8)
    legal = np.empty(num_actions, np.int64)
    ratings = np.empty(num_actions, np.float32)
    planes = np.empty(hashing.usual.shape, np.float32)
    bits = planes.view(np.uint32)
    sums = np.empty(hashing.keys.shape[1], np.uint64)
    child_scratch = np.empty(1, path.dtype)
    child = child_scratch[0]

    ply, positions, success = progress.ply, progress.num_positions, progress.success
    while ply >= 0 and positions < max_positions:
        state = path[ply]
        frame = frames[ply]
        player = int64(state.current_player)
        if not frame.entered:
            frame.entered = 1
            frame.start = positions
            frame.num_done = 0
            frame.num_chosen = 0
            observe(board[0], state, player, planes)
            frame.bucket, frame.key = place_of(bits, hashing, sums, table)
            low, high = known_bounds(table, frame.bucket, frame.key)
            success = low >= frame.need
            if success or high < frame.need:
                ply -= 1
                continue
            legal_actions(board[0], state, mask)
            num_legal = list_legal(mask, legal)
            rate_actions(board[0], state, mask, ratings)
            num_chosen = 0
            for place in range(num_legal):
                action = legal[place]
                positions += 1
                child_scratch[0] = path[ply]
                apply_action(board[0], child, action)
                if child.ending:
                    low = 0 if child.winner == NO_WINNER else 1 if child.winner == player else -1
                    high = low
                else:
                    observe(board[0], child, int64(child.current_player), planes)
                    bucket, key = place_of(bits, hashing, sums, table)
                    low, high = known_bounds(table, bucket, key)
                    if child.current_player != player:
                        low, high = -high, -low
                    if low < frame.need and high >= frame.need:
                        floor, ceiling = result_bounds(board[0], child)
                        if player == 1:
                            floor, ceiling = -ceiling, -floor
                        low, high = max(low, floor), min(high, ceiling)
                success = low >= frame.need
                if success:
                    break
                if high < frame.need:
                    continue
                ratings[action] += history[player, action]
                num_chosen = insert_best(candidates[ply], num_chosen, num_actions, ratings, action)
            if not success:
                frame.num_chosen = num_chosen
        else:  # the last candidate has been searched
            action = candidates[ply, frame.num_done - 1]
            success = success == (path[ply + 1].current_player == player)
            if success:
                frame.num_chosen = 0
            history[player, action] += RATE_OF_HISTORY * (np.float32(success) - history[player, action])
        if frame.num_done < frame.num_chosen:
            path[ply + 1] = path[ply]
            apply_action(board[0], path[ply + 1], candidates[ply, frame.num_done])
            frame.num_done += 1
            frames[ply + 1].need = frame.need if path[ply + 1].current_player == player else 1 - frame.need
            frames[ply + 1].entered = 0
            ply += 1
            continue
        store(table, frame.bucket, frame.key, frame.need, success, positions - frame.start)
        ply -= 1
    return ply, positions, success
