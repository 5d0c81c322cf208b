"""Strict parsing of YAML and mappings into frozen dataclasses, whose fields define the allowed values."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeVar, get_type_hints

import yaml

from stoneworks.models.architecture import NetworkConfig, network_entry

#: Maximum number of values in a file, with aliases expanded.
MAX_VALUES = 100_000

#: Exclusive upper bound of integers, which every array library can represent.
_INTEGER_BOUND = 2**63


class ConfigError(ValueError):
    """Raised for an invalid configuration. The message names the file, the key, the value and the allowed values."""


def number(allowed: str, holds: Callable[[Any], bool], **arguments: Any) -> Any:
    """Return a dataclass field whose value must satisfy ``holds``; ``allowed`` describes the allowed values in errors."""
    return field(metadata={"allowed": allowed, "holds": holds}, **arguments)


def at_least(least: float, **arguments: Any) -> Any:
    """Return a dataclass field whose value must be >= ``least``."""
    return number(f">= {least}", lambda value: value >= least, **arguments)


def between(least: float, greatest: float, **arguments: Any) -> Any:
    """Return a dataclass field whose value must be in [``least``, ``greatest``]."""
    return number(f"from {least} to {greatest}", lambda value: least <= value <= greatest, **arguments)


def above_0(**arguments: Any) -> Any:
    """Return a dataclass field whose value must be > 0."""
    return number("> 0", lambda value: value > 0, **arguments)


def between_0_and_1(**arguments: Any) -> Any:
    """Return a dataclass field whose value must be in [0, 1]."""
    return between(0, 1, **arguments)


# -- YAML --------------------------------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """YAML loader that parses 1e-3 as a number, as in YAML 1.2, and rejects duplicate keys."""


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
    """Return a YAML mapping as a dict. Raises :class:`ConfigError` for other content; ``source`` is its name in errors."""
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
    except Exception as error:  # PyYAML raises KeyError, TypeError and others for tagged values
        reason = " ".join(str(error).split())[:500]
        raise ConfigError(f"{source} is not valid YAML: {reason or type(error).__name__}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{source} must be a mapping, got {type(values).__name__}")
    return values


def _num_values(node: yaml.Node, counted: dict[yaml.Node, int]) -> int:
    """Return the number of values of a node with aliases expanded. Raises ``ValueError`` above the maximum."""
    if node not in counted:
        counted[node] = MAX_VALUES  # for an alias of a node inside itself
        total = 1
        for item in node.value if isinstance(node, yaml.CollectionNode) else ():
            for child in item if isinstance(item, tuple) else (item,):
                total += _num_values(child, counted)
                if total > MAX_VALUES:
                    raise ValueError(f"it must have at most {MAX_VALUES:,} values, those repeated by aliases included")
        counted[node] = total
    return counted[node]


def apply_override(values: dict[str, Any], override: str) -> None:
    """Apply ``override``, a ``"key=value"`` string. Raises :class:`ConfigError` if it is invalid."""
    key, equals, text = override.partition("=") if isinstance(override, str) else ("", "", "")
    if not equals or not key:
        raise ConfigError(f"an override must be key=value, e.g. network.channels=32, got {shown(override)}")
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
    """Return an instance of the dataclass ``kind`` with validated ``values``. Raises :class:`ConfigError`."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{source}: {prefix.rstrip('.')} must be a mapping, got {shown(values)}")
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
    """Return a value for an error message, truncated if it is long."""
    try:
        words = text(value)
    except (ValueError, RecursionError):  # an integer with thousands of digits, or a container that contains itself
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
    if kind == dict[str, float]:
        return _shares(value, source, key)
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


def _shares(values: Any, source: str, key: str) -> dict[str, float]:
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise ConfigError(f"{source}: {key} must be a mapping from names to numbers, got {shown(values)}")
    for name, value in values.items():
        if not _is_a(float, value) or value <= 0:
            raise ConfigError(f"{source}: {key}.{shown(name, str)} must be a number > 0, got {shown(value)}")
    return {name: float(value) for name, value in values.items()}


def _network(values: Any, item: dataclasses.Field[Any], source: str, key: str) -> NetworkConfig:
    """Return the hyperparameters of the network ``values["kind"]``; the default kind is that of the field's default."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{source}: {key} must be a mapping, got {shown(values)}")
    default = {} if item.default_factory is dataclasses.MISSING else dataclasses.asdict(item.default_factory())
    kind = values.get("kind", default.get("kind"))
    try:
        config_class = network_entry(kind).config_class()
    except ValueError as error:
        raise ConfigError(f"{source}: {key}.{error}") from None
    if kind != default.get("kind"):
        default = {}
    return build(config_class, {**default, **values}, source, f"{key}.")
