"""Configurations of training by name: one YAML file per run.

A key that is unknown or missing, or a value of the wrong type or out of range, raises :class:`ConfigError`, which names
the file, the key, the value and the allowed values.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Protocol, cast

import yaml

from stoneworks.envs.rules import load_game
from stoneworks.models.bots.spec import UntrustedNameError, check_name_in_file
from stoneworks.reading import read_text
from stoneworks.training.runs.algorithms import ALGORITHMS, algorithm_names
from stoneworks.training.runs.config_reading import ConfigError, apply_override, build, read_yaml, shown

#: Maximum size of a configuration file in bytes.
MAX_BYTES = 2**20


class RunConfig(Protocol):
    """Common part of the configurations of all algorithms: frozen dataclasses with these fields and their own.

    The optional static method ``game_defaults(game)`` returns values by key, such as ``matches.opponents``, that
    replace the defaults for that game.

    Attributes:
        algorithm: name of the algorithm in the registry.
        game: the game string.
        seed: seed of all random numbers.
    """

    @property
    def algorithm(self) -> str: ...  # noqa: D102

    @property
    def game(self) -> str: ...  # noqa: D102

    @property
    def seed(self) -> int: ...  # noqa: D102

    def check(self, source: str) -> None:
        """Raise :class:`ConfigError` if values are inconsistent with each other."""


def config_names() -> list[str]:
    """Return the names of the built-in configurations."""
    files = resources.files("stoneworks.configs").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def load_config(name: str, overrides: Sequence[str] = (), *, trust_names: bool = False) -> RunConfig:
    """Read a configuration.

    Args:
        name: one of ``config_names()``, or the path of a YAML file.
        overrides: ``"key=value"`` strings; dots separate nested keys: ``"network.channels=32"``. Values are YAML.
        trust_names: whether names of bots and checkpoints in the file may start programs or refer to paths outside its
            folder. Names in ``overrides`` always may.

    Raises:
        ConfigError: see :mod:`stoneworks.training.runs.config`.
        UntrustedNameError: a name in the file starts a program or refers to a path outside the file's folder.
    """
    if name in config_names():
        text, source = resources.files("stoneworks.configs").joinpath(f"{name}.yaml").read_text(encoding="utf-8"), name
    elif _is_file(name):
        text, source = read_text(name, ConfigError, MAX_BYTES), name
    else:
        raise ConfigError(
            f"unknown configuration {shown(name)}; valid names: {', '.join(config_names())}, or the path of a YAML file"
        )
    values = read_yaml(text, source)
    if not trust_names:
        _check_names(values, source, Path(name).parent)
    for override in overrides:
        apply_override(values, override)
    return parse_config(values, source)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError, TypeError):  # too long, with a null character, or not a path
        return False


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
    elif isinstance(values, str) and values and (key.endswith("opponents") or key in ("init_from", "positions_from")):
        check_name_in_file(values, source, folder)


def parse_config(values: Mapping[str, Any], source: str) -> RunConfig:
    """Return the validated configuration with ``values``. ``source`` is its name in errors."""
    allowed = ", ".join(algorithm_names())
    if "algorithm" not in values:
        raise ConfigError(f"{source}: the key algorithm is missing; it must be one of {allowed}")
    algorithm = values["algorithm"]
    if algorithm not in ALGORITHMS:
        raise ConfigError(f"{source}: algorithm must be one of {allowed}, got {shown(algorithm)}")
    config_class = ALGORITHMS[algorithm].config_class()
    config: RunConfig = build(config_class, _with_game_defaults(config_class, values), source)
    try:
        load_game(config.game)
    except ValueError as error:
        raise ConfigError(f"{source}: game: {error}") from None
    config.check(source)
    return config


def _with_game_defaults(config_class: Any, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return ``values`` with game-dependent defaults for missing keys, if the configuration defines such defaults."""
    try:
        defaults = config_class.game_defaults(load_game(values["game"]))
    except (AttributeError, KeyError, ValueError):  # no such method, or an invalid game, which is reported later
        return values
    filled = copy.deepcopy(dict(values))
    for key, value in defaults.items():
        part, name = key.split(".")
        if isinstance(of_part := filled.setdefault(part, {}), dict):
            of_part.setdefault(name, value)
    return filled


def dump_config(config: RunConfig) -> str:
    """Return the configuration as YAML, including keys with default values."""
    return yaml.safe_dump(config_as_dict(config), sort_keys=False)


def config_as_dict(config: RunConfig) -> dict[str, Any]:
    """Return the configuration as JSON-serializable values."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return list(value) if isinstance(value, tuple) else value

    return {key: plain(value) for key, value in dataclasses.asdict(cast(Any, config)).items()}


def check_unchanged(before: Any, config: RunConfig, changeable: Sequence[str], source: str) -> None:
    """Raise :class:`ConfigError` if a run that started with the configuration ``before`` cannot continue with ``config``.

    Args:
        before: result of :func:`config_as_dict` at the start.
        config: the current configuration.
        changeable: keys whose values may change.
        source: name of the run in errors.
    """
    if not isinstance(before, dict):
        raise ConfigError(f"{source}: the configuration that it was trained with is missing")
    earlier = parse_config(before, source)
    if type(earlier) is not type(config):
        raise ConfigError(f"{source}: algorithm is {config.algorithm!r}; the run began with {earlier.algorithm!r}")
    now = config_as_dict(config)
    for key, value in config_as_dict(earlier).items():
        if key not in changeable and now[key] != value:
            raise ConfigError(
                f"{source}: {key} is {now[key]!r}; the run began with {value!r}; only {', '.join(changeable)} may change"
            )
