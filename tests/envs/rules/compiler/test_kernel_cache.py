"""The cache of kernels: shared by processes, damaged, on a full disk, and without a place."""

from __future__ import annotations

import logging
import os
import resource
import types
from collections import namedtuple
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numba
import numpy as np
import pytest

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.compiler import kernel_cache
from stoneworks.envs.rules.compiler.kernel_cache import KernelCache, cache_folder


@pytest.fixture(autouse=True)
def places_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Cache in a folder of the test's own, and look for a writable one anew before and after each test."""
    monkeypatch.setenv("STONEWORKS_CACHE_DIR", str(tmp_path))
    kernel_cache._cache_folder.cache_clear()
    yield
    kernel_cache._cache_folder.cache_clear()


def double(number: int) -> int:
    return 2 * number


def compiled_double() -> tuple[Any, KernelCache]:
    """Return ``double`` as compiled or loaded from the cache, and its cache."""
    function = types.FunctionType(double.__code__, {}, "double")
    dispatcher: Any = numba.njit(nogil=True)(function)
    signature = (numba.int64,)
    dispatcher._cache = KernelCache("double", function, signature)
    dispatcher.compile(signature)
    return dispatcher, dispatcher._cache


def test_damaged_files_are_compiled_again(caplog: pytest.LogCaptureFixture) -> None:
    dispatcher, cache = compiled_double()
    content = cache.file.read_bytes()
    random = np.random.default_rng(0)
    caplog.set_level(logging.ERROR)
    for attempt in range(1000):
        place = int(random.integers(len(content)))
        flipped = content[:place] + bytes([content[place] ^ 1 << int(random.integers(8))]) + content[place + 1 :]
        damaged = (flipped, content[:place], content + bytes(1 + place % 9), content[place + 1 :])[attempt % 4]
        cache.file.write_bytes(damaged)
        assert cache.load_overload(None, dispatcher.targetctx) is None
        assert not cache.file.exists()
    assert compiled_double()[0](21) == 42
    caplog.set_level(logging.WARNING)
    cache.file.write_bytes(content[:-1])
    assert compiled_double()[0](21) == 42
    assert "double" in caplog.text
    assert "is damaged" in caplog.text
    assert cache.load_overload(None, dispatcher.targetctx) is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize("make", [os.mkdir, getattr(os, "mkfifo", None)])
def test_a_path_that_is_not_a_file_is_not_opened(make: Any) -> None:
    _, cache = compiled_double()
    cache.file.unlink()
    make(cache.file)
    assert compiled_double()[0](21) == 42


def test_with_a_full_disk_kernels_are_compiled_in_memory(caplog: pytest.LogCaptureFixture) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        dispatcher, cache = compiled_double()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert dispatcher(21) == 42
    assert list(cache.file.parent.iterdir()) == []
    assert f"cannot write the compiled kernel {cache.file}" in caplog.text


@pytest.mark.parametrize("folder", ["file/inside", ""])
def test_without_a_writable_folder_kernels_are_compiled_in_memory_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, folder: str
) -> None:
    (tmp_path / "file").touch()
    places = {"STONEWORKS_CACHE_DIR": folder and str(tmp_path / folder), "XDG_CACHE_HOME": "", "HOME": ""}
    for name, value in places.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError))  # a user without an entry in the database
    assert cache_folder() is None
    dispatcher, cache = compiled_double()
    assert dispatcher(21) == 42
    assert cache.file is None
    assert "no folder for compiled kernels is writable" in caplog.text


def test_clones_share_the_cache_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("STONEWORKS_CACHE_DIR", ""), ("XDG_CACHE_HOME", str(tmp_path / "cache"))):
        monkeypatch.setenv(name, value)
    assert cache_folder() == tmp_path / "cache" / "stoneworks" / "kernels"


def test_old_kernels_are_removed_and_files_of_others_are_not(tmp_path: Path) -> None:
    compiled_double()
    (kernel,) = (tmp_path / "kernels").glob("*.kernel")
    thesis = tmp_path / "kernels" / "thesis.txt"
    thesis.write_text("of somebody")
    unfinished = tmp_path / "kernels" / f".{kernel.name}.1.tmp"
    unfinished.touch()
    for file in (kernel, thesis, unfinished):
        os.utime(file, (0, 0))
    kernel_cache._cache_folder.cache_clear()
    assert cache_folder() == tmp_path / "kernels"
    assert not kernel.exists()
    assert not unfinished.exists()
    assert thesis.read_text() == "of somebody"


def test_the_digest_depends_on_the_numbers_of_planes_and_on_the_layout_of_records() -> None:
    def digest(*signature: Any, **numbers: int) -> str:
        names = {"Plane": namedtuple("Planes", numbers)(**numbers)}
        function = types.FunctionType((lambda: Plane.BOARD).__code__, names)  # type: ignore[name-defined]  # noqa: F821
        return KernelCache("board", function, signature).name

    assert digest(BOARD=1) == digest(BOARD=1) != digest(BOARD=2)
    assert digest(BOARD=1, PASSED=2) != digest(PASSED=1, BOARD=2)
    small, large = (numba.from_dtype(load_game("vadus", size=size).state_dtype) for size in (2, 11))
    assert digest(small, BOARD=1) == digest(small, BOARD=1) != digest(large, BOARD=1)


def test_callers_of_a_renamed_kernel_are_compiled_again_since_they_are_linked_by_its_name() -> None:
    def digest(name: str) -> str:
        called = types.FunctionType(double.__code__, {}, name)
        called.__qualname__ = name
        code = (lambda number: called_kernel(number)).__code__  # type: ignore[name-defined]  # noqa: F821
        return KernelCache("caller", types.FunctionType(code, {"called_kernel": called}), (numba.int64,)).name

    assert digest("evaluate") == digest("evaluate") != digest("heuristic")


def digest_with(value: Any, *signature: Any) -> str:
    """Return the digest of a function that uses ``value``."""
    return kernel_cache.digest_of(lambda: value, signature)


def test_the_digest_depends_on_the_fields_of_named_tuples_and_on_the_members_of_enums() -> None:
    work, reordered = (namedtuple("Work", fields) for fields in ("visits moves", "moves visits"))  # type: ignore[misc]
    assert digest_with(work) != digest_with(reordered)
    types_of = [(numba.types.Tuple([numba.typeof(kind(1, 2)), numba.int64]),) for kind in (work, reordered)]
    assert digest_with(0, *types_of[0]) != digest_with(0, *types_of[1])
    assert digest_with(IntEnum("Color", {"RED": 2})) != digest_with(IntEnum("Color", {"RED": 5}))


def test_the_digest_depends_on_numba_types_and_on_functions_in_modules_of_modules() -> None:
    assert digest_with(numba.int32) != digest_with(numba.int8)
    digests = set()
    for function in (lambda x: x + 1, lambda x: x + 2):
        package = types.ModuleType("package")
        package.inner = types.ModuleType("package.inner")  # type: ignore[attr-defined]
        package.inner.package = package  # type: ignore[attr-defined]
        package.inner.function = function  # type: ignore[attr-defined]
        (code, *_) = compile("def caller(x): return package.inner.function(x)", "a file", "exec").co_consts
        digests.add(kernel_cache.digest_of(types.FunctionType(code, {"package": package}), ()))
    assert len(digests) == 2


def test_the_digest_depends_on_options_and_on_the_names_of_linked_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    assert digest_with(numba.njit(double)) != digest_with(numba.njit(error_model="numpy")(double))
    digests = set()
    for signature in ((numba.float32,), (numba.float64,)):
        linked: Any = numba.njit(double)
        linked._cache = KernelCache("double", double, signature)
        digests.add(digest_with(linked))
    assert len(digests) == 2
    before = digest_with(0)
    kernel_cache._environment.cache_clear()
    monkeypatch.setattr(kernel_cache._numba_config, "OPT", 0)
    try:
        assert digest_with(0) != before
    finally:
        kernel_cache._environment.cache_clear()
