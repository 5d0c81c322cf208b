"""Statistics over runs, as Agarwal et al. (2021) recommend: interquartile means, stratified bootstrap, performance profiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.stats

Floats: TypeAlias = npt.NDArray[np.float64]
#: The scores of the runs of each task.
Strata: TypeAlias = Sequence[Sequence[float]]

RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value over runs, with its confidence interval; NaN where a task has a single run."""

    value: float
    low: float
    high: float


def interquartile_mean(scores: Any, axis: int | None = None) -> Any:
    """Return the mean without the lowest and the highest quarter of the scores (rounded down)."""
    return scipy.stats.trim_mean(scores, 0.25, axis)


def stratified(strata: Strata, statistic: Callable[..., Any] = interquartile_mean, seed: int = 0) -> Estimate:
    """Return a statistic of the scores of all tasks together, with a percentile interval from resampling runs per task.

    Args:
        strata: the scores by task; a task has at least one.
        statistic: function of scores and ``axis``.
        seed: seed of the resampling.
    """
    samples = [np.asarray(scores, np.float64) for scores in strata]
    value = float(statistic(np.concatenate(samples), axis=0))
    if min(map(len, samples)) < 2:
        return Estimate(value, np.nan, np.nan)
    interval = scipy.stats.bootstrap(
        samples,
        lambda *resampled, axis: statistic(np.concatenate(resampled, axis=axis), axis=axis),
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Estimate(value, float(interval.low), float(interval.high))


def performance_profile(strata: Strata, thresholds: Floats) -> list[Estimate]:
    """Return the share of runs with a score above each threshold, with intervals as in :func:`stratified`."""
    return [
        stratified(strata, lambda scores, axis, above=above: np.mean(scores > above, axis=axis)) for above in thresholds
    ]
