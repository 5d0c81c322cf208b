"""File locks that prevent two processes from writing to the same folder or file."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

#: File of the lock of a folder.
LOCK_FILE = ".lock"
#: Time to wait for a lock, which :func:`is_in_use` holds for a moment.
_SECONDS = 0.5
#: Two threads must not see each other's look at a lock.
_LOOKING = threading.Lock()


class InUseError(RuntimeError):
    """Raised when a folder or file is locked by another process. The message contains its path."""


@contextlib.contextmanager
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
    with _lock(folder, folder / LOCK_FILE):
        try:
            yield
        finally:
            if created and {file.name for file in folder.iterdir()} <= {LOCK_FILE}:
                # Another process may have written into one of them, or Windows keeps an open file.
                with contextlib.suppress(OSError):
                    (folder / LOCK_FILE).unlink(missing_ok=True)
                    for path in created:
                        path.rmdir()


@contextlib.contextmanager
def lock_file(file: Path) -> Iterator[None]:
    """Lock a file that is going to be written, existing or not; its folder must exist. See :func:`lock_folder`."""
    lock_path = file.with_name(f".{file.name}{LOCK_FILE}")
    with _lock(file, lock_path):
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # Windows keeps an open file
                lock_path.unlink()


def is_in_use(folder: Path) -> bool:
    """Return whether a process on this machine holds the lock of a folder. False if it cannot be told."""
    if not (folder / LOCK_FILE).exists():
        return False
    try:
        with _LOOKING, FileLock(folder / LOCK_FILE, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # a folder of another user
        return False


@contextlib.contextmanager
def _lock(locked: Path, lock_path: Path) -> Iterator[None]:
    lock = FileLock(lock_path, timeout=_SECONDS)
    try:
        lock.acquire()
    except Timeout:
        raise InUseError(f"{locked} is in use by another process") from None
    try:
        yield
    finally:
        lock.release()
