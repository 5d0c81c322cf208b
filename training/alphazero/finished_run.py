"""What a run left in its folder, and how reports and model cards put it into words."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stoneworks.models.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from stoneworks.models.network import BoardNetwork
from stoneworks.training.alphazero.metrics import read_metrics


@dataclass(frozen=True)
class FinishedRun:
    """A run as its folder shows it; it may still be going on.

    Attributes:
        folder: of the run.
        checkpoint: its latest.
        metrics: the figures of its iterations, as far as they were written.
    """

    folder: Path
    checkpoint: Checkpoint
    metrics: Sequence[Mapping[str, Any]]

    @property
    def training(self) -> Mapping[str, Any]:
        """What the checkpoint says of how it was trained."""
        return self.checkpoint.training

    @property
    def evaluations(self) -> Sequence[Mapping[str, Any]]:
        """The results of the matches."""
        evaluations: Sequence[Mapping[str, Any]] = self.training["evaluations"]
        return evaluations

    def match_files(self) -> list[Path]:
        """Return the files of game records of the latest evaluation, one for each opponent, in their order."""
        if not self.evaluations:
            return []
        files = sorted((self.folder / "matches").glob(f"{self.evaluations[-1]['positions']:010d}-*.jsonl"))
        return sorted(files, key=lambda file: int(file.stem.rpartition("-")[2]))


def read_run(folder: str | os.PathLike[str]) -> FinishedRun:
    """Read the folder of a run of AlphaZero.

    Raises:
        CheckpointError: it has no whole checkpoint, or one that AlphaZero did not make.
    """
    path = Path(folder)
    checkpoint = load_checkpoint(path / "checkpoint")
    algorithm = checkpoint.training.get("algorithm")
    if algorithm != "alphazero":
        raise CheckpointError(f"{path / 'checkpoint'}: algorithm is {algorithm!r}; allowed is a run of 'alphazero'")
    return FinishedRun(path, checkpoint, read_metrics(path / "metrics.jsonl"))


def duration(seconds: float) -> str:
    """Return a time in words: ``3 h 20 min``, ``12 min`` or ``45 s``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def hardware_in_words(hardware: Mapping[str, Any]) -> str:
    """Return what :func:`stoneworks.training.runs.hardware.describe_hardware` found, in words."""
    threads = hardware["torch_threads"]
    words = (
        f"{hardware['processor']}, {hardware['cores']} cores, {threads} thread{'' if threads == 1 else 's'} of torch"
    )
    return f"{words}, {hardware['gpu']}" if "gpu" in hardware else words


def percent(*shares: float) -> str:
    """Return shares as percentages: ``12.5 %``, or ``10.1 to 15.2 %``."""
    return " to ".join(f"{100 * share:.1f}" for share in shares) + " %"


def network_in_words(network: BoardNetwork) -> str:
    """Return the size of a network in words."""
    architecture = network.architecture
    weights = sum(parameter.numel() for parameter in network.parameters())
    hyperparameters = ", ".join(
        f"{name} {value}" for name, value in asdict(architecture.config).items() if name != "kind"
    )
    return f"{weights:,} weights ({architecture.kind}: {hyperparameters})"


def evaluations_table(evaluations: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown table of matches as ``summarize`` in :mod:`stoneworks.training.arena.match` describes them."""
    lines = [
        "| player | opponent | score | 95 % interval | won / drawn / lost | games | distinct |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['player']} | {row['opponent']} | {percent(row['score'])} | {percent(*row['interval'])} "
        f"| {row['wins']} / {row['draws']} / {row['losses']} | {row['games']} | {row['distinct_games']} |"
        for row in evaluations
    ]
    return "\n".join(lines) + "\n"
