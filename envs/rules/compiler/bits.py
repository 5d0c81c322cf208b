"""Bits for kernels: operations on 64-bit words that compile to a single instruction, and action masks read in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Int8s, Int64s


@intrinsic
def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def _leading_zeros(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def _population_count(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def _byte_swap(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _load_word(typing_context: Any, entries: Any, first: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(address, align=1)

    return types.uint64(entries, types.int64), generate


@kernel
def word_at(mask: Int8s, first: int) -> np.uint64:
    """Return the eight entries of ``mask`` from ``first`` on as a word, also from an address at which a view is not allowed."""
    return _load_word(mask, first)  # type: ignore[call-arg]


@kernel
def lowest_bit(word: int) -> int:
    """Return the place of the lowest bit that is set in a word of 64 bits; ``word`` is not 0."""
    return _trailing_zeros(word)  # type: ignore[call-arg]


@kernel
def highest_bit(word: int) -> int:
    """Return the place of the highest bit that is set in a word of 64 bits; ``word`` is not 0."""
    return 63 - _leading_zeros(word)  # type: ignore[call-arg]


@kernel
def num_bits(word: int) -> int:
    """Return how many bits are set in a word of 64 bits."""
    return _population_count(word)  # type: ignore[call-arg]


@kernel
def byte_swapped(word: int) -> int:
    """Return a word of 64 bits with its bytes in the opposite order."""
    return _byte_swap(word)  # type: ignore[call-arg]


@kernel
def list_legal(mask: Int8s, actions: Int64s) -> int:
    """Write the actions whose entry in ``mask[num_actions]`` is 1, in ascending order, to ``actions``; return their number.

    Eight entries are skipped at once if they are zeros. ``actions`` has room for all actions.
    """
    num_actions = mask.shape[0]
    rest = num_actions // 8 * 8
    words = mask[:rest].view(np.uint64)
    num_legal = 0
    for index in range(words.shape[0]):
        word = words[index]
        while word:
            actions[num_legal] = 8 * index + (lowest_bit(word) >> 3)
            num_legal += 1
            word &= word - np.uint64(1)
    for action in range(rest, num_actions):
        if mask[action]:
            actions[num_legal] = action
            num_legal += 1
    return num_legal
