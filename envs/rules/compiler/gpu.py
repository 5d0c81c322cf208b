"""The target ``gpu``: code for NVIDIA's cards (PTX) in which each thread plays a game, and the same code for the processor.

An entry function that takes the number of a thread (see ``per_thread`` of
:func:`stoneworks.envs.rules.compiler.targets.entry_function`) becomes a function that the card runs in many threads. With
n threads and more rows, each thread takes every n-th row.

What kernels allocate comes from an *arena*, memory of the caller with the same room for each thread. It is empty again for each
row. A thread that needs more room stops the program.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import llvmlite.binding as llvm
from numba import types

from stoneworks.envs.rules.compiler.accurate_functions import (
    accurate_exp,
    accurate_expf,
    accurate_log,
    accurate_tanh,
)
from stoneworks.envs.rules.compiler.targets import (
    EntryFunction,
    Target,
    TargetError,
    blocks,
    compile_entries,
    library_of,
    renamed,
)
from stoneworks.extras import require_extra

#: Threads of a block, which start and end together.
THREADS_PER_BLOCK = 128
#: Threads of a call, at most: more than any card runs at a time. More rows are shared by these, which bounds the arena.
MAX_THREADS = 1 << 17
#: Threads of the processor's version: few, so that tests see threads with several rows.
EMULATED_THREADS = 3

# ``@free`` is the address of each thread's free room.
_RUN_TIME = f"""{blocks(header_bytes=48)}
@free = internal addrspace(3) global [{THREADS_PER_BLOCK} x ptr] undef
@end = internal addrspace(3) global [{THREADS_PER_BLOCK} x ptr] undef

define ptr @NRT_Allocate(i64 %size) {{
  %thread = call i32 @thread_of_block()
  %at_free = getelementptr [{THREADS_PER_BLOCK} x ptr], ptr addrspace(3) @free, i32 0, i32 %thread
  %at_end = getelementptr [{THREADS_PER_BLOCK} x ptr], ptr addrspace(3) @end, i32 0, i32 %thread
  %last = load ptr, ptr addrspace(3) %at_free
  %room_end = load ptr, ptr addrspace(3) %at_end
  %address = ptrtoint ptr %last to i64
  %above = add i64 %address, 15
  %begin = and i64 %above, -16
  %place = inttoptr i64 %begin to ptr
  %next = getelementptr i8, ptr %place, i64 %size
  %full = icmp ugt ptr %next, %room_end
  br i1 %full, label %stop, label %done
stop:
  call void @llvm.trap()
  unreachable
done:
  store ptr %next, ptr addrspace(3) %at_free
  ret ptr %place
}}

define void @NRT_MemInfo_call_dtor(ptr %place) {{
  %thread = call i32 @thread_of_block()
  %at_free = getelementptr [{THREADS_PER_BLOCK} x ptr], ptr addrspace(3) @free, i32 0, i32 %thread
  %at_data = getelementptr %block, ptr %place, i32 0, i32 3
  %data = load ptr, ptr %at_data
  %at_size = getelementptr %block, ptr %place, i32 0, i32 4
  %size = load i64, ptr %at_size
  %after = getelementptr i8, ptr %data, i64 %size
  %last = load ptr, ptr addrspace(3) %at_free
  %is_last = icmp eq ptr %after, %last
  %free = select i1 %is_last, ptr %place, ptr %last
  store ptr %free, ptr addrspace(3) %at_free
  ret void
}}
"""

_THREADS = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

define i32 @thread_of_block() {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %thread
}

define i32 @first_row() {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %per_block = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %before = mul i32 %block, %per_block
  %first = add i32 %before, %thread
  ret i32 %first
}

define i32 @num_threads() {
  %per_block = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %threads = mul i32 %blocks, %per_block
  ret i32 %threads
}
"""

_NO_THREADS = f"""
define i32 @thread_of_block() {{
  ret i32 0
}}

@thread = global i32 0
define i32 @first_row() {{
  %first = load i32, ptr @thread
  ret i32 %first
}}

define i32 @num_threads() {{
  ret i32 {EMULATED_THREADS}
}}

define void @set_thread(i32 %thread) {{
  store i32 %thread, ptr @thread
  ret void
}}
"""

_CHECKS = """
@misaligned = global i64 0
define i64 @num_misaligned() {
  %number = load i64, ptr @misaligned
  ret i64 %number
}

define void @check_alignment(ptr %place, i64 %alignment) noinline {
  %address = ptrtoint ptr %place to i64
  %ones = sub i64 %alignment, 1
  %rest = and i64 %address, %ones
  %wrong = icmp ne i64 %rest, 0
  %one = zext i1 %wrong to i64
  %before = load i64, ptr @misaligned
  %after = add i64 %before, %one
  store i64 %after, ptr @misaligned
  ret void
}
"""
#: Accesses to memory in LLVM code, each with the address and the alignment that the compiler relies on.
_ACCESS = re.compile(r'^\s+(?:%\S+ = load|store) .*ptr (?P<address>[%@][-\w.$"]+), align (?P<alignment>\d+)')
_COPY = re.compile(r'align (?P<alignment>\d+)(?: dereferenceable(?:_or_null)?\(\d+\))* (?P<address>[%@][-\w.$"]+)')


def _wrapper(name: str, argument_types: Sequence[str], convention: str) -> str:
    """Return the function that every thread runs: a loop over its rows. The first argument of an entry function is the row."""
    inputs = "".join(f", {kind} %a{number}" for number, kind in enumerate(argument_types) if number)
    return f"""
declare i32 @first_row()
declare i32 @num_threads()
declare void @use_room(ptr, ptr)
define {convention} void @{name}(ptr %arena, i64 %room, i32 %rows{inputs}) {{
start:
  %first = call i32 @first_row()
  %stride = call i32 @num_threads()
  %thread = zext i32 %first to i64
  %offset = mul i64 %thread, %room
  %free = getelementptr i8, ptr %arena, i64 %offset
  %end = getelementptr i8, ptr %free, i64 %room
  br label %check
check:
  %row = phi i32 [ %first, %start ], [ %next, %play ]
  %more = icmp slt i32 %row, %rows
  br i1 %more, label %play, label %done
play:
  call void @use_room(ptr %free, ptr %end)
  call void @{name}.one(i32 %row{inputs})
  %next = add i32 %row, %stride
  br label %check
done:
  ret void
}}
"""


_USE_ROOM = f"""
define void @use_room(ptr %free, ptr %end) {{
  %thread = call i32 @thread_of_block()
  %at_free = getelementptr [{THREADS_PER_BLOCK} x ptr], ptr addrspace(3) @free, i32 0, i32 %thread
  %at_end = getelementptr [{THREADS_PER_BLOCK} x ptr], ptr addrspace(3) @end, i32 0, i32 %thread
  store ptr %free, ptr addrspace(3) %at_free
  store ptr %end, ptr addrspace(3) %at_end
  ret void
}}
"""


#: Functions of the C library by name, which a card has none of.
_LIBRARY: dict[str, Callable[..., Any]] = {
    "exp": accurate_exp,
    "log": accurate_log,
    "expf": accurate_expf,
    "tanh": accurate_tanh,
}


def gpu() -> Target:
    """Return the target: cards from compute capability 8.0 (2020) on, drivers from CUDA 12.0 on."""
    return Target(
        triple="nvptx64-nvidia-cuda",
        cpu="sm_80",
        features="+ptx80",
        run_time=_THREADS + _RUN_TIME + _USE_ROOM,
        wrap=lambda name, kinds: _wrapper(name, kinds, "ptx_kernel"),
        library=library_of(_LIBRARY),
        renamed={"sqrt": "llvm.sqrt.f64", **renamed(_LIBRARY)},
        vectorizes=False,
    )


def emulated() -> Target:
    """Return the target ``gpu`` for this machine's processor, on which one thread runs after another.

    Addresses are checked: a card stops at one that is not aligned as the compiler assumed, which a processor does not mind.
    """
    return Target(
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features="",
        run_time=(_NO_THREADS + _RUN_TIME + _USE_ROOM).replace("addrspace(3) ", ""),
        wrap=lambda name, kinds: _wrapper(name, kinds, ""),
        kept=("set_thread",),
        library=library_of(_LIBRARY),
        renamed=renamed(_LIBRARY),
        vectorizes=False,
        relocation="pic",
    )


def build_program(target: Target, entries: Sequence[EntryFunction]) -> bytes:
    """Return the program of entry functions for :func:`gpu` (PTX) or :func:`emulated` (an object file).

    Raises:
        TargetError: a kernel calls a function that the card does not have, or see
            :func:`stoneworks.envs.rules.compiler.targets.compile_entries`.
    """
    module, machine = compile_entries(target, entries)
    if target.triple != gpu().triple:
        return bytes(machine.emit_object(llvm.parse_assembly(_with_checks(str(module)))))
    missing = [one.name for one in module.functions if one.is_declaration and not one.name.startswith("llvm.")]
    if missing:
        raise TargetError(f"kernels for a GPU cannot call {', '.join(missing)}")
    return str(machine.emit_assembly(module)).encode()


def _with_checks(code: str) -> str:
    """Return LLVM code with a call of ``check_alignment`` before each access to memory."""
    lines = []
    for line in code.splitlines():
        accesses = _COPY.finditer(line) if "call void @llvm.mem" in line else _ACCESS.finditer(line)
        for one in accesses:
            lines.append(f"  call void @check_alignment(ptr {one['address']}, i64 {one['alignment']})")
        lines.append(line)
    return "\n".join([*lines, _CHECKS])


# -- Running programs --------------------------------------------------------------------------------------------------


class DeviceError(RuntimeError):
    """Raised when there is no card, or when it refuses a program or a call. The message has the driver's words."""


class Program(Protocol):
    """A program on a device."""

    def launch(self, name: str, num_rows: int, arguments: Sequence[Any], arena: int, room: int) -> None:
        """Run an entry function for each of ``num_rows`` rows, in order with other work of the device's stream.

        Args:
            name: the entry function.
            num_rows: number of rows.
            arguments: ``ctypes`` values for all arguments but the row.
            arena: address of the arena on the device.
            room: bytes of the arena for each thread, a multiple of 16.
        """


#: ``ctypes`` of the arguments of entry functions.
_CTYPES = {types.int32: ctypes.c_int32, types.boolean: ctypes.c_uint8, types.uint64: ctypes.c_uint64}


def c_type(kind: Any) -> Any:
    """Return the type of ``ctypes`` for an argument of an entry function."""
    return ctypes.c_void_p if isinstance(kind, types.CPointer) else _CTYPES[kind]


def num_blocks(num_rows: int) -> int:
    """Return the number of blocks of threads for ``num_rows`` rows."""
    return min(-(-num_rows // THREADS_PER_BLOCK), MAX_THREADS // THREADS_PER_BLOCK)


class CudaProgram:
    """A program on one of NVIDIA's cards."""

    def __init__(self, code: bytes, device: str) -> None:
        """Load PTX, which the driver translates for the card and keeps in a cache of its own.

        Raises:
            MissingDependencyError: ``cuda-bindings`` is not installed.
            DeviceError: the driver refuses the program.
        """
        with require_extra("gpu", "games on a GPU"):
            import torch
            from cuda.bindings import driver
        self._driver, self._torch, self._device = driver, torch, torch.device(device)
        self._functions: dict[str, Any] = {}
        with torch.cuda.device(self._device):
            torch.cuda.current_stream().synchronize()  # creates the context that the program is loaded into
            self._module = self._checked(driver.cuModuleLoadData(code + b"\0"))

    def launch(self, name: str, num_rows: int, arguments: Sequence[Any], arena: int, room: int) -> None:
        """Run an entry function; see :class:`Program`.

        Raises:
            DeviceError: the driver refuses the call, or an earlier one failed.
        """
        if name not in self._functions:
            self._functions[name] = self._checked(self._driver.cuModuleGetFunction(self._module, name.encode()))
        values = [ctypes.c_void_p(arena), ctypes.c_int64(room), ctypes.c_int32(num_rows), *arguments]
        addresses = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        with self._torch.cuda.device(self._device):
            stream = self._torch.cuda.current_stream().cuda_stream
            shape = num_blocks(num_rows), 1, 1, THREADS_PER_BLOCK, 1, 1
            self._checked(
                self._driver.cuLaunchKernel(self._functions[name], *shape, 0, stream, ctypes.addressof(addresses), 0)
            )

    def _checked(self, result: tuple[Any, ...]) -> Any:
        error, *value = result
        if int(error):
            _, words = self._driver.cuGetErrorString(error)
            raise DeviceError(f"{self._device}: {error.name}: {words.decode()}")
        return value[0] if value else None


class EmulatedProgram:
    """The program for this machine's processor, which runs one thread after another."""

    def __init__(self, code: bytes) -> None:
        """Load an object file."""
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
        self._engine: Any = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def launch(self, name: str, num_rows: int, arguments: Sequence[Any], arena: int, room: int) -> None:
        """Run an entry function; see :class:`Program`.

        Raises:
            DeviceError: an address is not aligned.
        """
        head = ctypes.c_void_p(arena), ctypes.c_int64(room), ctypes.c_int32(num_rows)
        values = *head, *arguments
        function = ctypes.CFUNCTYPE(None, *map(type, values))(self._engine.get_function_address(name))
        set_thread = ctypes.CFUNCTYPE(None, ctypes.c_int32)(self._engine.get_function_address("set_thread"))
        for thread in range(EMULATED_THREADS):
            set_thread(thread)
            function(*values)
        if number := ctypes.CFUNCTYPE(ctypes.c_int64)(self._engine.get_function_address("num_misaligned"))():
            raise DeviceError(f"{name}: {number} addresses are not aligned")
