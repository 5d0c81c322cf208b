"""The registry of training algorithms, used by all code that trains, displays, reports or ships a run.

An algorithm is registered by an :class:`AlgorithmEntry` in this module, by :func:`register_algorithm`, or by an entry point of
the group ``stoneworks.algorithms`` that refers to an ``AlgorithmEntry``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stoneworks.envs.rules.registry import Entry, Registry, path_of

if TYPE_CHECKING:
    from stoneworks.training.runs.story import RunStory

ENTRY_POINT_GROUP = "stoneworks.algorithms"


@dataclass(frozen=True)
class AlgorithmEntry(Entry):
    """A training algorithm in the registry. Code is given as ``"module:attribute"`` and imported on first use.

    Attributes:
        name: the value of ``algorithm`` in configurations and checkpoints.
        config: dataclass of its configuration (see :class:`stoneworks.training.runs.config_files.RunConfig`).
        train: ``train(config, folder, *, resume, report, stop)``, which returns a
            :class:`stoneworks.training.runs.status.TrainingResult` and reports
            :class:`stoneworks.training.runs.status.TrainingStatus`.
        story: its :class:`stoneworks.training.runs.story.RunStory`: texts for the display, the report and the model card.
        amount: unit of training progress, such as ``positions``: a key of the configuration, checkpoints and
            ``metrics.jsonl``.

    Raises:
        RegistrationError: an attribute is not valid.
    """

    config: str
    train: str
    story: str
    amount: str

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("config", "train", "story"):
            self.require_path(field)

    def config_class(self) -> type[Any]:
        """Return the configuration class. Raises ``RegistrationError`` if it cannot be imported."""
        found: type[Any] = self.load("config")
        return found

    def run_story(self) -> RunStory:
        """Return the texts on its runs. Raises ``RegistrationError`` if they cannot be imported."""
        found: RunStory = self.load("story")
        return found


#: The registry of algorithms.
ALGORITHMS = Registry(
    "algorithm",
    AlgorithmEntry,
    (
        AlgorithmEntry(
            "alphazero",
            "stoneworks.training.alphazero.config:AlphaZeroConfig",
            "stoneworks.training.alphazero.run:train",
            "stoneworks.training.alphazero.story:STORY",
            "positions",
        ),
        AlgorithmEntry(
            "ppo",
            "stoneworks.training.ppo.config:PPOConfig",
            "stoneworks.training.ppo.run:train",
            "stoneworks.training.ppo.story:STORY",
            "frames",
        ),
    ),
    ENTRY_POINT_GROUP,
)


def register_algorithm(
    name: str, *, config: str | type, train: str | Callable[..., Any], story: str, amount: str
) -> None:
    """Add an algorithm to the registry of this process and of the worker processes that it starts.

    Afterwards, configurations can use the name, and ``stoneworks train``, ``report`` and ``ship`` support its runs. Registering
    an identical entry again has no effect. See :class:`AlgorithmEntry` for the arguments.

    Raises:
        RegistrationError: an argument is not valid, or the name is taken.
    """
    ALGORITHMS.add(AlgorithmEntry(name, path_of(config), path_of(train), story, amount))  # type: ignore[arg-type]


def algorithm_names() -> tuple[str, ...]:
    """Return the names of all algorithms."""
    return ALGORITHMS.names()
