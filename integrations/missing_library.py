"""The error of an integration whose library is not installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingLibraryError(ImportError):
    """Raised when a library that an integration needs cannot be imported. The message says what to install."""


def require(module: str, package: str) -> Any:
    """Return a module of a library.

    Args:
        module: its import name.
        package: what to install for it, as pip names it.

    Raises:
        MissingLibraryError: it cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingLibraryError(
            f"this needs {module}, which cannot be imported ({error}); pip install {package}"
        ) from error
