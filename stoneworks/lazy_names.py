"""Public names of a package that are imported on first use, so that importing the package itself is quick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a package (PEP 562).

    Args:
        package: name of the package.
        modules: the module of each public name, relative to the package.
    """

    def get_attribute(name: str) -> Any:
        from importlib import import_module

        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return get_attribute
