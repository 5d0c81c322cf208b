"""Error handling for integrations whose library is not installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingLibraryError(ImportError):
    """Raised when a library that an integration needs cannot be imported. The message contains the package to install."""


def require(module: str, package: str) -> Any:
    """Import and return a module of a library.

    Args:
        module: the import name.
        package: the pip package that provides it.

    Raises:
        MissingLibraryError: the module cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingLibraryError(
            f"this needs {module}, which cannot be imported ({error}); pip install {package}"
        ) from error
