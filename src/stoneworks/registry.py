"""Registry of named entries that are built in, added at run time, or declared as entry points of other packages.

Used for games, bots and all other extension points. An entry refers to code as ``"module:attribute"``; the module is imported
when the entry is first used.
"""

from __future__ import annotations

import keyword
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module, metadata
from typing import Any, Generic, TypeAlias, TypeVar

from stoneworks.extras import MissingDependencyError

logger = logging.getLogger("stoneworks.registry")

#: Environment variable with modules that the command line imports, separated by spaces.
IMPORT_VARIABLE = "STONEWORKS_IMPORT"
#: What to do about an unknown name.
HINT = f"`stoneworks --import MODULE` or {IMPORT_VARIABLE} makes the command line know what a module registers"
_NAME = re.compile("[a-z][a-z0-9_]*")


T = TypeVar("T")


class RegistrationError(ValueError):
    """Raised when an entry of a registry is invalid, its name is taken, or it cannot be loaded."""


#: The path ``"module:attribute"`` of an object, or ``"module"`` of a module.
Reference: TypeAlias = str
ModuleReference: TypeAlias = str


def _is_path(value: object, *num_parts: int) -> bool:
    parts = value.split(":") if isinstance(value, str) else []
    return len(parts) in num_parts and all(part.isidentifier() for text in parts for part in text.split("."))


#: Which values an attribute of an entry may have, by its declared type, and the same in words.
_ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "Reference": (lambda value: _is_path(value, 2), "'module:attribute'"),
    "Reference | None": (lambda value: value is None or _is_path(value, 2), "'module:attribute' or None"),
    "ModuleReference": (lambda value: _is_path(value, 1, 2), "'module' or 'module:attribute'"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "str": (lambda value: isinstance(value, str), "a string"),
}


@dataclass(frozen=True)
class Entry:
    """Base class of registry entries. The declared type of an attribute says which values it may have.

    Attributes:
        name: lower-case letters, digits and underscores, starting with a letter; not a Python keyword.

    Raises:
        RegistrationError: an attribute is invalid. The message contains its name and value.
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name) or keyword.iskeyword(self.name):
            raise RegistrationError(
                f"name must be lower-case letters, digits and underscores, start with a letter and not be a Python keyword; "
                f"got {self.name!r}"
            )
        for field in fields(self):
            is_allowed, allowed = _ALLOWED.get(str(field.type), (lambda value: True, ""))
            if not is_allowed(value := getattr(self, field.name)):
                raise RegistrationError(f"{self.name}: {field.name} must be {allowed}, got {value!r}")

    def load(self, field: str) -> Any:
        """Import and return the object that an attribute ``"module:attribute"`` or ``"module"`` refers to.

        Raises:
            RegistrationError: the module cannot be imported, or has no such attribute.
        """
        return load_attribute(getattr(self, field), f"{self.name}: {field}")

    def load_class(self, field: str, base: type[T]) -> type[T]:
        """Import and return the class that an attribute refers to. Raises ``RegistrationError`` unless it is one of ``base``."""
        found = self.load(field)
        if not (isinstance(found, type) and issubclass(found, base)):
            raise RegistrationError(f"{self.name}: {field} must be a subclass of {base.__name__}, got {found!r}")
        return found


E = TypeVar("E", bound=Entry)

#: Registry by entry type.
_REGISTRIES: dict[type[Entry], Registry[Any]] = {}


class Registry(Generic[E]):
    """Registry of one kind of entry.

    Names are looked up among the built-in entries, then among those added at run time, then among the entry points of
    installed packages. An entry point that cannot be loaded does not affect other entries: its name is listed, and
    looking it up raises ``RegistrationError``.
    """

    def __init__(self, kind: str, entry_type: type[E], built_in: Iterable[E] | Reference, group: str) -> None:
        """Create a registry.

        Args:
            kind: name of the kind of entry in messages, e.g. ``"game"``.
            entry_type: class of the entries.
            built_in: built-in entries, or the path of these.
            group: entry-point group; an entry point must have the same name as the ``entry_type`` instance it refers to.
        """
        self._kind = kind
        self._entry_type = entry_type
        self._group = group
        self._built_in_entries = built_in
        self._added: dict[str, E] = {}
        self._loaded: dict[str, E] = {}
        self._entry_points: dict[str, list[metadata.EntryPoint]] | None = None
        self._listeners: list[Callable[[E], None]] = []
        _REGISTRIES[entry_type] = self

    @cached_property
    def _built_in(self) -> dict[str, E]:
        entries = self._built_in_entries
        found = load_attribute(entries, self._kind) if isinstance(entries, str) else entries
        return {entry.name: entry for entry in found}

    def names(self) -> tuple[str, ...]:
        """Return all names: built-in, added at run time, and declared by entry points."""
        return tuple(dict.fromkeys([*self._built_in, *self._found(), *self._added]))

    def built_in_names(self) -> tuple[str, ...]:
        """Return the names of the built-in entries."""
        return tuple(self._built_in)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._built_in or name in self._added or name in self._found())

    def __getitem__(self, name: str) -> E:
        """Return the entry with a name.

        Raises:
            KeyError: the name is unknown.
            RegistrationError: the entry point with this name cannot be loaded.
        """
        for entries in (self._built_in, self._added, self._loaded):
            if name in entries:
                return entries[name]
        self._loaded[name] = self._load(name, self._found()[name])
        return self._loaded[name]

    def loadable(self) -> list[E]:
        """Return all entries. Entry points that cannot be loaded are logged and skipped."""
        entries = []
        for name in self.names():
            try:
                entries.append(self[name])
            except RegistrationError as error:
                logger.warning("%s", error)
        return entries

    def add(self, entry: E) -> None:
        """Add an entry. Adding the same entry again has no effect.

        Raises:
            RegistrationError: the entry has the wrong type, or its name is used by a different entry.
        """
        if type(entry) is not self._entry_type:
            raise RegistrationError(f"a {self._kind} must be a {self._entry_type.__name__}, got {entry!r}")
        if entry.name in self:
            if self[entry.name] == entry:
                return
            raise RegistrationError(f"the {self._kind} {entry.name!r} is already registered")
        self._added[entry.name] = entry
        for listener in self._listeners:
            listener(entry)

    def added(self, name: str) -> E | None:
        """Return the entry with this name that was added at run time, or None."""
        return self._added.get(name)

    def call_on_add(self, listener: Callable[[E], None]) -> None:
        """Register a callback that is called with every entry added later."""
        self._listeners.append(listener)

    def _found(self) -> dict[str, list[metadata.EntryPoint]]:
        """Return the entry points of installed packages by name. The result is cached."""
        if self._entry_points is None:
            self._entry_points = {}
            for entry_point in metadata.entry_points(group=self._group):
                if entry_point.name in self._built_in:
                    logger.warning(
                        "ignoring entry point %s of group %s: the name is built in", _in_words(entry_point), self._group
                    )
                elif entry_point not in (same_name := self._entry_points.setdefault(entry_point.name, [])):
                    same_name.append(entry_point)
        return self._entry_points

    def _load(self, name: str, entry_points: list[metadata.EntryPoint]) -> E:
        where = f"the {self._kind} {name!r}"
        if len(entry_points) > 1:
            claims = " and ".join(map(_in_words, entry_points))
            raise RegistrationError(f"{where} is declared by more than one entry point: {claims}")
        try:
            entry = entry_points[0].load()
        except Exception as error:  # third-party code can raise anything
            raise RegistrationError(
                f"{where} cannot be loaded from entry point {_in_words(entry_points[0])}: {type(error).__name__}: {error}"
            ) from error
        if type(entry) is not self._entry_type or entry.name != name:
            raise RegistrationError(
                f"{where}: entry point {_in_words(entry_points[0])} must refer to a {self._entry_type.__name__} "
                f"named {name!r}, got {entry!r}"
            )
        return entry


def load_attribute(path: str, what: str) -> Any:
    """Import and return the object at ``"module:attribute"`` or ``"module"``.

    Args:
        path: the module and optionally, after a colon, the (possibly dotted) attribute.
        what: description for error messages.

    Raises:
        MissingDependencyError: the module needs a package that is not installed.
        RegistrationError: the module cannot be imported, or has no such attribute.
    """
    if path in _GIVEN:
        return _GIVEN[path]
    module_name, _, attribute = path.partition(":")
    try:
        found: Any = import_module(module_name)
        for part in attribute.split(".") if attribute else ():
            found = getattr(found, part)
    except MissingDependencyError:  # it names the extra to install
        raise
    except Exception as error:  # third-party code can raise anything
        raise RegistrationError(f"{what}: cannot import {path!r}: {type(error).__name__}: {error}") from error
    return found


#: Objects registered directly in this process, by path: code defined in a notebook cannot be imported by name.
_GIVEN: dict[str, Any] = {}


def shared_name(module: str) -> str:
    """Return the name of a module in all processes: those that multiprocessing starts import the program under another one."""
    return "__main__" if module == "__mp_main__" else module


def path_of(code: object) -> object:
    """Return the path ``"module:name"`` of a class or function and store the object under it; return other values unchanged."""
    if isinstance(code, str) or not hasattr(code, "__qualname__"):
        return code
    path = f"{shared_name(code.__module__)}:{code.__qualname__}"
    _GIVEN[path] = code
    return path


def added_entries() -> tuple[Entry, ...]:
    """Return the entries added to all registries at run time, for use in another process (see :func:`add_entries`)."""
    return tuple(entry for registry in _REGISTRIES.values() for entry in registry._added.values())


def add_entries(entries: Iterable[Entry]) -> None:
    """Add entries to their registries. Raises as :meth:`Registry.add`."""
    for entry in entries:
        _REGISTRIES[type(entry)].add(entry)


def _in_words(entry_point: metadata.EntryPoint) -> str:
    package = f" of package {entry_point.dist.name}" if entry_point.dist is not None else ""
    return f"'{entry_point.name} = {entry_point.value}'{package}"
