"""Configurations of training by name: one YAML file per run.

A key that is unknown or missing, or a value of the wrong type or out of range, raises :class:`ConfigError`, which names
the file, the key, the value and the allowed values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from stoneworks.documents import shown
from stoneworks.models.bots.spec import UntrustedNameError, check_name_in_file, registered_kind
from stoneworks.reading import read_text
from stoneworks.registry import HINT
from stoneworks.training.runs.algorithms import ALGORITHMS, ConfigError, RunConfig, algorithm_names

#: Maximum size of a configuration file in bytes.
MAX_BYTES = 2**20
#: Maximum number of values in a file, with aliases expanded.
MAX_VALUES = 100_000


def config_names() -> list[str]:
    """Return the names of the built-in configurations."""
    files = resources.files("stoneworks.configs").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def load_config(
    name: str, overrides: Sequence[str] | Mapping[str, Any] = (), *, trust_names: bool = False
) -> RunConfig:
    """Read a configuration.

    Args:
        name: one of ``config_names()``, or the path of a YAML file.
        overrides: values by key, or ``"key=value"`` strings, whose values are YAML; dots separate nested keys:
            ``"network.channels=32"``.
        trust_names: whether names of bots and checkpoints in the file may start programs or refer to paths outside its
            folder. Names in ``overrides`` always may.

    Raises:
        ConfigError: see :mod:`stoneworks.training.runs.config_files`.
        UntrustedNameError: a name in the file starts a program or refers to a path outside the file's folder.
    """
    if name in config_names():
        text, source = resources.files("stoneworks.configs").joinpath(f"{name}.yaml").read_text(encoding="utf-8"), name
    elif isinstance(name, str | os.PathLike) and os.path.isfile(name):
        text, source = read_text(name, ConfigError, MAX_BYTES), name
    else:
        file = ""
        if isinstance(name, str | os.PathLike) and os.path.isdir(name):
            file = ", which is a folder"
        elif str(name).endswith((".yaml", ".yml")) or os.path.dirname(str(name)):
            file = ", and there is no such file"
        raise ConfigError(
            f"unknown configuration {shown(name)}{file}; valid names: {', '.join(config_names())}, or the path of a YAML file"
        )
    values = read_yaml(text, source)
    if not trust_names:
        _check_names(values, source, Path(name).parent)
    given = overrides.items() if isinstance(overrides, Mapping) else map(_read_override, overrides)
    for key, value in given:
        if not isinstance(key, str):
            raise ConfigError(f"the key of an override must be text such as network.channels, got {shown(key)}")
        _apply_override(values, key, value)
    return parse_config(values, source)


def _check_names(values: Any, source: str, folder: Path, key: str = "") -> None:
    """Check the names of bots and checkpoints in a file. Raises ``UntrustedNameError``."""
    if isinstance(values, Mapping):
        for inner, value in values.items():
            if key == "bots":
                check_name_in_file(str(inner), source, folder)
            _check_names(value, source, folder, str(inner))
    elif isinstance(values, (list, tuple)):
        for value in values:
            _check_names(value, source, folder, key)
    elif key == "cluster" and values not in ("", "auto"):
        raise UntrustedNameError(
            f"{source} has the cluster {values!r}; pass the address with --cluster, or allow it with --trust-names"
        )
    elif isinstance(values, str) and values:
        entry = registered_kind(values)
        # A registered algorithm may have names of bots under keys of its own.
        starts_program = entry is not None and entry.starts_programs
        if starts_program or key.endswith("opponents") or key == "init_from":
            check_name_in_file(values, source, folder)


def parse_config(values: Mapping[str, Any], source: str) -> RunConfig:
    """Return the validated configuration with ``values``. ``source`` is its name in errors."""
    allowed = ", ".join(algorithm_names())
    if "algorithm" not in values:
        raise ConfigError(f"{source}: the key algorithm is missing; it must be one of {allowed}")
    algorithm = values["algorithm"]
    if algorithm not in ALGORITHMS:
        raise ConfigError(f"{source}: algorithm must be one of {allowed}, got {shown(algorithm)}; {HINT}")
    return ALGORITHMS[algorithm].config_class().parse(values, source)


def dump_config(config: RunConfig) -> str:
    """Return the configuration as YAML, including keys with default values."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)


def check_unchanged(before: Mapping[str, Any], config: RunConfig, source: str) -> None:
    """Raise :class:`ConfigError` if a run that started with the configuration ``before`` cannot continue with ``config``.

    Args:
        before: the configuration at the start, as in a checkpoint.
        config: the current configuration.
        source: name of the run in errors.
    """
    earlier = parse_config(before, source)
    if type(earlier) is not type(config):
        raise ConfigError(f"{source}: algorithm is {config.algorithm!r}; the run began with {earlier.algorithm!r}")
    changeable = (config.unit, "checkpoint_seconds", "threads", *config.changeable)
    now = config.model_dump(mode="json")
    for key, value in earlier.model_dump(mode="json").items():
        if key not in changeable and now[key] != value:
            raise ConfigError(
                f"{source}: {key} is {now[key]!r}; the run began with {value!r}; only {', '.join(changeable)} may change"
            )


# -- YAML --------------------------------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """YAML loader that parses 1e-3 as a number, as in YAML 1.2, and rejects duplicate keys and too many values."""

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None:
            _num_values(node, {})
        return node


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
        values = yaml.load(text, _Loader)
    except RecursionError:
        raise ConfigError(f"{source} is not valid YAML: it is nested too deeply") from None
    except Exception as error:  # PyYAML raises KeyError, TypeError and others for tagged values
        reason = str(error)
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
            where = f"line {error.problem_mark.line + 1}, column {error.problem_mark.column + 1}"
            reason = f"{', '.join(filter(None, (error.context, error.problem)))} ({where})"
        reason = " ".join(reason.split())[:500]
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


def _read_override(override: str) -> tuple[str, Any]:
    """Return the key and the value of a ``"key=value"`` string. Raises :class:`ConfigError` if it is invalid."""
    key, equals, text = override.partition("=") if isinstance(override, str) else ("", "", "")
    if not equals or not key:
        raise ConfigError(f"an override must be key=value, e.g. network.channels=32, got {shown(override)}")
    values = read_yaml(f"value: {text}", f"override {override!r}")
    if len(values) > 1:
        raise ConfigError(f"an override must be one key=value, got {shown(override)}")
    return key, values["value"]


def _apply_override(values: dict[str, Any], key: str, value: Any) -> None:
    *parts, last = key.split(".")
    for part in parts:
        inner = values.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"override {key!r}: {part} is {shown(inner)}, which has no keys")
        values[part] = values = dict(inner)  # a copy: an alias may share the mapping
    values[last] = value
