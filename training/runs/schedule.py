"""``Schedule``: a setting that may change over a run."""

from __future__ import annotations

from typing import Annotated, TypeVar

import numpy as np
from pydantic import AfterValidator, Discriminator, Field, Strict, Tag

from stoneworks.documents import Tuple

T = TypeVar("T")
Points = tuple[tuple[float, T], ...]


def _check_progress(points: Points[T]) -> Points[T]:
    progress = [at for at, _ in points]
    if progress != sorted({0.0, *progress}):
        raise ValueError(f"progress must start at 0 and increase, got {', '.join(f'{at:g}' for at in progress)}")
    return points


_Progress = Annotated[float, Field(ge=0, le=1)]
_Point = Annotated[tuple[_Progress, T], Strict(False)]
#: A number, or points ``[progress, number]`` between which it is linear; progress is the completed fraction of the run. Errors
#: leave out its tags, because they are blank.
Schedule = Annotated[
    Annotated[T, Tag("")] | Annotated[Tuple[_Point[T]], Field(min_length=1), AfterValidator(_check_progress), Tag(" ")],
    Discriminator(lambda value: " " if isinstance(value, (list, tuple)) else ""),
]


def value_at(schedule: float | Points[float], progress: float) -> float:
    """Return the value of a schedule at ``progress``, the completed fraction of the run in [0, 1]."""
    if isinstance(schedule, tuple):
        return float(np.interp(progress, [at for at, _ in schedule], [value for _, value in schedule]))
    return schedule


def progress_points(*schedules: float | Points[float]) -> list[float]:
    """Return where schedules have points, in order. All are linear between them, so bounds need to be checked only there."""
    return sorted({0.0, *(at for schedule in schedules if isinstance(schedule, tuple) for at, _ in schedule)})
