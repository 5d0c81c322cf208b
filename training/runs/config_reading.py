"""Strict reading: YAML and mappings into frozen dataclasses whose fields say what is allowed."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeVar, get_type_hints

import yaml


class ConfigError(ValueError):
    """A configuration that is not allowed. The message names the file, the key, the value and what is allowed."""


def number(allowed: str, holds: Callable[[Any], bool], **arguments: Any) -> Any:
    """Return a dataclass field whose value must satisfy ``holds``; ``allowed`` says so in words."""
    return field(metadata={"allowed": allowed, "holds": holds}, **arguments)


def at_least(least: float, **arguments: Any) -> Any:
    """Return a dataclass field whose value must not be less than ``least``."""
    return number(f">= {least}", lambda value: value >= least, **arguments)


def above_0(**arguments: Any) -> Any:
    """Return a dataclass field whose value must be greater than 0."""
    return number("> 0", lambda value: value > 0, **arguments)


def between_0_and_1(**arguments: Any) -> Any:
    """Return a dataclass field whose value must be from 0 to 1."""
    return number("from 0 to 1", lambda value: 0 <= value <= 1, **arguments)


class _Loader(yaml.SafeLoader):
    """YAML in which 1e-3 is a number, as in YAML 1.2, and a key may not stand twice."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def _construct_mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    repeated = {key for key in keys if keys.count(key) > 1}
    if repeated:
        raise yaml.constructor.ConstructorError(None, None, f"the key {repeated.pop()!r} stands twice", node.start_mark)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)


def read_yaml(text: str, source: str) -> dict[str, Any]:
    """Return the keys and values of YAML. Raises :class:`ConfigError` for anything else; ``source`` is what it calls the text."""
    try:
        values = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{source} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{source} is {type(values).__name__}; allowed are keys with values")
    return values


def apply_override(values: dict[str, Any], override: str) -> None:
    """Set what ``override``, ``"key=value"``, says. Raises :class:`ConfigError` where it says nothing."""
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"override {override!r}; allowed is key=value, such as network.channels=32")
    *parts, last = key.split(".")
    for part in parts:
        inner = values.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"override {override!r}: {part} is {inner!r} and has no parts")
        values = inner
    values[last] = read_yaml(f"value: {text}", f"override {override!r}")["value"]


Config = TypeVar("Config")


def build(kind: type[Config], values: Any, source: str, prefix: str = "") -> Config:
    """Return the dataclass ``kind`` made of ``values``, every one of them checked. Raises :class:`ConfigError`."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{source}: {prefix.rstrip('.')} is {values!r}; allowed are keys with values")
    known = {item.name: item for item in dataclasses.fields(kind)}  # type: ignore[arg-type]
    types = get_type_hints(kind)
    for key in values:
        if key not in known:
            raise ConfigError(f"{source}: there is no key {prefix}{key}; allowed are {', '.join(known)}")
    built: dict[str, Any] = {}
    for key, item in known.items():
        if key in values:
            built[key] = _checked(types[key], values[key], item.metadata, source, f"{prefix}{key}")
        elif item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
            raise ConfigError(f"{source}: the key {prefix}{key} is missing")
    return kind(**built)


def _checked(kind: Any, value: Any, metadata: Mapping[str, Any], source: str, key: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return build(kind, value, source, f"{key}.")  # type: ignore[arg-type]
    if kind == tuple[str, ...]:
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise ConfigError(f"{source}: {key} is {value!r}; allowed is a list of texts")
        return tuple(value)
    words = {int: "a whole number", float: "a number", str: "a text"}[kind]
    allowed = f"{words} {metadata['allowed']}" if "allowed" in metadata else words
    fits = isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool)
    if not fits or (kind is float and not math.isfinite(value)) or not metadata.get("holds", lambda _: True)(value):
        raise ConfigError(f"{source}: {key} is {value!r}; allowed is {allowed}")
    return float(value) if kind is float else value
