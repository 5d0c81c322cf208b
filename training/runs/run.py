"""``Run``: what one session of a run does, whatever the algorithm: its folder, checkpoints, figures and matches.

The folder of a run holds ``checkpoint/``, the latest checkpoint; ``config.yaml``, its configuration; ``metrics.jsonl`` and
``tensorboard/``, its figures; ``matches/``, the game records of its matches. A run that was stopped or killed goes on from the
checkpoint, and what the folder holds beyond that is removed.
"""

from __future__ import annotations

import json
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from stoneworks.envs.rules import load_game
from stoneworks.extras import require_extra
from stoneworks.files import write_whole
from stoneworks.locks import lock_folder
from stoneworks.models import Bot, load_bot
from stoneworks.models.checkpoint import METADATA_FILE, Checkpoint, CheckpointError, load_checkpoint, recover
from stoneworks.models.checkpoint import save_checkpoint as write_checkpoint
from stoneworks.models.network import BoardNetwork
from stoneworks.training.arena.match import play_match, summarize
from stoneworks.training.arena.records import write_records
from stoneworks.training.runs.config import RunConfig, check_unchanged, config_as_dict, dump_config
from stoneworks.training.runs.hardware import describe_hardware, torch_threads
from stoneworks.training.runs.metrics import truncate_events, truncate_metrics
from stoneworks.training.runs.status import Report, TrainingResult, TrainingStatus

with require_extra("train", "training runs"):
    from torch import Tensor
    from torch.utils.tensorboard import SummaryWriter

CHECKPOINT_FOLDER = "checkpoint"
METRICS_FILE = "metrics.jsonl"
MATCHES_FOLDER = "matches"
TENSORBOARD_FOLDER = "tensorboard"


class TrainableConfig(RunConfig, Protocol):
    """What :class:`Run` needs of a configuration.

    Attributes:
        threads: threads of torch; 0 for its own choice.
        checkpoint_seconds: time from one checkpoint to the next.
    """

    @property
    def threads(self) -> int: ...  # noqa: D102

    @property
    def checkpoint_seconds(self) -> float: ...  # noqa: D102


class MatchSettings(Protocol):
    """How matches are played while training goes on."""

    @property
    def num_pairs(self) -> int: ...  # noqa: D102

    @property
    def opening_actions(self) -> int: ...  # noqa: D102


Config = TypeVar("Config", bound=TrainableConfig)


class Run(ABC, Generic[Config]):
    """One session of a run. Make and use it through :func:`train_run`, which holds the folder's lock.

    A subclass makes its parts in ``__init__`` after this class's, restoring them from ``earlier``, and then calls ``begin``.

    Attributes:
        config: the configuration.
        folder: the folder of the run.
        checkpoint: the folder of its checkpoint.
        game: the game.
        earlier: the checkpoint that the session goes on from; None for a new run.
        match_results: results of the matches so far.
        board: the figures for TensorBoard.
    """

    #: Keys of the configuration that may change when training goes on.
    changeable: ClassVar[tuple[str, ...]]
    #: What training is counted in (see ``AlgorithmEntry.amount``).
    amount: ClassVar[str]
    #: Whether the policy alone plays its most probable action; if not, it draws from its probabilities.
    deterministic_policy: ClassVar[bool]

    board: SummaryWriter

    def __init__(self, config: Config, folder: Path, resume: bool) -> None:
        self.config = config
        self.folder = folder
        self.checkpoint = folder / CHECKPOINT_FOLDER
        self.game = load_game(config.game)
        self.earlier = self._read_earlier(resume)
        training: Mapping[str, Any] = {} if self.earlier is None else self.earlier.training
        self._done_before: int = training.get(self.amount, 0)
        self._seconds_before: float = training.get("seconds", 0.0)
        self.match_results: list[dict[str, Any]] = list(training.get("match_results", ()))
        self._began = self._saved = time.monotonic()

    # -- What an algorithm defines -----------------------------------------------------------------------------------

    @staticmethod
    @abstractmethod
    def opponents(config: Any) -> Iterable[str]:
        """Return the bots that the run's matches need."""

    @property
    @abstractmethod
    def done(self) -> int:
        """How much was trained on, in all sessions."""

    @property
    @abstractmethod
    def network(self) -> BoardNetwork:
        """The network that plays."""

    @abstractmethod
    def training(self) -> Mapping[str, Any]:
        """Return what the checkpoint says about training beside what all runs say; anything that JSON can say."""

    @abstractmethod
    def training_state(self) -> Mapping[str, Tensor]:
        """Return what training needs to go on."""

    @abstractmethod
    def train(self, report: Report, stop: threading.Event) -> TrainingResult:
        """Train until all is done or ``stop`` is set, and save."""

    # -- What all have in common -------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Write the configuration, and remove what the folder holds beyond the checkpoint."""
        write_whole(self.folder / "config.yaml", dump_config(self.config))
        truncate_metrics(self.folder / METRICS_FILE, self.amount, self._done_before)
        truncate_events(self.folder / TENSORBOARD_FOLDER, self._done_before)
        for file in (self.folder / MATCHES_FOLDER).glob("*-*.jsonl"):
            number = file.name.partition("-")[0]
            if number.isdecimal() and int(number) > self._done_before:
                file.unlink()
        self._began = self._saved = time.monotonic()

    def open_board(self) -> SummaryWriter:
        """Open the figures for TensorBoard."""
        self.board = SummaryWriter(str(self.folder / TENSORBOARD_FOLDER))
        return self.board

    def seconds(self) -> float:
        """Return the time so far, in all sessions."""
        return self._seconds_before + time.monotonic() - self._began

    def log(self, figures: Mapping[str, Any], scalars: Mapping[str, float], done: int) -> None:
        """Write a line of ``metrics.jsonl``, and scalars by their tags for TensorBoard."""
        with (self.folder / METRICS_FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps({self.amount: done, **figures}) + "\n")
        for tag, value in scalars.items():
            self.board.add_scalar(tag, value, done)

    def save(self) -> None:
        """Write the checkpoint, after the figures that lead to it."""
        self.board.flush()
        write_checkpoint(
            self.checkpoint,
            game=self.game,
            network=self.network,
            training={
                "algorithm": self.config.algorithm,
                "deterministic_policy": self.deterministic_policy,
                "config": config_as_dict(self.config),
                self.amount: self.done,
                "seconds": round(self.seconds(), 1),
                "hardware": describe_hardware(),
                "match_results": self.match_results,
                **self.training(),
            },
            training_state=self.training_state(),
        )
        self._saved = time.monotonic()

    def save_if_due(self) -> None:
        """Write the checkpoint if the latest one is older than ``checkpoint_seconds``."""
        if time.monotonic() - self._saved > self.config.checkpoint_seconds:
            self.save()

    def seed(self, *purpose: int) -> np.random.SeedSequence:
        """Return the seeds for a purpose, given by numbers."""
        return np.random.SeedSequence((self.config.seed, *purpose))

    def play_matches(
        self,
        pairings: Iterable[tuple[str, Bot, str]],
        settings: MatchSettings,
        seeds: Callable[[int], np.random.SeedSequence],
        status: TrainingStatus,
        report: Report,
    ) -> None:
        """Play matches, keep their records, and report their results.

        Args:
            pairings: what the player is called, the player, and its opponent's name.
            settings: how the matches are played.
            seeds: returns the seeds of the match with a number.
            status: where the run is.
            report: called with the result of each match as the message.
        """
        folder = self.folder / MATCHES_FOLDER
        for number, (player, bot, opponent) in enumerate(pairings):
            of_bot, of_openings = map(int, seeds(number).generate_state(2))
            result = play_match(
                self.game,
                bot,
                load_bot(opponent, self.game, seed=of_bot),
                num_pairs=settings.num_pairs,
                opening_actions=settings.opening_actions,
                seed=of_openings,
            )
            place = {self.amount: status.done, "seconds": status.seconds, "player": player}
            self.match_results.append(place | summarize(result, opponent))
            folder.mkdir(exist_ok=True)
            write_records(folder / f"{status.done:010d}-{number}.jsonl", result.records)
            self.board.add_scalar(f"matches/{player}_{opponent}", result.score, status.done)
            report(replace(status, message=f"after {status.done:,} {self.amount}: {result}"))

    def _read_earlier(self, resume: bool) -> Checkpoint | None:
        recover(self.checkpoint)
        if not (self.checkpoint / METADATA_FILE).exists():
            return None
        if not resume:
            raise CheckpointError(f"{self.checkpoint} already exists; resume the run, or choose another folder")
        checkpoint = load_checkpoint(self.checkpoint)
        check_unchanged(checkpoint.training.get("config"), self.config, self.changeable, str(self.checkpoint))
        return checkpoint


def train_run(
    run_class: type[Run[Config]],
    config: Config,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    report: Report | None = None,
    stop: threading.Event | None = None,
) -> TrainingResult:
    """Train until the run is complete, or until ``stop`` is set.

    Args:
        run_class: the algorithm's class of runs.
        config: what to train.
        folder: the folder of the run (see :mod:`stoneworks.training.runs.run`).
        resume: whether to go on from the checkpoint in ``folder``; without one, training starts.
        report: called with the status now and then, from within training.
        stop: when set, a checkpoint is written soon, and training returns.

    Raises:
        ConfigError: the configuration differs from the one that training began with in more than ``run_class.changeable``.
        CheckpointError: the checkpoint is damaged or does not fit, or there is one and ``resume`` is False.
        InUseError: another process uses the folder.
        ValueError: an opponent's name is unknown.
    """
    game = load_game(config.game)
    for name in run_class.opponents(config):
        load_bot(name, game).close()
    with torch_threads(config.threads), lock_folder(Path(folder)):
        run = run_class(config, Path(folder), resume)
        run.begin()
        with run.open_board():
            return run.train(report or (lambda status: None), stop or threading.Event())
