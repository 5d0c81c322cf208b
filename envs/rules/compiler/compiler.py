"""The compiler: kernels, and templates specialized for one game.

Terms:

- A *kernel* is a function over records that numba compiles (:func:`kernel`, or :func:`inlined` for inner loops). A game gives
  the kernels of :mod:`stoneworks.envs.rules.contract`.
- A *template* is an operation on them that is written once: stepping a batch, random playouts, searches. Its globals name
  placeholders of the kernels.
- A template is *specialized* for one game (:func:`specialize`): a new function with the template's code, the game's kernels
  among its globals, and a unique qualified name, compiled and cached on disk.
- A kernel is *linked* if the templates that call it share its machine code (:func:`linked`): it is compiled once per game and
  record size, cached like a template, and called by a symbol that contains the digest of the code. Compiling the kernels into
  each template takes several times as long, and the templates were not measurably faster.
- The *capacity* of records is the number of cells that they have room for (:func:`capacity`). Boards of the same capacity
  share their record types and machine code.

Two properties of numba determine this design. First, functions that receive compiled functions as arguments or closures
cannot be cached, so kernels are passed as globals (see :mod:`stoneworks.envs.rules.compiler.kernel_cache`). Second, numba
numbers record types in the order in which a process meets them, and uses the numbers in symbol names of machine code. Functions
compiled in two processes could get the same symbol name, and a third process that loads both would call the wrong one.
Record types therefore get names derived from their fields.
"""

from __future__ import annotations

import copy
import gc
import hashlib
import inspect
import logging
import sys
import time
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

import llvmlite.binding
import numba
import numba.core.dispatcher
import numpy as np
from numba.core import ir
from numba.core.errors import NumbaRuntimeError
from numba.core.registry import cpu_target

from stoneworks.envs.rules.compiler.kernel_cache import KernelCache
from stoneworks.envs.rules.compiler.types import numba_types

logger = logging.getLogger("stoneworks.kernels")

# Numba has no type annotations for its internals.
njit: Any = numba.njit
_dispatcher: Any = numba.core.dispatcher

#: Compiled without an entry point for C, which nothing calls.
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

F = TypeVar("F", bound=Callable[..., Any])


def _name_in_machine_code(record: Any) -> tuple[str, tuple[()]]:
    return f"Record{hashlib.sha256(record.name.encode()).hexdigest()[:16]}", ()


# Numba names record types in machine code by a counter of the process, so the names of two types from different processes
# can clash in a third one that loads both. Names derived from the fields cannot clash.
_numba_record: Any = numba.types.Record
_numba_record.mangling_args = property(_name_in_machine_code)


class _KernelCompiler(_dispatcher._FunctionCompiler):  # type: ignore[misc]
    """Compiles functions that neither allocate arrays nor get any from kernels without reference counts, all others with them.

    Counting references takes two atomic instructions per array argument of each call that is not inlined.
    """

    def _compile_core(self, arguments: Any, return_type: Any) -> Any:
        if not self.targetoptions["_nrt"]:
            try:
                result = super()._compile_core(arguments, return_type)
            except NumbaRuntimeError:  # it allocates
                pass
            else:
                if not _has_arrays_of_its_own(result):
                    return result
            self.targetoptions["_nrt"] = True
        return super()._compile_core(arguments, return_type)


def _has_arrays_of_its_own(compiled: Any) -> bool:
    """Return whether a function returns arrays, or gets some from a kernel, which it has to free."""
    models, annotation = compiled.target_context.data_model_manager, compiled.type_annotation
    returned = [
        signature.return_type
        for call, signature in annotation.calltypes.items()
        if isinstance(call, ir.Expr)
        and call.op == "call"
        and isinstance(annotation.typemap[call.func.name], numba.types.Dispatcher)
    ]
    return any(models[kind].contains_nrt_meminfo() for kind in [compiled.signature.return_type, *returned])


#: Names of functions that allocate arrays; functions that use them are compiled with reference counts at once.
_ALLOCATING = frozenset({"array", "copy", "empty", "empty_like", "full", "ones", "sort", "zeros", "zeros_like"})


def kernel(function: F) -> F:
    """Compile a function that is called by other kernels. It is cached as part of its callers."""
    return _compiled_with_callers(function, forceinline=False)


def inlined(function: F) -> F:
    """Compile a kernel that is always inlined into its callers, for inner loops in which passing arrays takes time."""
    return _compiled_with_callers(function, forceinline=True)


def _compiled_with_callers(function: F, *, forceinline: bool) -> F:
    allocates = not _ALLOCATING.isdisjoint(function.__code__.co_names)
    compiled: Any = njit(_nrt=allocates, forceinline=forceinline, **_OPTIONS)(function)
    compiled._compiler.__class__ = _KernelCompiler
    return cast(F, compiled)


@kernel
def int64(value: Any) -> int:
    """Return an integer as one of 64 bits, so that kernels that take it are compiled for a single type."""
    return np.int64(value)  # type: ignore[return-value]


#: Capacity of the smallest records. A process that compiles one module for boards of several sizes raises it.
SMALLEST_CAPACITY = 384


def capacity(num_cells: int) -> int:
    """Return the number of cells that records for a board of ``num_cells`` have room for: 384, 768, 1536, ...

    Boards of the same capacity share their record types and machine code; Vadus of sizes 2 to 10 compiles once.
    """
    room = SMALLEST_CAPACITY
    while room < num_cells:
        room *= 2
    return room


def linked(function: F) -> F:
    """Mark a placeholder in templates: the kernels that replace it are compiled once, with the types of its annotations.

    A kernel that is marked before ``kernel`` is applied is compiled once for the linked kernels and templates that call it.
    """
    function.__dict__["linked"] = True
    return function


def specialize(
    template: Callable[..., Any],
    name: str,
    game_kernels: Mapping[str, Callable[..., Any]],
    board: np.dtype[Any],
    state: np.dtype[Any],
    variant: str = "",
) -> Callable[..., Any]:
    """Return ``template`` compiled for one game and one record size.

    The result accepts exactly the annotated types and raises ``TypeError`` for others. Compilation is logged by the
    logger ``stoneworks.kernels``, which Python prints to standard error by default.

    Args:
        template: a function whose annotated arguments name types of :mod:`stoneworks.envs.rules.compiler.types`, or other
            ``Annotated`` types that contain the numba type, or named tuples of these.
        name: unique name of the game and record size, e.g. ``"vadus_384"``.
        game_kernels: compiled kernels by name that replace globals of the template.
        board: dtype of the board constants.
        state: dtype of the states.
        variant: name of the kernels that are not the game's own, e.g. of its heuristic.
    """
    replaced = {**game_kernels, **_linked_kernels(template, game_kernels, name, board, state)}
    function = with_kernels(template, "_".join(filter(None, (name, variant))), replaced)
    return cast(Callable[..., Any], _compile(function, signature_of(template, board, state), name)[0])


def compiled_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does not depend on a game compiled for its annotated types; see :func:`specialize`."""
    named = with_kernels(function, function.__module__.rpartition(".")[2], {})
    nothing = np.dtype([])
    return cast(Callable[..., Any], _compile(named, signature_of(function, nothing, nothing), function.__name__)[0])


def _linked_kernels(
    caller: Any, game_kernels: Mapping[str, Any], name: str, board: np.dtype[Any], state: np.dtype[Any]
) -> dict[str, Callable[..., Any]]:
    """Return the linked kernels that a template or kernel calls, compiled, by name."""
    placeholders = {called: caller.__globals__.get(called) for called in sorted(set(caller.__code__.co_names))}
    return {
        called: _linked_kernel(placeholder, game_kernels.get(called, placeholder), name, board, state)
        for called, placeholder in placeholders.items()
        if getattr(_python_function(placeholder), "linked", False)
        and hasattr(game_kernels.get(called, placeholder), "py_func")
    }


def _linked_kernel(
    placeholder: Any, game_kernel: Any, name: str, board: np.dtype[Any], state: np.dtype[Any]
) -> Callable[..., Any]:
    """Return ``game_kernel`` compiled with the types of ``placeholder``, for callers that are linked to it."""
    known = _LINKED.get((game_kernel, placeholder, name, board, state))
    if known is not None:
        return known
    called = _linked_kernels(game_kernel.py_func, {}, name, board, state)
    # Without its defaults and annotations, it is the same function under a unique name.
    function = with_kernels(game_kernel.py_func, name, called)
    compiled, cache = _compile(function, signature_of(placeholder, board, state), name)
    (result,) = compiled.overloads.values()
    # Callers refer to the kernel by a name that depends on its code; numba's names contain a counter of the process.
    symbol = f"stoneworks.{cache.name}"
    llvmlite.binding.add_symbol(symbol, result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
    declared = copy.copy(result.fndesc)
    declared.mangled_name = symbol
    cpu_target.target_context._defns.pop(result.entry_point)
    cpu_target.target_context.insert_user_function(
        result.entry_point, declared
    )  # without its code, which is not copied
    _LINKED[game_kernel, placeholder, name, board, state] = compiled
    return cast(Callable[..., Any], compiled)


_LINKED: dict[tuple[Any, ...], Callable[..., Any]] = {}


def _python_function(function: Any) -> Any:
    """Return the Python function of a kernel, or the function itself."""
    return getattr(function, "py_func", function)


def signature_of(function: Callable[..., Any], board: np.dtype[Any], state: np.dtype[Any]) -> tuple[Any, ...]:
    """Return the numba types of the annotated arguments of a template or placeholder."""
    known_types = numba_types(board, state)

    def numba_type(annotation: str, names: Mapping[str, Any]) -> Any:
        if annotation in known_types:
            return known_types[annotation]
        if not hasattr(names[annotation], "_fields"):
            return names[annotation].__metadata__[0]
        named_tuple = names[annotation]
        of_module = vars(sys.modules[named_tuple.__module__])
        fields = [numba_type(field.__forward_arg__, of_module) for field in named_tuple.__annotations__.values()]
        return cast(Any, numba.types.BaseTuple).from_types(fields, named_tuple)

    function = _python_function(function)
    annotations = inspect.get_annotations(function)
    return tuple(
        numba_type(annotation, function.__globals__)
        for argument, annotation in annotations.items()
        if argument != "return"
    )


def _compile(function: types.FunctionType, signature: tuple[Any, ...], name: str) -> tuple[Any, KernelCache]:
    """Return ``function`` compiled for exactly one signature, from the cache if it is there, and its entry in the cache."""
    qualified_name = function.__qualname__
    compiled: Any = njit(_nrt=True, **_OPTIONS)(function)
    cache = KernelCache(qualified_name, function, signature)
    compiled._cache = cache
    cached = cache.exists()
    start = time.perf_counter()
    if not cached:
        announce(name, cache.cache_path or "memory")
    # A compilation creates many long-lived objects; collecting garbage took 10 % of its time.
    collects = gc.isenabled()
    gc.disable()
    try:
        compiled.compile(signature)
    finally:
        if collects:
            gc.enable()
    compiled.disable_compile()
    if not cached:
        logger.info("compiled %s in %.1f s", qualified_name, time.perf_counter() - start)
    return compiled, cache


def unchecked(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Return the machine code of a function from ``specialize``, which takes 0.2 µs less per call than the function.

    Of an array only the item size is checked, not the dtype, the number of dimensions or contiguity. Callers must create the
    arrays themselves.
    """
    (compilation,) = cast(Any, compiled).overloads.values()
    return cast(Callable[..., Any], compilation.entry_point)


def specialized_kernel(
    template: Callable[..., Any], name: str, game_kernels: Mapping[str, Callable[..., Any]]
) -> Callable[..., Any]:
    """Return ``template`` with ``game_kernels`` among its globals as a kernel that specialized templates can call."""
    return kernel(with_kernels(template, name, game_kernels))


def with_kernels(
    template: Callable[..., Any], name: str, game_kernels: Mapping[str, Callable[..., Any]]
) -> types.FunctionType:
    """Return a function with the code of ``template``, ``game_kernels`` among its globals, and a unique name."""
    qualified_name = f"{name}_{template.__name__}"
    function = types.FunctionType(
        template.__code__.replace(co_name=qualified_name, co_qualname=qualified_name),
        {**template.__globals__, **game_kernels},
        qualified_name,
    )
    function.__qualname__ = qualified_name
    function.__module__ = template.__module__
    return function


@cache
def announce(name: str, place: str) -> None:
    """Log that the kernels of ``name`` are being compiled, once per process."""
    logger.warning("compiling the kernels of %s (0.1 to 8 s each, once per machine; cached in %s)", name, place)
