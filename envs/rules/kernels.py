"""Compiling: the decorator of every kernel, and templates specialised for one game.

A game's rules are four kernels (see :mod:`stoneworks.envs.rules.templates`). What is done with them (step a batch,
play at random, search) is written once, as a template, and specialised: a fresh function with the template's code,
the game's kernels among its globals, and a qualified name of its own, compiled with numba and cached on disk.

Three facts of numba shape this module. Its cache misses where a compiled function comes as an argument or from a closure,
so kernels come in as globals. And its cache notices a change in the file of the cached function only, not in a file
of a function that it calls; so the machine code lives in a folder named after a hash of all sources of this package
and of the packages that other kernels in use come from. A kernel therefore calls kernels of its own package or of this
one only. And its names in machine code tell record types apart by a number that counts types as a process meets them;
two functions compiled in two processes could have one name, and a third process that loads both would call the wrong
one; so record types get names made from their fields.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
import types
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numba.core.config
import numpy as np
import numpy.typing as npt

_numba_config: Any = numba.core.config

logger = logging.getLogger("stoneworks.kernels")

F = TypeVar("F", bound=Callable[..., Any])

# The types of template arguments: what mypy checks, and below what numba compiles for. A record comes as an array of
# one or more, because numba takes an array of records five times faster than a single record (0.2 against 1 µs).
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


# Numba names record types in machine code by a counter of the process. Code for two of them, cached by two processes, can
# then bear one name, and a third process that loads both calls the wrong one. A name made of the fields cannot clash.
_numba_record: Any = numba.types.Record
_numba_record.mangling_args = property(_name_in_machine_code)


def kernel(function: F) -> F:
    """Compile a function that other kernels call. It has no cache of its own: it is cached inside what calls it."""
    return cast(F, numba.njit(nogil=True, error_model="numpy")(function))


def capacity(num_cells: int) -> int:
    """Return the number of cells that records for a board of ``num_cells`` have room for: 384, 768, 1536, ...

    Boards of one capacity share their record types, and so their machine code: Vadus 2 to 9 compile once.
    """
    room = 384
    while room < num_cells:
        room *= 2
    return room


def specialise(
    template: Callable[..., Any],
    name: str,
    game_kernels: Mapping[str, Callable[..., Any]],
    board: np.dtype[Any],
    state: np.dtype[Any],
) -> Callable[..., Any]:
    """Return ``template`` compiled for one game and one size of its records.

    Args:
        template: a function whose annotated arguments name types of this module, or ``Annotated`` types of its own
            module, which carry the type that numba compiles for.
        name: what tells this game and record size from others, e.g. ``"vadus_384"``.
        game_kernels: what replaces globals of the template: compiled kernels by name, the game's four and any others.
        board: the dtype of the board constants.
        state: the dtype of the states.

    The result takes exactly the annotated types and raises ``TypeError`` for others. Compiling is announced on the
    logger ``stoneworks.kernels``, which Python shows on standard error unless told otherwise.
    """
    function = _with_kernels(template, name, game_kernels)
    qualified_name = function.__qualname__
    known_types = _numba_types(board, state)
    signature = tuple(
        known_types.get(annotation) or template.__globals__[annotation].__metadata__[0]
        for argument, annotation in inspect.get_annotations(template).items()
        if argument != "return"
    )
    folder = cache_folder(frozenset(map(_source_folder, (template, *game_kernels.values()))))
    with _numba_cache_in(folder):
        compiled = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    cached = any(folder.glob(f"*/*.{qualified_name}-*.nbi"))
    start = time.perf_counter()
    if not cached:
        _announce(name, folder)
    compiled.compile(signature)
    compiled.disable_compile()
    if not cached:
        logger.info("compiled %s in %.1f s", qualified_name, time.perf_counter() - start)
    return cast(Callable[..., Any], compiled)


def specialised_kernel(
    template: Callable[..., Any], name: str, game_kernels: Mapping[str, Callable[..., Any]]
) -> Callable[..., Any]:
    """Return ``template`` with ``game_kernels`` among its globals as a kernel, for what ``specialise`` compiles to call."""
    return kernel(_with_kernels(template, name, game_kernels))


def _with_kernels(
    template: Callable[..., Any], name: str, game_kernels: Mapping[str, Callable[..., Any]]
) -> types.FunctionType:
    """Return a function with the code of ``template``, ``game_kernels`` among its globals, and a name of its own."""
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
def _announce(name: str, folder: Path) -> None:
    logger.warning(
        "compiling kernels of %s for this machine (half a second to ten seconds each, once; kept in %s)", name, folder
    )


def _source_folder(function: Callable[..., Any]) -> Path:
    return Path(getattr(function, "py_func", function).__code__.co_filename).parent


@cache
def cache_folder(source_folders: frozenset[Path] = frozenset()) -> Path:
    """Return the folder of the machine code of the sources of this package and of ``source_folders``, made if need be.

    It is ``kernels-<hash of the sources>`` in this package's ``__pycache__`` where that can be written, else in the
    user's cache folder; the environment variable ``STONEWORKS_CACHE_DIR`` names another place.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.implementation.cache_tag}".encode())
    here = Path(__file__).parent
    for source_folder in (here, *sorted(source_folders - {here})):
        for source in sorted(source_folder.glob("*.py")):
            digest.update(source.name.encode())
            digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    given = os.environ.get("STONEWORKS_CACHE_DIR")
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stoneworks"
    places = [Path(given)] if given else [Path(__file__).parent / "__pycache__", user_cache]
    for place in places:
        try:
            (place / name).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place / name):
                pass
        except OSError:
            continue
        _remove_stale_folders(place, keep=name)
        return place / name
    tried = ", ".join(map(str, places))
    raise OSError(f"no folder for compiled kernels can be written (tried {tried}); set STONEWORKS_CACHE_DIR to one")


def _remove_stale_folders(place: Path, keep: str) -> None:
    a_week_ago = time.time() - 7 * 24 * 3600
    for folder in place.glob("kernels-*"):
        if folder.name != keep and folder.stat().st_mtime < a_week_ago:
            shutil.rmtree(folder, ignore_errors=True)


class _numba_cache_in:  # noqa: N801
    """Context in which numba chooses ``folder`` for the caches of the functions that it decorates."""

    _lock = threading.RLock()

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def __enter__(self) -> None:
        self._lock.acquire()
        self._before = _numba_config.CACHE_DIR
        _numba_config.CACHE_DIR = self._folder

    def __exit__(self, *exception: object) -> None:
        _numba_config.CACHE_DIR = self._before
        self._lock.release()
