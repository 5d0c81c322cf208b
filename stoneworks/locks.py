"""File locks that prevent two processes from writing to the same folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


class InUseError(RuntimeError):
    """Raised when a folder is locked by another process. The message contains the folder and the process id."""


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder, creating it if necessary. The lock is released when the context or the process ends.

    Raises:
        InUseError: the folder is already locked, by this process or another one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock, owner = FileLock(folder / ".lock"), folder / ".lock-owner"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InUseError(f"{folder} is in use by process {_process_id(owner)}") from None
    try:
        owner.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


def _process_id(owner: Path) -> str:
    try:
        return owner.read_text(encoding="ascii").strip() or "unknown"
    except (OSError, UnicodeDecodeError):
        return "unknown"
