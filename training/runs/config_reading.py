"""Strict reading: YAML and mappings into frozen dataclasses whose fields say what is allowed."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeVar, get_type_hints

import yaml

from stoneworks.models.architecture import NetworkConfig, network_entry

#: The greatest number of values in a file, those that aliases repeat counted each time.
MAX_VALUES = 100_000

#: Integers are less than this, which every array library can hold.
_INTEGER_BOUND = 2**63


class ConfigError(ValueError):
    """Raised for an invalid configuration. The message names the file, the key, the value and what is allowed."""


def number(allowed: str, holds: Callable[[Any], bool], **arguments: Any) -> Any:
    """Return a dataclass field whose value must satisfy ``holds``; ``allowed`` says so in words."""
    return field(metadata={"allowed": allowed, "holds": holds}, **arguments)


def at_least(least: float, **arguments: Any) -> Any:
    """Return a dataclass field whose value must not be less than ``least``."""
    return number(f">= {least}", lambda value: value >= least, **arguments)


def between(least: float, greatest: float, **arguments: Any) -> Any:
    """Return a dataclass field whose value must be from ``least`` to ``greatest``."""
    return number(f"from {least} to {greatest}", lambda value: least <= value <= greatest, **arguments)


def above_0(**arguments: Any) -> Any:
    """Return a dataclass field whose value must be greater than 0."""
    return number("> 0", lambda value: value > 0, **arguments)


def between_0_and_1(**arguments: Any) -> Any:
    """Return a dataclass field whose value must be from 0 to 1."""
    return between(0, 1, **arguments)


# -- YAML --------------------------------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """YAML in which 1e-3 is a number, as in YAML 1.2, and duplicate keys are errors."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def _construct_mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key!r}", node.start_mark)
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)


def read_yaml(text: str, source: str) -> dict[str, Any]:
    """Return the keys and values of YAML. Raises :class:`ConfigError` for anything else; ``source`` is what it calls the text."""
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is not None:
                _num_values(node, {})
            values = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except RecursionError:
        raise ConfigError(f"{source} is not valid YAML: it is nested too deeply") from None
    except Exception as error:  # for values with tags PyYAML raises KeyError, TypeError and more
        reason = " ".join(str(error).split())[:500]
        raise ConfigError(f"{source} is not valid YAML: {reason or type(error).__name__}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{source} must be keys with values, got {type(values).__name__}")
    return values


def _num_values(node: yaml.Node, counted: dict[yaml.Node, int]) -> int:
    """Return the number of values that a node holds when aliases are written out. Raises ``ValueError`` above the bound."""
    if node not in counted:
        counted[node] = MAX_VALUES  # an alias of a node inside itself
        total = 1
        for item in node.value if isinstance(node, yaml.CollectionNode) else ():
            for child in item if isinstance(item, tuple) else (item,):
                total += _num_values(child, counted)
                if total > MAX_VALUES:
                    raise ValueError(f"it must have at most {MAX_VALUES:,} values, those repeated by aliases included")
        counted[node] = total
    return counted[node]


def apply_override(values: dict[str, Any], override: str) -> None:
    """Set what ``override``, ``"key=value"``, says. Raises :class:`ConfigError` where it is not valid."""
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"an override must be key=value, e.g. network.channels=32, got {override!r}")
    *parts, last = key.split(".")
    for part in parts:
        inner = values.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"override {override!r}: {part} is {shown(inner)}, which has no keys")
        values = inner
    values[last] = read_yaml(f"value: {text}", f"override {override!r}")["value"]


# -- Dataclasses -------------------------------------------------------------------------------------------------------

Config = TypeVar("Config")


def build(kind: type[Config], values: Any, source: str, prefix: str = "") -> Config:
    """Return the dataclass ``kind`` made of ``values``, every one of them checked. Raises :class:`ConfigError`."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{source}: {prefix.rstrip('.')} must be keys with values, got {shown(values)}")
    known = {item.name: item for item in dataclasses.fields(kind)}  # type: ignore[arg-type]
    types = get_type_hints(kind)
    for key in values:
        if key not in known:
            raise ConfigError(f"{source}: unknown key {prefix}{shown(key, str)}; valid keys: {', '.join(known)}")
    built: dict[str, Any] = {}
    for key, item in known.items():
        if key in values:
            built[key] = _checked(types[key], values[key], item, source, f"{prefix}{key}")
        elif item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
            raise ConfigError(f"{source}: the key {prefix}{key} is missing")
    try:
        return kind(**built)
    except ValueError as error:
        raise ConfigError(f"{source}: {prefix}{error}") from None


def shown(value: Any, text: Callable[[Any], str] = repr) -> str:
    """Return a value for an error message, cut where it is long."""
    try:
        words = text(value)
    except (ValueError, RecursionError):  # of an integer with thousands of digits, of a value that holds itself
        return f"a very large {type(value).__name__}"
    return words if len(words) <= 200 else f"{words[:200]}..."


def _checked(kind: Any, value: Any, item: dataclasses.Field[Any], source: str, key: str) -> Any:
    if kind is NetworkConfig:
        return _network(value, item, source, key)
    if dataclasses.is_dataclass(kind):
        return build(kind, value, source, f"{key}.")  # type: ignore[arg-type]
    if kind == tuple[str, ...]:
        if not isinstance(value, (list, tuple)) or not all(isinstance(part, str) for part in value):
            raise ConfigError(f"{source}: {key} must be a list of strings, got {shown(value)}")
        return tuple(value)
    holds = item.metadata.get("holds", lambda _: True)
    if not _is_a(kind, value) or not holds(value):
        allowed = item.metadata.get("allowed", "")
        words = {int: "an integer", float: "a number", str: "" if allowed else "a string", bool: "true or false"}[kind]
        raise ConfigError(f"{source}: {key} must be {f'{words} {allowed}'.strip()}, got {shown(value)}")
    return float(value) if kind is float else value


def _is_a(kind: type, value: Any) -> bool:
    if kind in (str, bool) or isinstance(value, bool):
        return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if not isinstance(value, (int, float) if kind is float else int):
        return False
    return -_INTEGER_BOUND < value < _INTEGER_BOUND if isinstance(value, int) else math.isfinite(value)


def _network(values: Any, item: dataclasses.Field[Any], source: str, key: str) -> NetworkConfig:
    """Return the hyperparameters of the network ``values["kind"]``, by default those of the field's default."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{source}: {key} must be keys with values, got {shown(values)}")
    default = {} if item.default_factory is dataclasses.MISSING else dataclasses.asdict(item.default_factory())
    kind = values.get("kind", default.get("kind"))
    try:
        config_class = network_entry(kind).config_class()
    except ValueError as error:
        raise ConfigError(f"{source}: {key}.{error}") from None
    if kind != default.get("kind"):
        default = {}
    return build(config_class, {**default, **values}, source, f"{key}.")
