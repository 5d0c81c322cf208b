"""Error handling for optional dependencies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingDependencyError(ImportError):
    """Raised when a feature needs a package that is not installed. The message names the package and the extra."""


@contextmanager
def require_extra(extra: str, feature: str) -> Iterator[None]:
    """Convert a failed import in the ``with`` block to an error that names the extra to install.

    Args:
        extra: the extra of stoneworks that installs the imported packages.
        feature: the feature that needs the package, as a plural noun, e.g. ``"networks"``.

    Raises:
        MissingDependencyError: a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "stoneworks"):
            raise
        raise MissingDependencyError(
            f"{feature} need {package}; install stoneworks[{extra}]", name=error.name
        ) from error
