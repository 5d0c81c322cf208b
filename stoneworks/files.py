"""Writing files that appear whole and survive a crash of the machine."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, as UTF-8 where it is text. After an error it is as it was before.

    The content is on disk before the file replaces another one.

    Raises:
        OSError: it cannot be written; the error names ``path``.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write_through(temporary, content.encode() if isinstance(content, str) else content)
        os.replace(temporary, path)
        sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def write_through(path: Path, content: bytes) -> None:
    """Write a file and return when its content is on disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Return when the names of a folder's files are on disk. Do nothing where the system cannot do that (Windows)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some file systems refuse it for folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
