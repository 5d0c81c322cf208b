"""Files that appear whole."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, as UTF-8 where it is text; after an error it is as it was before.

    Raises:
        OSError: it cannot be written; the error names ``path``.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
