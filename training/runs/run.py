"""``Run``: base class of the training sessions of all algorithms, with folder, checkpoints, metrics and matches.

The folder of a run contains ``checkpoint/``, the latest checkpoint; ``config.yaml``, its configuration; ``metrics.jsonl`` and
``tensorboard/``, its metrics; ``matches/``, the game records of its matches. A run that was stopped or killed is resumed from
the checkpoint; anything in the folder that was written after the checkpoint is deleted.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import play_match, summarize
from stoneworks.evaluation.records import write_records
from stoneworks.extras import require_extra
from stoneworks.files import append_json_line, remove_temporary_files, write_whole
from stoneworks.locks import lock_folder
from stoneworks.models import Bot, load_bot
from stoneworks.models.checkpoint import (
    METADATA_FILE,
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    recover,
    save_checkpoint as write_checkpoint,
)
from stoneworks.models.description import PlaySettings
from stoneworks.models.machine import keep_freed_memory
from stoneworks.models.network import BoardNetwork
from stoneworks.training.runs.config_files import RunConfig, check_unchanged, dump_config
from stoneworks.training.runs.hardware import describe_hardware, torch_threads
from stoneworks.training.runs.initial_network import load_initial_checkpoint
from stoneworks.training.runs.metrics import truncate_events, truncate_metrics
from stoneworks.training.runs.status import Report, TrainingResult, TrainingStatus
from stoneworks.training.runs.training_information import check_training, runs_before

with require_extra("train", "training runs"):
    from torch import Tensor
    from torch.utils.tensorboard import SummaryWriter

CHECKPOINT_FOLDER = "checkpoint"
CONFIG_FILE = "config.yaml"
METRICS_FILE = "metrics.jsonl"
MATCHES_FOLDER = "matches"
TENSORBOARD_FOLDER = "tensorboard"


class MatchSettings(Protocol):
    """Settings of the matches during training."""

    @property
    def num_pairs(self) -> int: ...  # noqa: D102

    @property
    def opening_actions(self) -> int: ...  # noqa: D102


Config = TypeVar("Config", bound=RunConfig)


class _MatchStopped(Exception):  # noqa: N818 - not an error
    """Raised to abandon a match."""


class Run(ABC, Generic[Config]):
    """One session of a run. Use it through :func:`train_run`, which holds the lock of the folder.

    The ``__init__`` of a subclass calls this class's ``__init__``, creates its own parts, and restores them from ``earlier``
    if that is not None.

    Attributes:
        config: the configuration.
        folder: the folder of the run.
        checkpoint: the folder of its checkpoint.
        game: the game.
        earlier: the checkpoint from which the session is resumed; None for a new run.
        initial: the checkpoint whose weights a new run begins with; None for random weights and for a resumed run.
        match_results: results of the matches so far.
        matches_due: whether the latest matches were stopped before their end; a resumed session plays the rest first.
        earlier_runs: the runs that led to the initial weights or positions (see :func:`runs_before`).
        board: the TensorBoard writer.
    """

    #: Keys of the configuration that may be changed when a run is resumed.
    changeable: ClassVar[tuple[str, ...]]
    #: Unit of training progress (see ``AlgorithmEntry.amount``).
    amount: ClassVar[str]
    #: Names of files and folders in the folder of a run that only this algorithm writes before its first checkpoint.
    parts: ClassVar[tuple[str, ...]] = ()

    board: SummaryWriter

    def __init__(self, config: Config, folder: Path, resume: bool) -> None:
        keep_freed_memory()
        self.config = config
        self.folder = folder
        self.checkpoint = folder / CHECKPOINT_FOLDER
        self.game = load_game(config.game)
        self.earlier = self._read_earlier(resume)
        training: Mapping[str, Any] = {} if self.earlier is None else self.earlier.training
        self._done_before: int = training.get(self.amount, 0)
        self._seconds_before: float = training.get("seconds", 0.0)
        self.match_results: list[dict[str, Any]] = list(training.get("match_results", ()))
        self.matches_due = bool(training.get("matches_due", False))
        self.initial: Checkpoint | None = None
        self.earlier_runs: list[dict[str, Any]] = list(training.get("earlier_runs", ()))
        if self.earlier is None and config.init_from:
            self.initial = load_initial_checkpoint(config.init_from, self.game)
            self.earlier_runs = runs_before(self.initial)
        self._began = self._saved = time.monotonic()

    # -- Defined by the algorithm ------------------------------------------------------------------------------------

    @staticmethod
    @abstractmethod
    def opponents(config: Any) -> Iterable[str]:
        """Return the names of the bots that the matches of the run require."""

    @property
    @abstractmethod
    def done(self) -> int:
        """Completed amount of training, in all sessions."""

    @property
    @abstractmethod
    def network(self) -> BoardNetwork:
        """The network used for playing."""

    @property
    @abstractmethod
    def play(self) -> PlaySettings:
        """How the agent plays."""

    @abstractmethod
    def training(self) -> Mapping[str, Any]:
        """Return JSON-serializable training information for the checkpoint, in addition to the fields common to all runs."""

    @abstractmethod
    def training_state(self) -> Mapping[str, Tensor]:
        """Return the tensors required to resume training."""

    @abstractmethod
    def train(self, report: Report, stop: threading.Event) -> TrainingResult:
        """Train until the run is complete or ``stop`` is set, then save a checkpoint."""

    # -- Common to all algorithms ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Write the configuration and delete anything that was written after the checkpoint, or not completely."""
        remove_temporary_files(self.folder)
        write_whole(self.folder / CONFIG_FILE, dump_config(self.config))
        truncate_metrics(self.folder / METRICS_FILE, self.amount, self._done_before)
        truncate_events(self.folder / TENSORBOARD_FOLDER, self._done_before)
        for file in (self.folder / MATCHES_FOLDER).glob("*-*.jsonl"):
            number = file.name.partition("-")[0]
            if number.isdecimal() and int(number) > self._done_before:
                file.unlink()
        self._began = self._saved = time.monotonic()

    def open_board(self) -> SummaryWriter:
        """Open the TensorBoard writer."""
        self.board = SummaryWriter(str(self.folder / TENSORBOARD_FOLDER))
        return self.board

    def seconds(self) -> float:
        """Return the elapsed time in seconds, over all sessions."""
        return self._seconds_before + time.monotonic() - self._began

    def log(self, figures: Mapping[str, Any], scalars: Mapping[str, float], done: int) -> None:
        """Append a line to ``metrics.jsonl`` and write ``scalars``, by tag, to TensorBoard."""
        append_json_line(self.folder / METRICS_FILE, {self.amount: done, **figures})
        for tag, value in scalars.items():
            self.board.add_scalar(tag, value, done)

    def save(self) -> None:
        """Write the checkpoint, after the metrics up to it."""
        self.board.flush()
        write_checkpoint(
            self.checkpoint,
            game=self.game,
            network=self.network,
            play=self.play,
            training={
                "algorithm": self.config.algorithm,
                "config": self.config.model_dump(mode="json"),
                self.amount: self.done,
                "seconds": round(self.seconds(), 1),
                "hardware": describe_hardware(),
                "match_results": self.match_results,
                "matches_due": self.matches_due,
                "earlier_runs": self.earlier_runs,
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
        """Return the seed sequence of a purpose, which is identified by integers."""
        return np.random.SeedSequence((self.config.seed, *purpose))

    def play_matches(
        self,
        pairings: Iterable[tuple[str, Bot, str]],
        settings: MatchSettings,
        seeds: Callable[[int], np.random.SeedSequence],
        status: TrainingStatus,
        report: Report,
        stop: threading.Event,
    ) -> None:
        """Play matches, save their game records, and report their results. Skip those that have been played after ``done``.

        Args:
            pairings: tuples of the player's display name, the player, and the name of its opponent.
            settings: settings of the matches.
            seeds: function that returns the seed sequence of a match by its index.
            status: current status of the run.
            report: called with the result of each match as the message.
            stop: when set, the current match is abandoned.
        """
        folder = self.folder / MATCHES_FOLDER
        played = {(row[self.amount], row["player"], row["opponent"]) for row in self.match_results}

        def check_stop(over: int, games: int) -> None:
            if stop.is_set():
                raise _MatchStopped

        self.matches_due = True
        for number, (player, bot, opponent) in enumerate(pairings):
            if (status.done, player, opponent) in played:
                continue
            of_bot, of_openings = map(int, seeds(number).generate_state(2))
            with contextlib.closing(load_bot(opponent, self.game, seed=of_bot)) as other:
                try:
                    result = play_match(
                        self.game,
                        bot,
                        other,
                        num_pairs=settings.num_pairs,
                        opening_actions=settings.opening_actions,
                        seed=of_openings,
                        progress=check_stop,
                    )
                except _MatchStopped:
                    return
            place = {self.amount: status.done, "seconds": status.seconds, "player": player}
            self.match_results.append(place | summarize(result, opponent))
            folder.mkdir(exist_ok=True)
            write_records(folder / f"{status.done:010d}-{number}.jsonl", result.records)
            self.board.add_scalar(f"matches/{player}_{opponent}", result.score, status.done)
            report(replace(status, message=f"after {status.done:,} {self.amount}: {result}"))
        self.matches_due = False

    def _read_earlier(self, resume: bool) -> Checkpoint | None:
        recover(self.checkpoint)
        if not (self.checkpoint / METADATA_FILE).exists():
            return None
        if not resume:
            raise CheckpointError(f"{self.checkpoint} already exists; resume the run, or choose another folder")
        checkpoint = load_checkpoint(self.checkpoint)
        check_training(checkpoint.training, self.amount, self.checkpoint)
        check_unchanged(checkpoint.training.get("config"), self.config, self.changeable, str(self.checkpoint))
        return checkpoint


def _check_folder(folder: Path, parts: Sequence[str]) -> None:
    """Raise ``ValueError`` if a folder exists and contains something other than a run.

    A run that was killed before its first checkpoint has left only the files that are written before.
    """
    if not folder.is_dir() or any((folder / name).exists() for name in (CHECKPOINT_FOLDER, CONFIG_FILE)):
        return
    own = {METRICS_FILE, MATCHES_FOLDER, TENSORBOARD_FOLDER, *parts}
    for file in sorted(folder.iterdir()):
        if file.name not in own and not file.name.startswith("."):
            raise ValueError(
                f"folder must be a new or empty folder, or that of a run, got {str(folder)!r}, which holds {file.name!r}"
            )


def train_run(
    run_class: type[Run[Config]],
    config: Config,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    report: Report | None = None,
    stop: threading.Event | None = None,
) -> TrainingResult:
    """Train until the run is complete or until ``stop`` is set.

    Args:
        run_class: class of the algorithm's runs.
        config: the configuration.
        folder: the folder of the run (see :mod:`stoneworks.training.runs.run`).
        resume: whether to resume from the checkpoint in ``folder``; if there is none, a new run starts.
        report: called periodically with the status, from the training loop.
        stop: when set, training saves a checkpoint and returns soon afterwards.

    Raises:
        ConfigError: the configuration differs from that of the checkpoint in keys other than ``run_class.changeable``.
        CheckpointError: the checkpoint is damaged or does not match, or there is one and ``resume`` is False.
        InUseError: another process uses the folder.
        ValueError: an opponent's name is unknown, or the folder holds files of something else.
    """
    game = load_game(config.game)
    for name in run_class.opponents(config):
        load_bot(name, game).close()
    _check_folder(Path(folder), run_class.parts)
    with torch_threads(config.threads), lock_folder(Path(folder)):
        run = run_class(config, Path(folder), resume)
        run.begin()
        with run.open_board():
            return run.train(report or (lambda status: None), stop or threading.Event())
