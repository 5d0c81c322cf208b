"""Configurations of training: YAML that is read strictly into frozen dataclasses.

An unknown key, a missing one, a value of the wrong type or outside its range is a :class:`ConfigError`, which names the
file, the key, the value and what is allowed.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import yaml

from stoneworks.envs.rules import load_game


class ConfigError(ValueError):
    """A configuration that is not allowed. The message names the file, the key, the value and what is allowed."""


def _number(allowed: str, holds: Callable[[Any], bool], **arguments: Any) -> Any:
    """Return a dataclass field whose value must satisfy ``holds``; ``allowed`` says so in words."""
    return field(metadata={"allowed": allowed, "holds": holds}, **arguments)


def _at_least(least: float, **arguments: Any) -> Any:
    return _number(f">= {least}", lambda value: value >= least, **arguments)


def _above_0(**arguments: Any) -> Any:
    return _number("> 0", lambda value: value > 0, **arguments)


def _between_0_and_1(**arguments: Any) -> Any:
    return _number("from 0 to 1", lambda value: 0 <= value <= 1, **arguments)


@dataclass(frozen=True)
class NetworkConfig:
    """The network (see :class:`stoneworks.models.network.BoardNetwork`).

    Attributes:
        channels: width of the convolutions.
        blocks: number of residual blocks.
    """

    channels: int = _at_least(1, default=16)
    blocks: int = _at_least(0, default=1)


@dataclass(frozen=True)
class OpponentsConfig:
    """Who the learner plays: shares of the games, in any unit.

    Attributes:
        latest: the learner's own policy as it was when the last games were collected.
        past: its past selves, a few at a time, drawn anew for every update.
        random: the random bot.
        greedy: the greedy bot.
        past_selves: how many past selves are kept; when there are more, every second one goes.
        past_selves_at_once: how many of them take on new games in one update.
        updates_between_past_selves: updates from one past self to the next, at first; whenever every second one goes, it
            doubles. So they are spread evenly over the time so far.
    """

    latest: float = _at_least(0, default=0.5)
    past: float = _at_least(0, default=0.3)
    random: float = _at_least(0, default=0.1)
    greedy: float = _at_least(0, default=0.1)
    past_selves: int = _at_least(2, default=16)
    past_selves_at_once: int = _at_least(1, default=2)
    updates_between_past_selves: int = _at_least(1, default=8)


@dataclass(frozen=True)
class EvaluationConfig:
    """Matches in paired games while training goes on (see :func:`stoneworks.training.match.play_match`).

    Attributes:
        frames: frames from one evaluation to the next.
        num_pairs: pairs of games against each opponent.
        opening_actions: random actions at the start of each pair.
        opponents: names of bots.
    """

    frames: int = _at_least(1, default=250_000)
    num_pairs: int = _at_least(1, default=50)
    opening_actions: int = _at_least(0, default=3)
    opponents: tuple[str, ...] = ("random", "greedy")


@dataclass(frozen=True)
class PPOConfig:
    """A run of PPO self-play. A frame is one action of the learner.

    Attributes:
        algorithm: ``ppo``.
        game: the game string.
        frames: how many to train on. Whole updates are made, so it may be a few more.
        seed: of everything random.
        num_games: games that are played at once.
        steps_per_update: learner's actions in each game from one update to the next.
        minibatch_size: frames of one gradient step.
        epochs: how often an update uses each frame.
        learning_rate: of Adam, at the start.
        final_learning_rate: of Adam, at the end; it changes in a straight line.
        discount: by how much a result is worth less with each action.
        gae_lambda: of generalised advantage estimation (Schulman et al., 2016).
        clip_range: of the probability ratio (Schulman et al., 2017).
        entropy_coefficient: weight of the policy's entropy in the objective.
        value_coefficient: weight of the value's error in the objective.
        max_gradient_norm: to which gradients are clipped.
        checkpoint_frames: frames from one checkpoint to the next.
        threads: that torch computes with; 0 for as many as torch chooses. More than one is faster on a quiet machine, and
            much slower on one that has other work to do. Results may depend on the number in their last digits.
        network: the network.
        opponents: who the learner plays.
        evaluation: matches while training goes on.
    """

    game: str
    frames: int = _at_least(1)
    algorithm: str = _number("ppo", lambda value: value == "ppo", default="ppo")
    seed: int = _at_least(0, default=0)
    num_games: int = _at_least(1, default=256)
    steps_per_update: int = _at_least(1, default=32)
    minibatch_size: int = _at_least(2, default=512)
    epochs: int = _at_least(1, default=2)
    learning_rate: float = _above_0(default=1e-3)
    final_learning_rate: float = _above_0(default=1e-4)
    discount: float = _number("> 0 and <= 1", lambda value: 0 < value <= 1, default=1.0)
    gae_lambda: float = _between_0_and_1(default=0.95)
    clip_range: float = _above_0(default=0.2)
    entropy_coefficient: float = _at_least(0, default=0.01)
    value_coefficient: float = _at_least(0, default=0.5)
    max_gradient_norm: float = _above_0(default=0.5)
    checkpoint_frames: int = _at_least(1, default=250_000)
    threads: int = _at_least(0, default=1)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    opponents: OpponentsConfig = field(default_factory=OpponentsConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)

    @property
    def frames_per_update(self) -> int:
        """Frames from one update to the next."""
        return self.num_games * self.steps_per_update


def config_names() -> list[str]:
    """Return the names of the configurations that come with stoneworks."""
    files = resources.files("stoneworks.configs").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def load_config(name: str, overrides: Sequence[str] = ()) -> PPOConfig:
    """Read a configuration.

    Args:
        name: one of ``config_names()``, or the path of a YAML file.
        overrides: ``"key=value"``, with dots into parts: ``"network.channels=32"``. Values are YAML.

    Raises:
        ConfigError: see :mod:`stoneworks.training.config`.
    """
    if name in config_names():
        text, source = resources.files("stoneworks.configs").joinpath(f"{name}.yaml").read_text(encoding="utf-8"), name
    elif Path(name).is_file():
        try:
            text, source = Path(name).read_text(encoding="utf-8"), name
        except UnicodeDecodeError as error:
            raise ConfigError(f"{name} is no UTF-8 text: {error}") from None
    else:
        raise ConfigError(
            f"there is no configuration {name!r}; allowed are {', '.join(config_names())}, or a YAML file"
        )
    values = _read_yaml(text, source)
    for override in overrides:
        _apply(values, override)
    return parse_config(values, source)


def parse_config(values: Mapping[str, Any], source: str) -> PPOConfig:
    """Return the configuration that ``values`` are, checked. ``source`` is what errors call it."""
    config = _build(PPOConfig, values, source, "")
    try:
        load_game(config.game)
    except ValueError as error:
        raise ConfigError(f"{source}: game is {config.game!r}: {error}") from None
    shares = config.opponents
    if shares.latest + shares.past + shares.random + shares.greedy <= 0:
        raise ConfigError(
            f"{source}: the shares latest, past, random and greedy of opponents are all 0; allowed is a sum > 0"
        )
    if config.frames_per_update % config.minibatch_size:
        raise ConfigError(
            f"{source}: minibatch_size is {config.minibatch_size}; allowed is a divisor of "
            f"num_games * steps_per_update, {config.frames_per_update}"
        )
    return config


def dump_config(config: PPOConfig) -> str:
    """Return the configuration as YAML, every key with its value."""
    return yaml.safe_dump(config_as_dict(config), sort_keys=False)


def config_as_dict(config: PPOConfig) -> dict[str, Any]:
    """Return the configuration as JSON and YAML have it."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return list(value) if isinstance(value, tuple) else value

    return {key: plain(value) for key, value in dataclasses.asdict(config).items()}


# -- Reading -----------------------------------------------------------------------------------------------------------


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


def _read_yaml(text: str, source: str) -> dict[str, Any]:
    try:
        values = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{source} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{source} is {type(values).__name__}; allowed are keys with values")
    return values


def _apply(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"override {override!r}; allowed is key=value, such as network.channels=32")
    *parts, last = key.split(".")
    for part in parts:
        inner = values.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"override {override!r}: {part} is {inner!r} and has no parts")
        values = inner
    values[last] = _read_yaml(f"value: {text}", f"override {override!r}")["value"]


Config = TypeVar("Config")


def _build(kind: type[Config], values: Any, source: str, prefix: str) -> Config:
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
        return _build(kind, value, source, f"{key}.")  # type: ignore[arg-type]
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
