"""Atomic, durable file writes."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def naming_errors(path: Path) -> Iterator[None]:
    """Raise an ``OSError`` of the context with ``path``, which some, such as that of a full disk, do not contain."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically. Text is encoded as UTF-8.

    The content is flushed to disk before it replaces an existing file. After an error the existing file is unchanged.

    Raises:
        OSError: the file cannot be written; the error contains ``path``.
    """
    with naming_errors(path), replacing(path) as temporary:
        write_through(temporary, content.encode() if isinstance(content, str) else content)
    sync_folder(path.parent)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces ``path`` at the end; after an error it is deleted."""
    # Containers that share a folder may have equal process ids.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def append_json_line(path: Path, row: Mapping[str, Any]) -> None:
    """Append a line to a JSON lines file and flush it to disk. Raises ``OSError`` with the path.

    A last line without an end, left by a killed process, is ended first, so that only that line is lost.
    """
    line = json.dumps(row).encode() + b"\n"
    with naming_errors(path), path.open("ab+") as opened:
        if opened.seek(0, os.SEEK_END):
            opened.seek(-1, os.SEEK_END)
            line = line if opened.read(1) == b"\n" else b"\n" + line
        opened.write(line)
        opened.flush()
        os.fsync(opened.fileno())


def check_folder(name: str, path: str | os.PathLike[str]) -> None:
    """Check that a folder exists.

    Args:
        name: name of the argument in the error message.
        path: the folder.

    Raises:
        ValueError: it does not exist, or is not a folder.
    """
    if not Path(path).is_dir():
        raise ValueError(f"{name} must be an existing folder, got {str(path)!r}")


def check_output_file(name: str, path: str | os.PathLike[str], suffixes: Sequence[str] = ()) -> None:
    """Check that a file can be written, before the work whose result it is going to hold.

    Args:
        name: name of the argument in the error message.
        path: the file.
        suffixes: allowed suffixes; empty if any is allowed.

    Raises:
        ValueError: the suffix is not allowed, the folder does not exist or is not writable, or the path is that of
            something else, such as a folder or a device.
    """
    file = Path(path)
    if (suffixes and file.suffix not in suffixes) or not file.parent.is_dir() or (file.exists() and not file.is_file()):
        ending = f", ending in {' or '.join(suffixes)}" if suffixes else ""
        raise ValueError(f"{name} must be a file in an existing folder{ending}, got {str(path)!r}")
    # The content is written to a temporary file in the folder, which then replaces the file.
    if not os.access(file.parent, os.W_OK) or (file.exists() and not os.access(file, os.W_OK)):
        raise ValueError(f"{name} must be a writable file in a writable folder, got {str(path)!r}")


def remove_temporary_files(folder: Path) -> None:
    """Delete what killed processes have left in a folder and its subfolders. No other process may be writing there."""
    for file in folder.rglob(".*.tmp"):
        if file.is_dir() and not file.is_symlink():
            shutil.rmtree(file, ignore_errors=True)
        else:
            file.unlink(missing_ok=True)


def write_through(path: Path, content: bytes) -> None:
    """Write a file and flush its content to disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Flush a folder's directory entries to disk. Does nothing on systems without support for this (Windows)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):  # not supported by some file systems, or a folder that may not be read
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
