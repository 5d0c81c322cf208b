"""Where a run is, and how it ended, whatever the algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True)
class TrainingStatus:
    """Where a run is. Algorithms add figures of their own.

    Attributes:
        done: how much was trained on (see ``AlgorithmEntry.amount``).
        total: how much is to be trained on.
        seconds: time so far, in all sessions.
        per_second: amount per second.
        message: news worth keeping, such as the result of a match; empty mostly.
    """

    done: int
    total: int
    seconds: float
    per_second: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class TrainingResult:
    """How a run, or a session of one, ended.

    Attributes:
        checkpoint: the folder of the checkpoint.
        done: how much was trained on, in all sessions.
        seconds: time taken, in all sessions.
        per_second: amount per second in this session, without matches and checkpoints; 0 if nothing was left to do.
        finished: whether the run is complete.
    """

    checkpoint: Path
    done: int
    seconds: float
    per_second: float
    finished: bool


Report: TypeAlias = Callable[[TrainingStatus], None]
