"""``FinishedRun``: a run as read from its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stoneworks.models.checkpoint import Checkpoint, load_checkpoint
from stoneworks.training.runs.algorithms import AlgorithmEntry
from stoneworks.training.runs.metrics import read_metrics
from stoneworks.training.runs.training_information import algorithm_of, check_training


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
