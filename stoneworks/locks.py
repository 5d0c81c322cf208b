"""File locks that prevent two processes from writing to the same folder or file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

#: Files of the lock of a folder.
LOCK_FILES = (".lock", ".lock-owner")

#: Maximum time between acquiring a lock and naming its owner, and between unnaming it and releasing the lock.
_SECONDS_WITHOUT_OWNER = 1.0


class InUseError(RuntimeError):
    """Raised when a folder or file is locked by another process. The message contains its path and the process id."""


def lock_folder(folder: Path) -> AbstractContextManager[None]:
    """Lock a folder, creating it if necessary. The lock is released when the context or the process ends.

    Raises:
        InUseError: the folder is already locked, by this process or another one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return _lock(folder, *(folder / name for name in LOCK_FILES))


def lock_file(file: Path) -> AbstractContextManager[None]:
    """Lock a file that is going to be written, existing or not; its folder must exist. See :func:`lock_folder`."""
    return _lock(file, *(file.with_name(f".{file.name}{name}") for name in LOCK_FILES))


@contextmanager
def _lock(locked: Path, lock_path: Path, owner: Path) -> Iterator[None]:
    lock = FileLock(lock_path)
    deadline = time.monotonic() + _SECONDS_WITHOUT_OWNER
    while not lock.is_locked:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if owner.exists() or time.monotonic() > deadline:
                raise InUseError(f"{locked} is in use by process {_process_id(owner)}") from None
            time.sleep(0.01)
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
