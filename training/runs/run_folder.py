"""The folder of a run: its files, its metrics, and the training section of its checkpoint.

The folder contains ``checkpoint/``, the latest checkpoint; ``config.yaml``, the configuration; ``metrics.jsonl`` and
``tensorboard/``, the metrics; ``matches/``, the game records of the matches; and what the algorithm adds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, Strict

from stoneworks.documents import Document, Tuple, shown
from stoneworks.files import write_whole
from stoneworks.models.architecture import NETWORKS
from stoneworks.models.checkpoint import CheckpointError, CheckpointInformation, load_checkpoint, read_information
from stoneworks.models.description import read_description
from stoneworks.models.network import BoardNetwork
from stoneworks.reading import read_json_lines
from stoneworks.registry import HINT
from stoneworks.training.runs.algorithms import ALGORITHMS, AlgorithmEntry, algorithm_names

CHECKPOINT_FOLDER = "checkpoint"
CONFIG_FILE = "config.yaml"
#: First line of the configuration that a run writes; by it, the folder of a run without a checkpoint is recognized.
CONFIG_HEADER = "# Written by a run\n"
METRICS_FILE = "metrics.jsonl"
MATCHES_FOLDER = "matches"
TENSORBOARD_FOLDER = "tensorboard"

_MAX_AMOUNT = 2**63


class EarlierRun(Document):
    """A run that led to the initial weights of another one: the amount of training, its unit, and the time in seconds."""

    algorithm: str
    amount: int
    unit: str
    seconds: float


class Hardware(Document):
    """The result of :func:`stoneworks.training.runs.hardware.describe_hardware`."""

    processor: str
    cores: int
    torch_threads: int
    gpu: str = ""


class MatchRow(Document):
    """The result of a match during training; a further key, the unit of training, says when it was played."""

    model_config = ConfigDict(extra="allow")

    player: str
    opponent: str
    seconds: float
    score: float
    interval: Annotated[tuple[float, float], Strict(False)]
    games: int
    distinct_games: int
    wins: int
    draws: int
    losses: int


class EarlierRuns(Document):
    """Other runs that led to the weights of a checkpoint.

    Attributes:
        earlier_runs: the runs that led to the initial weights, oldest first.
    """

    model_config = ConfigDict(extra="allow")
    error: ClassVar[type[ValueError]] = CheckpointError

    earlier_runs: Tuple[EarlierRun] = ()


class TrainingInformation(EarlierRuns):
    """What the checkpoints of all algorithms say of the training; further keys are the algorithm's own.

    Attributes:
        config: the configuration.
        seconds: elapsed time, over all sessions.
        hardware: the hardware.
        match_results: the results of the matches.
        matches_due: whether matches at this point of the run are still to be played.
    """

    config: dict[str, Any]
    seconds: float = Field(ge=0, lt=_MAX_AMOUNT)
    hardware: Hardware
    match_results: Tuple[MatchRow]
    matches_due: bool = False


def algorithm_of(training: Mapping[str, Any], source: str | os.PathLike[str]) -> AlgorithmEntry:
    """Return the algorithm that trained a checkpoint. Raises :class:`CheckpointError` if it is not registered."""
    name = training.get("algorithm")
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise CheckpointError(
            f"{source}: algorithm must be one of {', '.join(algorithm_names())}, got {name!r}; {HINT}"
        )
    return ALGORITHMS[name]


def check_training(training: Mapping[str, Any], unit: str, source: str | os.PathLike[str]) -> None:
    """Check the training information that all algorithms write to checkpoints. Raises :class:`CheckpointError`.

    Args:
        training: the ``training`` part of the checkpoint.
        unit: unit of training progress (see ``RunConfig.unit``).
        source: path of the checkpoint.
    """
    where = f"{source}: training"
    TrainingInformation.parse(dict(training), where)
    for values in (training, training["config"], *training["match_results"]):
        amount = values.get(unit)
        if not isinstance(amount, int) or isinstance(amount, bool) or not 0 <= amount < _MAX_AMOUNT:
            raise CheckpointError(f"{where}: {unit} must be an integer from 0 to 2**63 - 1, got {shown(amount)}")


def runs_before(training: Mapping[str, Any], source: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the runs that led to the weights of a checkpoint, oldest first, as values of :class:`EarlierRun`.

    Checkpoints that none of the registered algorithms wrote are left out.

    Args:
        training: the ``training`` part of the checkpoint.
        source: path of the checkpoint.

    Raises:
        CheckpointError: ``training`` is invalid.
    """
    EarlierRuns.parse(dict(training), f"{source}: training")
    runs = list(training.get("earlier_runs", ()))
    name = training.get("algorithm", "")
    if name in ALGORITHMS:
        unit = ALGORITHMS[name].unit
        check_training(training, unit, source)
        runs.append({"algorithm": name, "amount": training[unit], "unit": unit, "seconds": training["seconds"]})
    return runs


@dataclass(frozen=True)
class StoredRun:
    """A run as read from its folder; training may still be in progress.

    Attributes:
        folder: folder of the run.
        checkpoint: its latest checkpoint.
        metrics: metrics of the iterations so far.
        algorithm: the algorithm of the run.
        network: the network of the checkpoint; None if its kind is not registered.
    """

    folder: Path
    checkpoint: CheckpointInformation
    metrics: Sequence[Mapping[str, Any]]
    algorithm: AlgorithmEntry
    network: BoardNetwork | None

    @property
    def training(self) -> Mapping[str, Any]:
        """Training information in the checkpoint."""
        return self.checkpoint.training

    @property
    def match_results(self) -> Sequence[Mapping[str, Any]]:
        """Results of the matches."""
        return self.training["match_results"]

    def latest_matches(self) -> list[Mapping[str, Any]]:
        """Return the results of the latest matches, one per opponent, in order."""
        unit = self.algorithm.unit
        return [row for row in self.match_results if row[unit] == self.match_results[-1][unit]]

    def match_files(self) -> list[Path]:
        """Return the game record files of the latest matches, one per opponent, in order."""
        if not self.match_results:
            return []
        files = (self.folder / MATCHES_FOLDER).glob(f"{self.match_results[-1][self.algorithm.unit]:010d}-*.jsonl")
        return sorted(files, key=lambda file: int(file.stem.rpartition("-")[2]))


def read_run(folder: str | os.PathLike[str]) -> StoredRun:
    """Read the folder of a run.

    Raises:
        CheckpointError: there is no complete checkpoint, its algorithm is not registered, or its training information is
            invalid.
    """
    path = Path(folder)
    checkpoint: CheckpointInformation
    network = None
    if read_description(path / CHECKPOINT_FOLDER).network.get("kind") in NETWORKS:
        checkpoint = loaded = load_checkpoint(path / CHECKPOINT_FOLDER)
        network = loaded.network
    else:
        checkpoint = read_information(path / CHECKPOINT_FOLDER)
    algorithm = algorithm_of(checkpoint.training, checkpoint.folder)
    check_training(checkpoint.training, algorithm.unit, checkpoint.folder)
    return StoredRun(path, checkpoint, read_metrics(path / METRICS_FILE, algorithm.unit), algorithm, network)


def read_metrics(file: Path, unit: str) -> list[dict[str, Any]]:
    """Return the metrics that have the number ``unit``, such as ``"positions"``; an empty sequence if there is no file.

    Incomplete lines, such as the last one of a killed run, and values that are not numbers are skipped.

    Raises:
        CheckpointError: the file cannot be read.
    """
    if not file.exists():
        return []
    rows = (
        {name: value for name, value in line.items() if isinstance(value, (int, float))}
        for line in read_json_lines(file, CheckpointError)
    )
    return [row for row in rows if isinstance(row.get(unit), int)]


def truncate_metrics(file: Path, unit: str, done: int) -> None:
    """Delete the metrics after ``done``: a run that is resumed from there writes them again."""
    if file.exists():
        rows = read_json_lines(file, CheckpointError)
        kept = (row for row in rows if isinstance(row.get(unit), int) and row[unit] <= done)
        write_whole(file, "".join(json.dumps(row) + "\n" for row in kept))


def add_metrics(file: Path, unit: str, done: int, values: Mapping[str, float]) -> None:
    """Add values to the row of ``done``, the last one; a row is added if there is none."""
    rows = read_json_lines(file, CheckpointError) if file.exists() else []
    if not rows or rows[-1].get(unit) != done:
        rows.append({unit: done})
    rows[-1] |= values
    write_whole(file, "".join(json.dumps(row) + "\n" for row in rows))
