"""Targets other than this machine's processor: the LLVM code of declared entry functions, for another machine.

Numba turns kernels into LLVM code for the processor. Before it is optimized, that code is nearly independent of the machine, and
LLVM compiles it for every target that llvmlite was built with. An *entry function* is what the other machine can call, a function
of numbers and pointers: :func:`entry_function` makes one of a template, :func:`compile_entries` makes a module of several.

What numba has compiled in a process it does not compile again, so the code is unoptimized only in a process of its own, with
the variables of :func:`environment`.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba.core.codegen
import numba.core.config
import numba.core.cpu
import numpy as np
from numba import carray, types

from stoneworks.envs.rules.compiler.compiler import njit, signature_of, with_kernels
from stoneworks.envs.rules.compiler.kernel_cache import cache_folder, digest_of

_codegen: Any = numba.core.codegen
_config: Any = numba.core.config
_cpu: Any = numba.core.cpu
_types: Any = types
_llvm: Any = llvm

_OPTIONS = {"error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
_NOTHING = np.dtype([])

#: LLVM code for targets in which a block of memory belongs to one thread: reference counts without atomic instructions and
#: fences, and inlined, so that most of them vanish. Numba's are calls.
REFERENCE_COUNTS = """
declare void @NRT_MemInfo_call_dtor(ptr)

define void @NRT_incref(ptr %block) alwaysinline {
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %count
count:
  %before = load i64, ptr %block
  %after = add i64 %before, 1
  store i64 %after, ptr %block
  br label %done
done:
  ret void
}

define void @NRT_decref(ptr %block) alwaysinline {
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %count
count:
  %before = load i64, ptr %block
  %after = sub i64 %before, 1
  store i64 %after, ptr %block
  %unused = icmp eq i64 %after, 0
  br i1 %unused, label %free, label %done
free:
  call void @NRT_MemInfo_call_dtor(ptr %block)
  br label %done
done:
  ret void
}
"""


def blocks(header_bytes: int) -> str:
    """Return LLVM code of blocks of memory with the data ``header_bytes`` after the begin, by the target's ``NRT_Allocate``.

    A block begins with numba's header: reference count, destructor and its argument, data, size, allocator. The target gives back
    the last block in ``NRT_MemInfo_call_dtor``, as soon as it is no longer used, and others not at all.
    """
    return f"""
%block = type {{ i64, ptr, ptr, ptr, i64, ptr }}
declare void @llvm.trap()

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {{
  %all = add i64 %size, {header_bytes}
  %place = call ptr @NRT_Allocate(i64 %all)
  store i64 1, ptr %place
  %data = getelementptr i8, ptr %place, i32 {header_bytes}
  %at_data = getelementptr %block, ptr %place, i32 0, i32 3
  store ptr %data, ptr %at_data
  %at_size = getelementptr %block, ptr %place, i32 0, i32 4
  store i64 %size, ptr %at_size
  ret ptr %place
}}

define void @NRT_Free(ptr %place) {{
  ret void
}}
"""


class TargetError(RuntimeError):
    """Raised when code for a target cannot be made on this machine. The message names what is missing and where it is found."""


class EntryFunction(NamedTuple):
    """A function that another machine can call.

    Attributes:
        name: its name in the module.
        function: a Python function that numba compiles.
        arguments: the numba types of its arguments: numbers and ``CPointer``.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Target(NamedTuple):
    """What differs between targets.

    Attributes:
        triple: LLVM's name of the target.
        cpu: LLVM's name of the processor.
        features: its features, as LLVM takes them.
        run_time: LLVM code of the functions for memory that compiled kernels call, without data layout and triple.
        wrap: returns LLVM code of the function that the other machine calls in place of an entry function, from the name and the
            LLVM types of the arguments. It calls ``@NAME.one``, which returns nothing.
        library: functions that take the place of those of the C library (see ``renamed``).
        kept: functions of the run time that the other machine can call as well.
        renamed: functions that have another name on the target.
        vectorizes: whether loops become vector operations.
        relocation: LLVM's relocation model.
    """

    triple: str
    cpu: str
    features: str
    run_time: str
    wrap: Callable[[str, Sequence[str]], str] | None = None
    library: tuple[EntryFunction, ...] = ()
    kept: tuple[str, ...] = ()
    renamed: Mapping[str, str] = {"sqrt": "llvm.sqrt.f64"}
    vectorizes: bool = True
    relocation: str = "static"


def environment() -> dict[str, str]:
    """Return environment variables for a process that calls :func:`compile_entries`.

    Its cache is apart: kernels that are called in that process are slow.
    """
    folder = cache_folder()
    apart = {} if folder is None else {"STONEWORKS_CACHE_DIR": str(folder.parent / "unoptimized")}
    return {**os.environ, "NUMBA_OPT": "0", **apart}


def entry_function(
    name: str,
    template: Callable[..., Any],
    game_kernels: Mapping[str, Any],
    board: np.dtype[Any] = _NOTHING,
    state: np.dtype[Any] = _NOTHING,
    per_thread: Sequence[str] = (),
) -> EntryFunction:
    """Return a template for one game as an entry function.

    Its arguments are those of the template: a pointer and the ``int32`` length of each axis for an array, the fields for a named
    tuple, ``int32`` for an integer of 64 bits, and other numbers as they are.

    Args:
        name: name of the entry function.
        template: a function with annotated arguments (see :func:`stoneworks.envs.rules.compiler.compiler.specialize`).
        game_kernels: kernels by name that replace globals of the template.
        board: dtype of the board constants.
        state: dtype of the states.
        per_thread: arrays of which the template gets one row. The first argument of the entry function is then the row, ``int32``.
    """
    compiled = njit(_nrt=True, **_OPTIONS)(with_kernels(template, name, game_kernels))
    names: dict[str, Any] = {"template": compiled, "carray": carray, "int64": np.int64}
    arguments: list[Any] = [types.int32] if per_thread else []

    def argument(kind: Any, of_template: str = "") -> str:
        number = len(arguments)
        if isinstance(kind, _types.BaseNamedTuple):
            names[kind.instance_class.__name__] = kind.instance_class
            return f"{kind.instance_class.__name__}({', '.join(argument(field) for field in kind)})"
        if isinstance(kind, types.Array):
            arguments.extend([_types.CPointer(kind.dtype), *[types.int32] * kind.ndim])
            lengths = "".join(f"a{number + 1 + axis}, " for axis in range(kind.ndim))
            row = "[int64(a0) : int64(a0) + 1]" if of_template in per_thread else ""
            return f"carray(a{number}, ({lengths})){row}"
        arguments.append(types.int32 if kind == types.int64 else kind)
        return f"int64(a{number})" if kind == types.int64 else f"a{number}"

    call = ", ".join(map(argument, signature_of(template, board, state), inspect.get_annotations(template)))
    inputs = ", ".join(f"a{number}" for number in range(len(arguments)))
    exec(f"def entry({inputs}):\n    return template({call})", names)  # numba takes no variable arguments from C
    return EntryFunction(name, names["entry"], tuple(arguments))


def library_of(functions: Mapping[str, Callable[..., Any]]) -> tuple[EntryFunction, ...]:
    """Return ``Target.library`` with functions in place of those of the C library, by name."""
    return tuple(entry_function(f"accurate_{name}", function, {}) for name, function in functions.items())


def renamed(functions: Iterable[str]) -> dict[str, str]:
    """Return the names that ``Target.renamed`` must contain for :func:`library_of`."""
    intrinsics = {name: f"llvm.{name.removesuffix('f')}.f{32 if name.endswith('f') else 64}" for name in functions}
    return {called: f"accurate_{name}" for name, intrinsic in intrinsics.items() for called in (name, intrinsic)}


def digest(entries: Sequence[EntryFunction], modules: Sequence[ModuleType], *others: Any) -> str:
    """Return a digest of entry functions, of the source of ``modules`` that compile them, and of ``others``, for cached code."""
    kernels = [(entry.name, digest_of(entry.function, entry.arguments)) for entry in entries]
    source = [Path(str(module.__file__)).read_bytes() for module in (sys.modules[__name__], *modules)]
    return hashlib.sha256(repr((kernels, source, others)).encode()).hexdigest()[:24]


def compile_entries(target: Target, entries: Sequence[EntryFunction]) -> tuple[Any, Any]:
    """Return an optimized module with the entry functions, and the machine (of :mod:`llvmlite.binding`) that emits its code.

    An entry function returns what its Python function does; see :class:`Target` for the exception. Kernels do not raise.

    Raises:
        TargetError: the process was not started with :func:`environment`, or llvmlite does not have the target.
    """
    if _config.OPT != 0:
        raise TargetError("numba has optimized for the processor; start a process with targets.environment()")
    if not hasattr(_llvm, "create_pass_builder"):
        raise TargetError("this llvmlite is too old to compile for other targets: it has no create_pass_builder")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        found = llvm.Target.from_triple(target.triple)
    except RuntimeError as error:
        raise TargetError(f"this llvmlite has no target {target.triple}: {error}") from None
    machine = found.create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc=target.relocation, codemodel="default"
    )
    header = f'target datalayout = "{machine.target_data}"\ntarget triple = "{target.triple}"\n'
    module = llvm.parse_assembly(header + target.run_time)
    module.link_in(llvm.parse_assembly(header + REFERENCE_COUNTS))
    with _machine_code_left_out():
        for entry in target.library:
            module.link_in(_module_of(entry, target._replace(wrap=None), header))
        for entry in entries:
            module.link_in(_module_of(entry, target, header))
    exported = {*target.kept, *(entry.name for entry in entries)}
    for function in module.functions:
        if not function.is_declaration and function.name not in exported:
            function.linkage = "internal"
    tuning = _llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = target.vectorizes
    builder = _llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return module, machine


@contextmanager
def _machine_code_left_out() -> Iterator[None]:
    """Let numba stop at LLVM code: what is compiled meanwhile cannot be called in this process."""

    def get_executable(_: Any, library: Any, *__: Any) -> Any:
        library._ensure_finalized()
        return [].append  # a function in C, another for each kernel

    replaced: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
        (_cpu.CPUContext, "create_cpython_wrapper", lambda *_, **__: None),
        (_cpu.CPUContext, "get_executable", get_executable),
        (_codegen.JITCPUCodegen, "_add_module", lambda *_: None),
        (_codegen.JITCodeLibrary, "_finalize_specific", lambda _: None),
    )
    before = [getattr(owner, name) for owner, name, _ in replaced]
    for owner, name, function in replaced:
        setattr(owner, name, function)
    try:
        yield
    finally:
        for (owner, name, _), function in zip(replaced, before, strict=True):
            setattr(owner, name, function)


def _module_of(entry: EntryFunction, target: Target, header: str) -> Any:
    """Return the module of one entry function, which is a wrapper without numba's outputs for results and errors."""
    function = with_kernels(entry.function, entry.name, {})
    compiled = njit(_nrt=True, **_OPTIONS)(function)
    compiled.compile(entry.arguments)
    (result,) = compiled.overloads.values()
    context, symbol = result.target_context, result.fndesc.llvm_func_name
    types_ = [str(context.get_value_type(kind)) for kind in entry.arguments]
    types_ = ["ptr" if kind.endswith("*") else "i8" if kind == "i1" else kind for kind in types_]
    returns = result.signature.return_type
    returned = "ptr" if returns == types.none or target.wrap else str(context.get_value_type(returns))
    code = re.sub(r'target (datalayout|triple) = ".*"\n', "", result.library.get_llvm_str())
    code = code.replace(" = common ", " = internal ")  # numba's; wasm has no such symbols
    for name, other in target.renamed.items():
        code = re.sub(rf'@"?{re.escape(name)}"?(?=\()', f"@{other}", code)
    inputs = ", ".join(f"{kind} %a{number}" for number, kind in enumerate(types_))
    gives = "ret void" if returned == "ptr" else f"%value = load {returned}, ptr %result\n  ret {returned} %value"
    wrapper = f"""
define {"void" if returned == "ptr" else returned} @{entry.name}{".one" if target.wrap else ""}({inputs}) {{
  %result = alloca {returned}
  %error = alloca ptr
  %status = call i32 @{symbol}({", ".join(["ptr %result", "ptr %error", *filter(None, [inputs])])})
  {gives}
}}
"""
    wrapper += target.wrap(entry.name, types_) if target.wrap else ""
    module = llvm.parse_assembly(header + code + wrapper)
    module.verify()
    return module
