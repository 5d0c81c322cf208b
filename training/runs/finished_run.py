"""The files of a run, and texts on them for reports and model cards."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stoneworks.models.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from stoneworks.models.network import BoardNetwork
from stoneworks.reading import check_shape
from stoneworks.training.runs.algorithms import ALGORITHMS, AlgorithmEntry, algorithm_names
from stoneworks.training.runs.metrics import read_metrics
from stoneworks.training.text import percent


@dataclass(frozen=True)
class FinishedRun:
    """A run as read from its folder; training may still be in progress.

    Attributes:
        folder: folder of the run.
        checkpoint: its latest checkpoint.
        metrics: metrics of the iterations so far.
        algorithm: the algorithm of the run.
    """

    folder: Path
    checkpoint: Checkpoint
    metrics: Sequence[Mapping[str, Any]]
    algorithm: AlgorithmEntry

    @property
    def training(self) -> Mapping[str, Any]:
        """Training information in the checkpoint."""
        return self.checkpoint.training

    @property
    def match_results(self) -> Sequence[Mapping[str, Any]]:
        """Results of the matches."""
        match_results: Sequence[Mapping[str, Any]] = self.training["match_results"]
        return match_results

    def match_files(self) -> list[Path]:
        """Return the game record files of the latest matches, one per opponent, in order."""
        if not self.match_results:
            return []
        files = sorted((self.folder / "matches").glob(f"{self.match_results[-1][self.algorithm.amount]:010d}-*.jsonl"))
        return sorted(files, key=lambda file: int(file.stem.rpartition("-")[2]))


def read_run(folder: str | os.PathLike[str]) -> FinishedRun:
    """Read the folder of a run.

    Raises:
        CheckpointError: there is no complete checkpoint, its algorithm is not registered, or its training information is
            invalid.
    """
    path = Path(folder)
    checkpoint = load_checkpoint(path / "checkpoint")
    algorithm = algorithm_of(checkpoint.training, path / "checkpoint")
    check_training(checkpoint.training, algorithm.amount, path / "checkpoint")
    return FinishedRun(path, checkpoint, read_metrics(path / "metrics.jsonl", algorithm.amount), algorithm)


def algorithm_of(training: Mapping[str, Any], source: str | os.PathLike[str]) -> AlgorithmEntry:
    """Return the algorithm that trained a checkpoint. Raises :class:`CheckpointError` if it is not registered."""
    name = training.get("algorithm")
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise CheckpointError(f"{source}: algorithm must be one of {', '.join(algorithm_names())}, got {name!r}")
    return ALGORITHMS[name]


#: Key of the information about a mean of checkpoints, in its training information.
AVERAGED = "averaged"
_RUNS = [{"algorithm": str, "amount": int, "unit": str, "seconds": float}]
#: Shape of the information about other runs that led to the weights, in the training information of checkpoints.
OTHER_RUNS = {"earlier_runs?": _RUNS, f"{AVERAGED}?": {"checkpoints": int, "runs": _RUNS}}


def check_training(training: Mapping[str, Any], amount: str, source: str | os.PathLike[str]) -> None:
    """Check the training information that all algorithms write to checkpoints. Raises :class:`CheckpointError`.

    Args:
        training: the ``training`` part of the checkpoint.
        amount: unit of training progress (see ``AlgorithmEntry.amount``).
        source: path of the checkpoint.
    """
    match_results = {
        **dict.fromkeys((amount, "games", "distinct_games", "wins", "draws", "losses"), int),
        **dict.fromkeys(("seconds", "score"), float),
        **dict.fromkeys(("player", "opponent"), str),
        "interval": [float],
    }
    shape = {
        amount: int,
        "seconds": float,
        "config": {amount: int},
        "hardware": {"processor": str, "cores": int, "torch_threads": int, "gpu?": str},
        "match_results": [match_results],
        "matches_due?": bool,
        **OTHER_RUNS,
    }
    where = f"{source}: training"
    check_shape(dict(training), shape, CheckpointError, where)
    for number, row in enumerate(training["match_results"]):
        if len(row["interval"]) != 2:
            raise CheckpointError(
                f"{where}: match_results[{number}]: interval must be two numbers, got {row['interval']}"
            )
    for name, value in ((amount, training[amount]), ("seconds", training["seconds"])):
        if not 0 <= value < 2**62:
            raise CheckpointError(f"{where}: {name} must be from 0 to 2**62, got {value}")


def hardware_in_words(hardware: Mapping[str, Any]) -> str:
    """Return the result of :func:`stoneworks.training.runs.hardware.describe_hardware` as text."""
    threads = hardware["torch_threads"]
    words = (
        f"{hardware['processor']}, {hardware['cores']} cores, {threads} thread{'' if threads == 1 else 's'} of torch"
    )
    return f"{words}, {hardware['gpu']}" if "gpu" in hardware else words


def policy_in_words(checkpoint: Checkpoint) -> str:
    """Return a description of how the policy alone chooses actions, to be placed after its name."""
    if checkpoint.deterministic_policy:
        return "plays its network's most probable action"
    return "draws its action from its network's probabilities"


def network_in_words(network: BoardNetwork) -> str:
    """Return the size of a network as text."""
    architecture = network.architecture
    weights = sum(parameter.numel() for parameter in network.parameters())
    hyperparameters = ", ".join(
        f"{name} {value}" for name, value in asdict(architecture.config).items() if name != "kind"
    )
    return f"{weights:,} weights ({architecture.kind}: {hyperparameters})"


def match_results_table(match_results: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown table of matches summarized by ``summarize`` in :mod:`stoneworks.training.arena.match`."""
    lines = [
        "| player | opponent | score | 95 % interval | won / drawn / lost | games | distinct |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['player']} | {row['opponent']} | {percent(row['score'])} | {percent(*row['interval'])} "
        f"| {row['wins']} / {row['draws']} / {row['losses']} | {row['games']} | {row['distinct_games']} |"
        for row in match_results
    ]
    return "\n".join(lines) + "\n"
