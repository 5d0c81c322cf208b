"""The plots of a report, as PNG files. They need no display and do not change the global state of matplotlib."""

from __future__ import annotations

import io
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stoneworks.extras import require_extra

with require_extra("train", "plots"):
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, PercentFormatter

# The colorblind-safe palette of Okabe and Ito.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MOST_POINTS = 400


def scores_plot(match_results: Sequence[Mapping[str, Any]], unit: str) -> bytes:
    """Return a plot of scores with confidence intervals, one line per player and opponent (see ``Run.match_results``)."""
    figure, (axes,) = _figure(1)
    pairings = dict.fromkeys((row["player"], row["opponent"]) for row in match_results)  # in order of first appearance
    for number, (player, opponent) in enumerate(pairings):
        rows = [row for row in match_results if (row["player"], row["opponent"]) == (player, opponent)]
        color = _COLORS[number % len(_COLORS)]
        positions = [row[unit] for row in rows]
        low, high = zip(*(row["interval"] for row in rows), strict=True)
        axes.fill_between(positions, low, high, color=color, alpha=0.15, linewidth=0)
        axes.plot(positions, [row["score"] for row in rows], "o-", color=color, label=f"{player} against {opponent}")
        # A confidence band of a single point has no width and would be invisible.
        axes.vlines(positions, low, high, color=color, alpha=0.5, linewidth=1)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    _finish(axes, "score; bands are 95 % intervals", unit)
    return _png(figure)


def metrics_plot(
    rows: Sequence[Mapping[str, Any]], unit: str, panels: Mapping[str, Mapping[str, str]], *, shares: bool = False
) -> bytes:
    """Return a plot of metrics against training progress.

    Args:
        rows: the metrics (see :func:`stoneworks.training.runs.run_folder.read_metrics`).
        unit: key in ``rows`` of the horizontal axis.
        panels: line labels by metric name, for each panel by its title.
        shares: whether the vertical axis shows percentages, starting at 0.
    """
    figure, all_axes = _figure(len(panels))
    for axes, (title, lines) in zip(all_axes, panels.items(), strict=True):
        for number, (name, label) in enumerate(lines.items()):
            values = ((row[unit], row.get(name)) for row in rows)
            points = [(at, value) for at, value in values if isinstance(value, (int, float)) and math.isfinite(value)]
            if points:
                x, y = _thinned(np.array(points, np.float64))
                axes.plot(
                    x, y, ".-" if len(x) < 30 else "-", color=_COLORS[number % len(_COLORS)], label=label, linewidth=1
                )
        if shares:
            axes.yaxis.set_major_formatter(PercentFormatter(1))
        low, high = (axes.dataLim.ymin, axes.dataLim.ymax) if axes.lines else (0.0, 1.0)
        axes.set_ylim(1.08 * min(low, 0), 1.08 * max(high, 1e-9 if low >= 0 else 0))
        _finish(axes, title, unit)
    return _png(figure)


def latest_medians(rows: Sequence[Mapping[str, Any]], *names: str) -> tuple[int, list[float]]:
    """Return the number of the latest rows, at most 20, and the medians of metrics over them."""
    latest = rows[-20:]
    return len(latest), [statistics.median(row[name] for row in latest) for name in names]


def _figure(num_panels: int) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(7.5, 3.4 * num_panels), dpi=100, layout="constrained")
    return figure, [figure.add_subplot(num_panels, 1, number + 1) for number in range(num_panels)]


def _thinned(points: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return ``[2, n]`` points with n <= ``_MOST_POINTS``: means over n equal parts if there are more points."""
    parts = np.array_split(points, min(len(points), _MOST_POINTS))
    return np.array([part.mean(axis=0) for part in parts]).T


def _finish(axes: Axes, title: str, unit: str) -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(f"{unit} trained on")
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if len(axes.lines) > 1:
        axes.legend(fontsize=8, frameon=False)


def _png(figure: Figure) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()
