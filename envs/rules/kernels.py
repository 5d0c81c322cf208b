"""Compilation of kernels, and of templates specialized for one game.

A game's rules are four kernels (see :mod:`stoneworks.envs.rules.templates`). Operations on them (stepping a batch, random
playouts, search) are written once as templates and specialized per game: a new function with the template's code,
the game's kernels among its globals, and a unique qualified name, compiled with numba and cached on disk.

Two properties of numba determine this design. First, functions that receive compiled functions as arguments or closures
cannot be cached, so kernels are passed as globals (see :mod:`stoneworks.envs.rules.kernel_cache`). Second, numba
numbers record types in the order in which a process meets them, and uses the numbers in symbol names of machine code. Functions
compiled in two processes could get the same symbol name, and a third process that loads both would call the wrong one.
Record types therefore get names derived from their fields.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import time
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.kernel_cache import KernelCache

logger = logging.getLogger("stoneworks.kernels")

F = TypeVar("F", bound=Callable[..., Any])

# Types of template arguments, used by mypy and (below) as numba signatures. Records are passed as arrays of
# one or more, because numba accepts arrays of records five times faster than single records (0.2 against 1 µs).
BoardArray: TypeAlias = npt.NDArray[np.void]
StateArray: TypeAlias = npt.NDArray[np.void]
StateTable: TypeAlias = npt.NDArray[np.void]
Bools: TypeAlias = npt.NDArray[np.bool_]
Int8s: TypeAlias = npt.NDArray[np.int8]
Int16s: TypeAlias = npt.NDArray[np.int16]
Int16Table: TypeAlias = npt.NDArray[np.int16]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int32Table: TypeAlias = npt.NDArray[np.int32]
Int64s: TypeAlias = npt.NDArray[np.int64]
UInt64s: TypeAlias = npt.NDArray[np.uint64]
Int8Table: TypeAlias = npt.NDArray[np.int8]
Float32Table: TypeAlias = npt.NDArray[np.float32]
Float32Tables: TypeAlias = npt.NDArray[np.float32]

# Inside kernels a record is an opaque object with attributes.
Record: TypeAlias = Any


def _numba_types(board: np.dtype[Any], state: np.dtype[Any]) -> dict[str, Any]:
    return {
        "BoardArray": numba.from_dtype(board)[::1],
        "StateArray": numba.from_dtype(state)[::1],
        "StateTable": numba.from_dtype(state)[:, ::1],
        "Bools": numba.boolean[::1],
        "Int8s": numba.int8[::1],
        "Int16Table": numba.int16[:, ::1],
        "Int32s": numba.int32[::1],
        "Int32Table": numba.int32[:, ::1],
        "Int64s": numba.int64[::1],
        "UInt64s": numba.uint64[::1],
        "Int8Table": numba.int8[:, ::1],
        "Float32Table": numba.float32[:, ::1],
        "Float32Tables": numba.float32[:, :, ::1],
        "bool": numba.boolean,
        "int": numba.int64,
        "float": numba.float64,
    }


def _name_in_machine_code(record: Any) -> tuple[str, tuple[()]]:
    return f"Record{hashlib.sha256(record.name.encode()).hexdigest()[:16]}", ()


# Numba names record types in machine code by a counter of the process, so the names of two types from different processes
# can clash in a third one that loads both. Names derived from the fields cannot clash.
_numba_record: Any = numba.types.Record
_numba_record.mangling_args = property(_name_in_machine_code)


def kernel(function: F) -> F:
    """Compile a function that is called by other kernels. It is cached as part of its callers."""
    return cast(F, numba.njit(nogil=True, error_model="numpy")(function))


@kernel
def int64(value: Any) -> int:
    """Return an integer as one of 64 bits, so that kernels that take it are compiled for a single type."""
    return np.int64(value)  # type: ignore[return-value]


def capacity(num_cells: int) -> int:
    """Return the number of cells that records for a board of ``num_cells`` have room for: 384, 768, 1536, ...

    Boards of the same capacity share their record types and machine code; Vadus of sizes 2 to 9 compiles once.
    """
    room = 384
    while room < num_cells:
        room *= 2
    return room


def specialize(
    template: Callable[..., Any],
    name: str,
    game_kernels: Mapping[str, Callable[..., Any]],
    board: np.dtype[Any],
    state: np.dtype[Any],
) -> Callable[..., Any]:
    """Return ``template`` compiled for one game and one record size.

    The result accepts exactly the annotated types and raises ``TypeError`` for others. Compilation is logged by the
    logger ``stoneworks.kernels``, which Python prints to standard error by default.

    Args:
        template: a function whose annotated arguments name types of this module, or ``Annotated`` types of its own
            module that contain the numba type.
        name: unique name of the game and record size, e.g. ``"vadus_384"``.
        game_kernels: compiled kernels by name that replace globals of the template.
        board: dtype of the board constants.
        state: dtype of the states.
    """
    function = _with_kernels(template, name, game_kernels)
    qualified_name = function.__qualname__
    known_types = _numba_types(board, state)
    signature = tuple(
        known_types.get(annotation) or template.__globals__[annotation].__metadata__[0]
        for argument, annotation in inspect.get_annotations(template).items()
        if argument != "return"
    )
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    cache = KernelCache(qualified_name, function, signature)
    compiled._cache = cache
    cached = cache.exists()
    start = time.perf_counter()
    if not cached:
        _announce(name, cache.cache_path or "memory")
    compiled.compile(signature)
    compiled.disable_compile()
    if not cached:
        logger.info("compiled %s in %.1f s", qualified_name, time.perf_counter() - start)
    return cast(Callable[..., Any], compiled)


def specialized_kernel(
    template: Callable[..., Any], name: str, game_kernels: Mapping[str, Callable[..., Any]]
) -> Callable[..., Any]:
    """Return ``template`` with ``game_kernels`` among its globals as a kernel that specialized templates can call."""
    return kernel(_with_kernels(template, name, game_kernels))


def _with_kernels(
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
def _announce(name: str, place: str) -> None:
    logger.warning("compiling the kernels of %s (0.5 to 10 s each, once per machine; cached in %s)", name, place)
