"""The target ``browser``: WebAssembly modules of entry functions.

A module imports ``tanh`` and its like from JavaScript's ``Math``, and exports its memory, the entry functions, and
``__heap_base``, from which on the memory is the caller's. What kernels allocate comes from behind the address that
``set_heap`` was last called with; the memory grows as needed.

The linker is ``wasm-ld`` of LLVM. It is needed where modules are built, and nowhere else.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stoneworks.envs.rules.compiler.accurate_functions import accurate_exp, accurate_log
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
