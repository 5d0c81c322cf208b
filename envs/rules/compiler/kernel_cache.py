"""Disk cache of compiled kernels: one file per compiled function, verified before it is loaded.

Numba's own cache only notices changes in the file of the cached function, not in the functions that it calls, and it
does not verify its files. Here the file name contains a digest of everything that the machine code depends on:
the bytecode of the function and of all kernels that it calls, the constants they use, the signature, the versions and
the processor. Moving or commenting source code invalidates nothing; editing a kernel invalidates exactly its callers. Each
file has a checksum. Damaged files are deleted and the function is compiled again.

The files contain pickled machine code, so only trusted users may have write access to the cache folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import EnumMeta
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba.core.config
import numba.core.types
import numpy as np
from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

from stoneworks.files import replacing

# Numba has no type annotations for its internals.
_numba_config: Any = numba.core.config
_dumps: Any = serialize.dumps
_rebuild: Any = CompileResult._rebuild

logger = logging.getLogger("stoneworks.kernels")

_CHECKSUM_BYTES = hashlib.sha256().digest_size
_SECONDS_PER_DAY = 24 * 3600
#: Files that no process has loaded for this long are deleted.
_MAX_AGE_DAYS = 30
#: Version of how kernels are compiled and linked to their callers; a file of another version would look for other symbols.
_LINKING = 4


class KernelCache:
    """Cache of one compiled function, with the methods that numba calls in a compilation.

    Attributes:
        name: name of the function with the digest of what its machine code depends on.
        file: path of the file, or None if no folder is writable; the function is then compiled in memory only.
    """

    def __init__(self, name: str, function: types.FunctionType, signature: tuple[Any, ...]) -> None:
        folder = cache_folder()
        self.name = f"{name}-{digest_of(function, signature)}"
        self.file = None if folder is None else folder / f"{self.name}.kernel"

    @property
    def cache_path(self) -> str | None:
        """Folder of the file."""
        return None if self.file is None else str(self.file.parent)

    def exists(self) -> bool:
        """Return whether the file exists, intact or not."""
        return self.file is not None and self.file.is_file()

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the cached compile result, or None if there is none or the file is damaged."""
        if self.file is None or (payload := read_checked(self.file)) is None:
            return None
        try:
            target_context.refresh()
            return _rebuild(target_context, *pickle.loads(payload))
        except Exception as error:  # files of another numba build or forged files can raise anything
            _discard(self.file, error)
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Write a compile result atomically. If the disk is full, log it; the result is in memory anyway."""
        if self.file is None or result.lifted or result.library.has_dynamic_globals:
            return
        write_checked(self.file, _dumps(result._reduce()))


def read_checked(file: Path) -> bytes | None:
    """Return what :func:`write_checked` wrote, or None if there is no file or it is damaged; it is deleted then."""
    try:
        content = file.read_bytes() if file.is_file() else b""  # opening a FIFO would block
    except OSError:
        return None
    checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
    if hashlib.sha256(payload).digest() == checksum:
        _mark_as_used(file)
        return payload
    if file.is_file():
        _discard(file, "checksum mismatch")
    return None


def write_checked(file: Path, payload: bytes) -> None:
    """Write a file with a checksum atomically. If the disk is full, log it."""
    try:
        with replacing(file) as temporary:
            temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
    except OSError as error:
        logger.warning("cannot write the compiled kernel %s: %s", file, error)


def _discard(file: Path, reason: object) -> None:
    logger.warning("the cached kernel %s is damaged (%s); compiling it again", file, reason)
    with contextlib.suppress(OSError):
        file.unlink()


def cache_folder() -> Path | None:
    """Return the folder of the cache, or None (logged) if it is not writable. Create it if necessary.

    It is the folder ``kernels`` in ``STONEWORKS_CACHE_DIR``, an environment variable, or else in the user's cache folder, so that
    clones and virtual environments share what is equal in them.
    """
    return _cache_folder(os.environ.get("STONEWORKS_CACHE_DIR"))


@cache
def _cache_folder(given: str | None) -> Path | None:
    try:
        folder = (Path(given) if given else _user_cache()) / "kernels"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError) as error:
        logger.warning(
            "no folder for compiled kernels is writable (%s); every process compiles them again. "
            "Set STONEWORKS_CACHE_DIR to a writable folder.",
            error,
        )
        return None
    _remove_stale_files(folder)
    return folder


def _user_cache() -> Path:
    """Return the user's cache folder for stoneworks.

    Raises:
        RuntimeError: HOME is not set, and the user id has no entry in the user database, as in some containers.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stoneworks"


def _mark_as_used(file: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - file.stat().st_mtime > _SECONDS_PER_DAY:
            os.utime(file)


def _remove_stale_files(folder: Path) -> None:
    oldest = time.time() - _MAX_AGE_DAYS * _SECONDS_PER_DAY
    for file in (*folder.glob("*.kernel"), *folder.glob(".*.kernel.*.tmp")):
        with contextlib.suppress(OSError):
            if file.stat().st_mtime < oldest:
                file.unlink()


# -- What machine code depends on ------------------------------------------------------------------------------------


def digest_of(function: Callable[..., Any], signature: tuple[Any, ...]) -> str:
    """Return a digest of everything that the machine code of ``function`` depends on, as 24 hexadecimal digits."""
    digest = hashlib.sha256(repr(_environment()).encode())
    digest.update(repr((signature, *_fields_of(signature))).encode())
    _add_value(digest.update, function, set())
    return digest.hexdigest()[:24]


@cache
def _environment() -> tuple[Any, ...]:
    versions = numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag
    options = _numba_config.BOUNDSCHECK, int(_numba_config.OPT), getattr(_numba_config.OPT, "is_opt_max", False)
    return _LINKING, *versions, cpu_target.target_context.codegen().magic_tuple(), *options


def _fields_of(kinds: Iterable[Any]) -> Iterator[tuple[str, ...]]:
    """Yield the names of the fields of the named tuples among numba types, which their own texts leave out."""
    for kind in kinds:
        if hasattr(kind, "instance_class"):
            yield kind.instance_class._fields
        yield from _fields_of(getattr(kind, "types", ()))


def _add_value(add: Callable[[bytes], None], value: Any, seen: set[int]) -> None:
    """Add a global or constant that a kernel uses to a digest; for functions, recursively everything that they use."""
    if isinstance(linked := getattr(value, "_cache", None), KernelCache):
        add(linked.name.encode())  # the caller looks for a symbol of this name
    # What numba sets itself depends on what has been compiled so far.
    options = {name: kept for name, kept in getattr(value, "targetoptions", {}).items() if name != "_nrt"}
    add(repr(sorted(options.items())).encode())
    value = getattr(value, "py_func", value)
    add(type(value).__qualname__.encode())
    if isinstance(value, types.FunctionType):
        _add_function(add, value, seen)
    elif isinstance(value, np.ndarray):
        add(str((value.dtype, value.shape)).encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (tuple, frozenset)):
        add(repr(getattr(value, "_fields", "")).encode())
        for item in sorted(value, key=repr) if isinstance(value, frozenset) else value:
            _add_value(add, item, seen)
    elif isinstance(value, (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype)):
        add(repr(value).encode())
    elif isinstance(value, (types.ModuleType, type, types.BuiltinFunctionType, np.ufunc)):
        members: list[Any] = list(value) if isinstance(value, EnumMeta) else []
        add(repr((value.__name__, getattr(value, "_fields", ()), members)).encode())
    elif isinstance(value, numba.core.types.Type):
        add(repr(value).encode())
    else:  # an intrinsic or similar: represented by its source file
        definition = getattr(value, "_defn", type(value))
        module = sys.modules.get(definition.__module__)
        path = getattr(module, "__file__", None)
        add(f"{definition.__module__}.{definition.__qualname__}".encode())
        if path and not definition.__module__.startswith(("numba.", "numpy.")):
            add(Path(path).read_bytes())


def _add_function(add: Callable[[bytes], None], function: types.FunctionType, seen: set[int]) -> None:
    if id(function) in seen:
        return
    seen.add(id(function))
    # A cached kernel refers to the modules of its functions, and to linked kernels by their names.
    add(f"{function.__module__}.{function.__qualname__}".encode())
    _add_code(add, function.__code__, function.__doc__)
    for default in function.__defaults__ or ():
        _add_value(add, default, seen)
    for cell in function.__closure__ or ():
        _add_value(add, cell.cell_contents, seen)
    names = _names(function.__code__)
    for name in names:
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        add(name.encode())
        _add_value(add, value, seen)
        _add_members(add, value, names, seen)


def _add_members(
    add: Callable[[bytes], None],
    value: Any,
    names: Sequence[str],
    seen: set[int],
    within: tuple[types.ModuleType, ...] = (),
) -> None:
    """Add the members of a module, and of modules in it, that a function's code names. Other values are ignored."""
    if not isinstance(value, types.ModuleType) or value in within:
        return
    if value.__name__.partition(".")[0] in ("numpy", "numba", "math"):
        return
    for attribute in names:
        if attribute in vars(value):
            member = vars(value)[attribute]
            add(attribute.encode())
            _add_value(add, member, seen)
            _add_members(add, member, names, seen, (*within, value))


def _add_code(add: Callable[[bytes], None], code: types.CodeType, docstring: str | None) -> None:
    add(code.co_code)
    add(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _add_code(add, constant, None)
        elif not (isinstance(constant, str) and constant == docstring):
            add(repr(constant).encode())


def _names(code: types.CodeType) -> tuple[str, ...]:
    """Return the sorted names of globals and attributes used by ``code`` and code nested in it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(_names(constant))
    return tuple(sorted(found))
