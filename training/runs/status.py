"""Status and result of a run of any algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True)
class TrainingStatus:
    """Status of a run. Algorithms add fields in subclasses.

    Attributes:
        done: completed amount of training (see ``AlgorithmEntry.amount``).
        total: total amount of training.
        seconds: elapsed time, in all sessions.
        per_second: amount per second.
        message: message to keep on the display, such as the result of a match; usually empty.
    """

    done: int
    total: int
    seconds: float
    per_second: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class TrainingResult:
    """Result of a run, or of one session of it.

    Attributes:
        checkpoint: the folder of the checkpoint.
        done: completed amount of training, in all sessions.
        seconds: elapsed time, in all sessions.
        per_second: amount per second in this session, without matches and checkpoints; 0 if nothing was left to do.
        finished: whether the run is complete.
    """

    checkpoint: Path
    done: int
    seconds: float
    per_second: float
    finished: bool


Report: TypeAlias = Callable[[TrainingStatus], None]
