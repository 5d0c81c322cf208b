"""The target ``browser``: WebAssembly modules of entry functions.

A module imports ``tanh`` and its like from JavaScript's ``Math``, and exports its memory, the entry functions, and
``__heap_base``, from which on the memory is the caller's. What kernels allocate comes from behind the address that
``set_heap`` was last called with; the memory grows as needed.

The linker is ``wasm-ld`` of LLVM. It is needed where modules are built, and nowhere else.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.targets import (
    EntryFunction,
    Target,
    TargetError,
    blocks,
    compile_entries,
    library_of,
    renamed,
)

# Blocks end where they were asked to, which the heap remembers.
_RUN_TIME = """
@heap = internal global i32 0
declare i32 @llvm.wasm.memory.size.i32(i32)
declare i32 @llvm.wasm.memory.grow.i32(i32, i32)

define void @set_heap(i32 %begin) {
  store i32 %begin, ptr @heap
  ret void
}

define ptr @NRT_Allocate(i64 %size) {
  %last = load i32, ptr @heap
  %above = add i32 %last, 63
  %begin = and i32 %above, -64
  %bytes = trunc i64 %size to i32
  %end = add i32 %begin, %bytes
  store i32 %end, ptr @heap
  %pages = call i32 @llvm.wasm.memory.size.i32(i32 0)
  %needed = lshr i32 %end, 16
  %missing = sub i32 %needed, %pages
  %fits = icmp slt i32 %missing, 0
  br i1 %fits, label %done, label %grow
grow:
  %more = add i32 %missing, 64
  %before = call i32 @llvm.wasm.memory.grow.i32(i32 0, i32 %more)
  %failed = icmp eq i32 %before, -1
  br i1 %failed, label %full, label %done
full:
  call void @llvm.trap()
  unreachable
done:
  %place = inttoptr i32 %begin to ptr
  ret ptr %place
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %place = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 64)
  ret ptr %place
}

define void @NRT_MemInfo_call_dtor(ptr %place) {
  %at_size = getelementptr %block, ptr %place, i32 0, i32 4
  %size = load i64, ptr %at_size
  %bytes = trunc i64 %size to i32
  %begin = ptrtoint ptr %place to i32
  %data = add i32 %begin, 64
  %end = add i32 %data, %bytes
  %last = load i32, ptr @heap
  %is_last = icmp eq i32 %end, %last
  %heap = select i1 %is_last, i32 %begin, i32 %last
  store i32 %heap, ptr @heap
  ret void
}

define void @PyErr_SetString(ptr %kind, ptr %text) {
  call void @llvm.trap()
  unreachable
}

; The product of two numbers of 128 bits, which LLVM calls to see whether the size of an array overflows.
; Optimized, it calls itself.
define void @__multi3(ptr %result, i64 %a, i64 %a_high, i64 %b, i64 %b_high) noinline optnone {
  %a0 = and i64 %a, 4294967295
  %a1 = lshr i64 %a, 32
  %b0 = and i64 %b, 4294967295
  %b1 = lshr i64 %b, 32
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %p10 = mul i64 %a1, %b0
  %p11 = mul i64 %a1, %b1
  %carry = lshr i64 %p00, 32
  %p01_low = and i64 %p01, 4294967295
  %sum_1 = add i64 %carry, %p01_low
  %middle = add i64 %sum_1, %p10
  %p01_high = lshr i64 %p01, 32
  %middle_high = lshr i64 %middle, 32
  %sum_2 = add i64 %p11, %p01_high
  %sum_3 = add i64 %sum_2, %middle_high
  %cross_1 = mul i64 %a, %b_high
  %cross_2 = mul i64 %a_high, %b
  %sum_4 = add i64 %sum_3, %cross_1
  %high = add i64 %sum_4, %cross_2
  %low = mul i64 %a, %b
  store i64 %low, ptr %result
  %at_high = getelementptr i8, ptr %result, i32 8
  store i64 %high, ptr %at_high
  ret void
}
"""


# -- Exponential and logarithm ---------------------------------------------------------------------------------------------
#
# JavaScript's are off by a bit in every tenth and hundredth result, and in other results in each browser. These compute with
# twice the precision, so that all browsers round as the C library does, which is off in one of a thousand.


@kernel
def _product(a: float, b: float) -> tuple[float, float]:
    """Return a product and its rounding error (Dekker, 1971)."""
    scaled_a, scaled_b = 134217729.0 * a, 134217729.0 * b
    high_a, high_b = scaled_a - (scaled_a - a), scaled_b - (scaled_b - b)
    low_a, low_b, product = a - high_a, b - high_b, a * b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


@kernel
def _sum(a: float, b: float) -> tuple[float, float]:
    """Return a sum and its rounding error (Knuth, 1969)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel
def _times(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """Return the product of two numbers of twice the precision."""
    high, low = _product(a[0], b[0])
    return _sum(high, low + (a[0] * b[1] + a[1] * b[0]))


@kernel
def _plus(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """Return the sum of two numbers of twice the precision."""
    high, low = _sum(a[0], b[0])
    return _sum(high, low + (a[1] + b[1]))


_LN_2 = 0.6931471805599453, 2.3190468138462996e-17
_THIRD = 0.3333333333333333, 1.850371707708594e-17


def accurate_exp(x: float) -> float:
    """Return the exponential of ``x``, rounded nearly always to the nearest number."""
    if not x < 709.0:
        return x if math.isnan(x) else np.inf if x > 709.78 else math.e * accurate_exp_in_range(x - 1.0)
    return 0.0 if x < -745.0 else accurate_exp_in_range(x)


@kernel
def accurate_exp_in_range(x: float) -> float:
    """Return the exponential of ``x`` from -745 to 709."""
    power = np.floor(x / _LN_2[0] + 0.5)
    product = _times((_LN_2[0], _LN_2[1]), (-power, 0.0))
    rest = _plus((x, 0.0), product)
    high, low = rest[0] / 2, rest[1] / 2  # the exponential of half of it is squared
    series = 1 / 40320 + high * (1 / 362880 + high * (1 / 3628800 + high * (1 / 39916800 + high / 479001600)))
    series = 1 / 6 + high * (1 / 24 + high * (1 / 120 + high * (1 / 720 + high * (1 / 5040 + high * series))))
    square = _times((high, low), (high, low))
    value = _plus((square[0] / 2, square[1] / 2), (high * high * high * series, 0.0))
    value = _plus((high, low), value)  # without the 1, which is added last
    value = _plus((2 * value[0], 2 * value[1]), _times(value, value))
    value = _plus((1.0, 0.0), value)
    half = np.floor(power / 2)  # each of the two powers is a normal number
    return (value[0] + value[1]) * _power_of_2(half) * _power_of_2(power - half)


@kernel
def _power_of_2(power: float) -> float:
    return np.int64((np.int64(power) + 1023) << 52).view(np.float64)


def accurate_log(x: float) -> float:
    """Return the natural logarithm of ``x``, rounded nearly always to the nearest number."""
    if not 0.0 < x < np.inf:
        return -np.inf if x == 0.0 else x if x > 0.0 else np.nan
    normal = x * 2.0**54 if x < 2.3e-308 else x
    bits = np.float64(normal).view(np.int64)
    exponent = (bits >> 52) - (1023 if normal == x else 1077)
    mantissa = np.int64((bits & (2**52 - 1)) | (1023 << 52)).view(np.float64)
    if mantissa > 1.4142135623730951:
        mantissa, exponent = mantissa / 2, exponent + 1
    above, below = mantissa - 1.0, _sum(mantissa, 1.0)  # log(m) = 2 artanh((m - 1) / (m + 1))
    ratio = above / below[0]
    back = _times((ratio, 0.0), (below[0], below[1]))
    ratio_and_error = _sum(ratio, ((above - back[0]) - back[1]) / below[0])
    square = _times(ratio_and_error, ratio_and_error)
    s = square[0]
    series = 1 / 9 + s * (1 / 11 + s * (1 / 13 + s * (1 / 15 + s * (1 / 17 + s * (1 / 19 + s * (1 / 21 + s / 23))))))
    series = 1 / 5 + s * (1 / 7 + s * series)
    cubic = _times(square, _plus((_THIRD[0], _THIRD[1]), (s * series, 0.0)))
    value = _plus(ratio_and_error, _times(ratio_and_error, cubic))
    value = _plus((2 * value[0], 2 * value[1]), _times((_LN_2[0], _LN_2[1]), (float(exponent), 0.0)))
    return value[0] + value[1]


#: Functions of the C library by name.
LIBRARY = {"exp": accurate_exp, "log": accurate_log}


def browser() -> Target:
    """Return the target."""
    return Target(
        triple="wasm32-unknown-unknown",
        cpu="generic",
        features="+bulk-memory,+nontrapping-fptoint,+sign-ext,+simd128",
        run_time=blocks(header_bytes=64) + _RUN_TIME,
        renamed={"sqrt": "llvm.sqrt.f64", **renamed(LIBRARY)},
        library=library_of(LIBRARY),
        kept=("set_heap", "__multi3"),
    )


def find_linker() -> str:
    """Return the path of ``wasm-ld``.

    Raises:
        TargetError: it is not installed.
    """
    found = shutil.which("wasm-ld")
    if found is None:
        raise TargetError("modules for browsers need the linker wasm-ld: apt-get update && apt-get install --yes lld")
    return found


def build_module(entries: Sequence[EntryFunction]) -> bytes:
    """Return a WebAssembly module of entry functions.

    Raises:
        TargetError: the linker is missing or fails, or see :func:`stoneworks.envs.rules.compiler.targets.compile_entries`.
    """
    linker = find_linker()
    module, machine = compile_entries(browser(), entries)
    with tempfile.TemporaryDirectory() as folder:
        code, linked = Path(folder) / "code.o", Path(folder) / "linked.wasm"
        code.write_bytes(machine.emit_object(module))
        exports = [f"--export={name}" for name in ("set_heap", "__heap_base", *(entry.name for entry in entries))]
        options: list[Any] = ["--no-entry", "--allow-undefined", "--strip-all", "-O2", "--gc-sections", *exports]
        done = subprocess.run([linker, *options, "-o", linked, code], capture_output=True, text=True, check=False)
        if done.returncode:
            raise TargetError(f"wasm-ld failed: {done.stderr.strip()}")
        return linked.read_bytes()
