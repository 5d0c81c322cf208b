"""Lazy imports of a package's public names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` (PEP 562) that imports names on first use.

    Args:
        package: the package name.
        modules: maps each public name to its module, relative to the package.
    """

    def get_attribute(name: str) -> Any:
        from importlib import import_module

        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return get_attribute
