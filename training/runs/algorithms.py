"""Training algorithms: what one provides, and the registry that training, display, reports and shipping look it up in.

An algorithm is registered by an :class:`AlgorithmEntry` in this module, by :func:`register_algorithm`, or by an entry point of
the group ``stoneworks.algorithms`` that refers to an ``AlgorithmEntry``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from pydantic import AfterValidator, BaseModel, Field, SerializeAsAny, field_validator, model_validator

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.parts import has_features
from stoneworks.evaluation.match import MAX_OPENING_ACTIONS, MAX_PAIRS_AT_ONCE
from stoneworks.models.architecture import NetworkConfig, ResidualConfig, network_config
from stoneworks.models.description import PlaySettings
from stoneworks.registry import Entry, Reference, Registry, path_of

if TYPE_CHECKING:
    from torch import Tensor

    from stoneworks.models import Bot
    from stoneworks.models.checkpoint import Checkpoint
    from stoneworks.models.network import BoardNetwork

ENTRY_POINT_GROUP = "stoneworks.algorithms"

Row = Mapping[str, Any]
#: Heading, paragraph (may be empty), and pictures as PNG by name of a section of a report.
ReportSection: TypeAlias = tuple[str, str, Mapping[str, bytes]]


class ConfigError(ValueError):
    """Raised for an invalid configuration. The message names the file, the key, the value and the allowed values."""


def _check_game(name: str) -> str:
    load_game(name)
    return name


def _check_different(names: tuple[str, ...]) -> tuple[str, ...]:
    if len({*names}) < len(names):
        raise ValueError(f"the opponents must be different, got {', '.join(names)}")
    return names


#: An integer that every array library can represent.
Int = Annotated[int, Field(gt=-(2**63), lt=2**63)]
#: A valid game string.
GameString = Annotated[str, AfterValidator(_check_game)]
#: Pairs of games of a match.
NumPairs = Annotated[Int, Field(ge=1, le=MAX_PAIRS_AT_ONCE)]
#: Bot names without duplicates.
Opponents = Annotated[Tuple[str], AfterValidator(_check_different)]
#: A device of torch; ``auto`` is a GPU if one is available, else the processor.
Device = Literal["auto", "cpu", "cuda"]


class MatchSettings(Document):
    """Paired matches during training (see :func:`stoneworks.evaluation.match.play_match`).

    A subclass adds the amount of training between matches; its name is the unit of the configuration.

    Attributes:
        num_pairs: pairs of games against each opponent.
        opening_actions: random actions at the start of each pair.
        opponents: bot names, opponents of the policy.
    """

    num_pairs: NumPairs = 25
    opening_actions: Int = Field(3, ge=0, le=MAX_OPENING_ACTIONS)
    opponents: Opponents = ("random", "greedy")


class RunConfig(Document):
    """Base class of the configurations of all algorithms.

    Attributes:
        game: the game string.
        algorithm: name of the algorithm in the registry.
        seed: seed of all random numbers.
        init_from: folder of a checkpoint of the game (at any scale) or name of a shipped one, whose weights initialize
            the network; empty for random initialization. Its architecture must be the one in ``network``.
        checkpoint_seconds: time between checkpoints. If the run is killed, progress since the last one is lost.
        threads: number of torch threads per process; 0 for torch's default. More than one is faster on an idle machine, and
            much slower on a busy one. Results may depend on the number in their last digits.
        network: the network. Those of its hyperparameters that are not given are those of the default if the kind is the
            same.
    """

    error: ClassVar[type[ValueError]] = ConfigError
    #: Display name of the algorithm; empty for its name in the registry.
    title: ClassVar[str] = ""
    #: Names of integers in the state of the algorithm that reports show.
    facts: ClassVar[tuple[str, ...]] = ()
    #: Unit of training progress, which is also the name of the field with the total amount of training.
    unit: ClassVar[str]
    #: Fields that may be changed when a run is resumed, besides the amount, ``checkpoint_seconds`` and ``threads``.
    changeable: ClassVar[tuple[str, ...]] = ()

    game: GameString
    algorithm: str
    seed: Int = Field(0, ge=0)
    init_from: str = ""
    checkpoint_seconds: float = Field(60.0, gt=0)
    threads: Int = Field(1, ge=0)

    network: SerializeAsAny[NetworkConfig] = ResidualConfig(kind="win_draw_loss_network", channels=32, blocks=4)

    @property
    def total(self) -> int:
        """Total amount of training."""
        return getattr(self, self.unit)

    @property
    def match_settings(self) -> MatchSettings | None:
        """Settings of matches during training: the field ``matches``; None if there is none."""
        return getattr(self, "matches", None)

    def bot_names(self) -> Iterable[str]:
        """Return the names of the bots that the run requires."""
        return self.match_settings.opponents if self.match_settings else ()

    def seed_sequence(self, *purpose: int) -> np.random.SeedSequence:
        """Return the seed sequence of a purpose, which is identified by integers; 0 is that of the initial weights."""
        return np.random.SeedSequence((self.seed, *purpose))

    @classmethod
    def game_defaults(cls, game: Game) -> Mapping[str, Any]:
        """Return defaults that depend on the game, by keys such as ``matches.opponents``."""
        return {}

    @model_validator(mode="before")
    @classmethod
    def _fill_game_defaults(cls, values: Any) -> Any:
        try:
            defaults = cls.game_defaults(load_game(values["game"]))
        except (KeyError, TypeError, ValueError):  # reported by the field
            return values
        filled = dict(values)
        for key, default in defaults.items():
            part, name = key.split(".")
            given = filled.get(part, {})
            given = given.model_dump(exclude_unset=True) if isinstance(given, BaseModel) else given
            filled[part] = {name: default, **given} if isinstance(given, Mapping) else given
        return filled

    @model_validator(mode="after")
    def _check_features(self) -> RunConfig:
        if self.network.sees_features and not has_features(load_game(self.game)):
            raise ValueError(f"network.features must be false: {self.game} has no features")
        return self

    @field_validator("network", mode="before")
    @classmethod
    def _complete_network(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        default = cls.model_fields["network"].get_default(call_default_factory=True).model_dump()
        is_default = values.get("kind", default["kind"]) == default["kind"]
        return network_config({**default, **values} if is_default else values)


Config = TypeVar("Config", bound=RunConfig)


@dataclass(frozen=True)
class TrainingMatch:
    """A match during training.

    Attributes:
        player: display name of the trained player.
        bot: the trained player.
        opponent: name of its opponent.
        seed: seed of the match.
    """

    player: str
    bot: Bot
    opponent: str
    seed: np.random.SeedSequence


class Algorithm(ABC, Generic[Config]):
    """A training algorithm in one session of a run, which :class:`stoneworks.training.runs.run.Run` drives.

    After it is made, :meth:`load` is called in a resumed run, and then :meth:`iterate` until ``done`` reaches the total amount of
    training or the session is stopped.

    Attributes:
        config: the configuration.
        game: the game.
        folder: folder of the run, for files of the algorithm's own.
        network: the network that plays. A subclass may replace it.
        done: completed amount of training over all sessions, in the unit of the configuration. :meth:`iterate` increases it.
        earlier_runs: the runs that led to the initial weights (see :class:`~stoneworks.training.runs.run_folder.EarlierRun`).
        show_message: function that shows a message on the display.
    """

    #: Names of files and folders in the folder of a run that only this algorithm writes.
    files: ClassVar[tuple[str, ...]] = ()

    def __init__(self, config: Config, network: BoardNetwork, folder: Path) -> None:
        """Make the algorithm.

        Args:
            config: the configuration.
            network: the network to train, with its initial weights.
            folder: the folder of the run.
        """
        self.config = config
        self.game = load_game(config.game)
        self.folder = folder
        self.network = network
        self.done = 0
        self.earlier_runs: list[Row] = []
        self.show_message: Callable[[str], None] = lambda message: None

    @property
    def play(self) -> PlaySettings:
        """How the agent plays."""
        return PlaySettings(deterministic_policy=True)

    @abstractmethod
    def iterate(self, stop: threading.Event) -> Row | None:
        """Train for one iteration.

        Args:
            stop: may end a long iteration early.

        Returns:
            The metrics of the iteration by name; empty if there are none to record; None, without any change, if ``stop``
            ended it early.
        """

    @abstractmethod
    def state(self) -> tuple[Row, Mapping[str, Tensor]]:
        """Return JSON-serializable values and tensors that :meth:`load` requires, besides ``network`` and ``done``."""

    @abstractmethod
    def load(self, checkpoint: Checkpoint, tensors: Mapping[str, Tensor]) -> None:
        """Continue from a checkpoint; ``done`` is set already.

        Args:
            checkpoint: the checkpoint; ``training`` contains the values returned by :meth:`state`.
            tensors: the tensors returned by :meth:`state`.

        Raises:
            CheckpointError, ValueError, KeyError, TypeError, RuntimeError: the checkpoint does not belong to this run.
        """

    def matches(self) -> Iterable[TrainingMatch]:
        """Yield the matches to play now."""
        return ()

    def lines(self, metrics: Row) -> tuple[str, Sequence[str]]:
        """Return the text beside the progress bar and the lines below it."""
        return "", ()

    def scalars(self, metrics: Row) -> Mapping[str, float]:
        """Return the metrics shown in TensorBoard, by tag."""
        return metrics

    def close(self) -> None:
        """Release resources, such as processes."""


@dataclass(frozen=True)
class AlgorithmEntry(Entry):
    """A training algorithm in the registry. Code is given as ``"module:attribute"`` and imported on first use.

    Attributes:
        name: the value of ``algorithm`` in configurations and checkpoints.
        config: subclass of :class:`RunConfig`.
        algorithm: subclass of :class:`Algorithm`.
        report: function from the rows of metrics to the sections of the report that show them, each a ``ReportSection``; None
            for none.

    Raises:
        RegistrationError: an attribute is not valid.
    """

    config: Reference
    algorithm: Reference
    report: Reference | None = None

    def config_class(self) -> type[Any]:
        """Return the configuration class. Raises ``RegistrationError`` if it cannot be imported."""
        return self.load_class("config", RunConfig)

    @property
    def unit(self) -> str:
        """Unit of training progress (see ``RunConfig.unit``)."""
        return str(self.config_class().unit)

    @property
    def title(self) -> str:
        """Display name of the algorithm."""
        return self.config_class().title or self.name

    def facts(self, training: Row) -> dict[str, str]:
        """Return numbers on a run by their units, from the ``training`` part of its checkpoint. Raises ``KeyError``."""
        return {name.replace("_", " "): f"{training[name]:,}" for name in self.config_class().facts}

    def report_sections(self, rows: Sequence[Row]) -> Iterable[ReportSection]:
        """Return the sections of a report that show the metrics. Raises ``RegistrationError`` if it cannot be imported."""
        return self.load("report")(rows) if self.report else ()


def _built_in(name: str, prefix: str) -> AlgorithmEntry:
    at = f"stoneworks.training.{name}"
    return AlgorithmEntry(
        name, f"{at}.config:{prefix}Config", f"{at}.algorithm:{prefix}", f"{at}.report:report_sections"
    )


_BUILT_IN = _built_in("alphazero", "AlphaZero"), _built_in("ppo", "PPO")
#: The registry of algorithms.
ALGORITHMS = Registry("algorithm", AlgorithmEntry, _BUILT_IN, ENTRY_POINT_GROUP)


def register_algorithm(
    name: str,
    *,
    config: str | type[RunConfig],
    algorithm: str | type[Algorithm[Any]],
    report: str | Callable[[Sequence[Row]], Iterable[ReportSection]] | None = None,
) -> None:
    """Add an algorithm to the registry of this process and of the worker processes that it starts.

    Afterwards, configurations can use the name, and ``stoneworks train`` and ``report`` support its runs. Registering
    an identical entry again has no effect. See :class:`AlgorithmEntry` for the arguments.

    Raises:
        RegistrationError: an argument is not valid, or the name is taken.
    """
    ALGORITHMS.add(AlgorithmEntry(name, path_of(config), path_of(algorithm), path_of(report)))  # type: ignore[arg-type]


def algorithm_names() -> tuple[str, ...]:
    """Return the names of all algorithms."""
    return ALGORITHMS.names()
