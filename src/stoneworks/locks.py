"""File locks that prevent two processes from writing to the same folder or file."""

from __future__ import annotations

import contextlib
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


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder, creating it if necessary. The lock is released when the context or the process ends.

    A folder that was created and in which nothing was written is removed again.

    Raises:
        InUseError: the folder is already locked, by this process or another one.
        ValueError: the path, or one above it, is not a folder.
    """
    created = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"folder must be a folder or a new path, got {str(folder)!r}") from None
    with _lock(folder, *(folder / name for name in LOCK_FILES)):
        try:
            yield
        finally:
            if created and {file.name for file in folder.iterdir()} <= {*LOCK_FILES}:
                # Another process may have written into one of them, or Windows keeps an open file.
                with contextlib.suppress(OSError):
                    for name in LOCK_FILES:
                        (folder / name).unlink(missing_ok=True)
                    for path in created:
                        path.rmdir()


def is_in_use(folder: Path) -> bool:
    """Return whether a process on this machine holds the lock of a folder, as its owner's file says."""
    if os.name == "nt":  # os.kill would send Ctrl-C
        return (folder / LOCK_FILES[1]).exists()
    try:
        os.kill(int(_process_id(folder / LOCK_FILES[1])), 0)
    except PermissionError:  # a process of another user
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


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
            process = _process_id(owner)
            if process or time.monotonic() > deadline:
                raise InUseError(f"{locked} is in use by process {process or 'unknown'}") from None
            time.sleep(0.01)
    try:
        owner.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


def _process_id(owner: Path) -> str:
    """Return the process id in the file of an owner; empty if it cannot be read or has not been written yet."""
    try:
        return owner.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
