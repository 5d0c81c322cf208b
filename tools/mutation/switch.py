"""``mutated``: whether a mutant is active, read by mutated code in Python and in compiled kernels."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

#: Environment variable with the number of the active mutant, for processes that tests start.
ACTIVE_VARIABLE = "STONEWORKS_MUTANT"
MAX_MUTANTS = 1 << 16

_active = (ctypes.c_int64 * 1)(int(os.environ.get(ACTIVE_VARIABLE, "-1")))
_reached = (ctypes.c_uint8 * MAX_MUTANTS)()
# Machine code refers to both by name, so that it can be cached on disk.
llvmlite.binding.add_symbol("stoneworks_active_mutant", ctypes.addressof(_active))
llvmlite.binding.add_symbol("stoneworks_reached_mutants", ctypes.addressof(_reached))


def mutated(number: int) -> bool:
    """Return whether the mutant of this number is active, and note that its place was reached."""
    _reached[number] = 1
    return _active[0] == number


def activate(number: int) -> None:
    """Make one mutant the active one in this process and in those that it starts; none if the number is negative."""
    _active[0] = number
    os.environ[ACTIVE_VARIABLE] = str(number)


def take_reached() -> list[int]:
    """Return the numbers of the mutants whose places were reached since the last call."""
    numbers = [number for number, reached in enumerate(bytes(_reached)) if reached]
    ctypes.memset(_reached, 0, MAX_MUTANTS)
    return numbers


@intrinsic
def _mutated_in_kernel(_typing: Any, number: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        active = cgutils.add_global_variable(builder.module, ir.IntType(64), "stoneworks_active_mutant")
        reached = cgutils.add_global_variable(
            builder.module, ir.ArrayType(ir.IntType(8), MAX_MUTANTS), "stoneworks_reached_mutants"
        )
        place = builder.gep(reached, [ir.Constant(ir.IntType(64), 0), arguments[0]])
        builder.store(ir.Constant(ir.IntType(8), 1), place)
        return builder.icmp_signed("==", builder.load(active), arguments[0])

    return types.boolean(types.int64), generate


_in_kernel: Any = _mutated_in_kernel  # numba adds the first argument


@overload(mutated)
def _overload_mutated(number: Any) -> Any:
    def in_kernel(number: Any) -> Any:
        return _in_kernel(number)

    return in_kernel
