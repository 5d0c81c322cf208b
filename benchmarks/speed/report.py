"""Measurement of the comparisons, and the report: write, read, compare and display."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table

from benchmarks.speed.suite import Comparison, all_comparisons
from benchmarks.speed.workload import Measured, Spread, measure_in_turns, ratio
from stoneworks.documents import Document, Tuple
from stoneworks.files import write_whole
from stoneworks.models.machine import processor_name
from stoneworks.reading import read_json


class ReportError(ValueError):
    """Raised for a file that is not a report of this version."""


class Row(Document):
    """A row of the table; rates are per second. Without a reference the last three fields are None."""

    measure: str
    name: str
    rate: Spread
    reference: str | None = None
    reference_rate: Spread | None = None
    ratio: Spread | None = None


class Circumstances(Document):
    """How a report was measured.

    Attributes:
        processor: the processor.
        date: the date (UTC).
        rounds: number of rounds.
        seconds: approximate seconds of each measurement.
        load: the load average before the run.
    """

    processor: str
    date: str
    rounds: int
    seconds: float
    load: str


class Report(Document):
    """The rows of one run.

    Attributes:
        rows: the rows.
        missing: requirements that are not installed; workloads that need them were not measured.
        circumstances: how they were measured.
    """

    error = ReportError

    rows: Tuple[Row]
    missing: Tuple[str]
    circumstances: Circumstances

    def caption(self) -> str:
        """Return a description of the measurement, in a few lines."""
        facts = self.circumstances
        lines = [
            f"Units per second of CPU time on one core of {facts.processor}, {facts.date}: medians of {facts.rounds} "
            f"rounds of about {facts.seconds} s. Ratios: median, minimum and maximum over the rounds.",
            "Rows with two threads use wall-clock time and two cores, and are meaningful only on an idle machine "
            f"(load average before the run: {facts.load}).",
        ]
        if self.missing:
            lines.append(
                f"Not installed, so not compared: {', '.join(self.missing)}; from a clone, pip install -e '.[bench]'."
            )
        return "\n".join(lines)


def run_bench(
    *,
    rounds: int = 5,
    seconds: float = 0.5,
    only: str | None = None,
    with_training: bool = True,
    progress: Callable[[str], None] = lambda message: None,
) -> Report:
    """Measure the comparisons and return the report.

    Args:
        rounds: number of measurements per workload; medians and spreads are over the rounds.
        seconds: approximate duration of each measurement.
        only: regular expression, case-insensitive; only comparisons with a match in the measure or the names are measured.
        with_training: whether to measure training and self-play with a network, which take minutes per round.
        progress: called with a description of the current measurement.

    Raises:
        ValueError: ``only`` is not a valid regular expression, or matches no comparison.
    """
    comparisons = chosen_comparisons(all_comparisons(with_training=with_training), only)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    for num_cores in sorted({comparison.num_cores for comparison in comparisons}):
        workloads = _workloads(comparison for comparison in comparisons if comparison.num_cores == num_cores)
        with _cores(num_cores):
            measure_in_turns(workloads, rounds, seconds, progress)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    circumstances = Circumstances(processor=processor_name(), date=date, rounds=rounds, seconds=seconds, load=load)
    return Report(rows=rows_of(comparisons), missing=_missing(comparisons), circumstances=circumstances)


def chosen_comparisons(comparisons: list[Comparison], only: str | None) -> list[Comparison]:
    """Return the comparisons that match the regular expression ``only``. Raises ``ValueError`` if there are none."""
    if only is None:
        return comparisons
    try:
        pattern = re.compile(only, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"only must be a regular expression, got {only!r} ({error})") from None
    chosen = [comparison for comparison in comparisons if pattern.search(comparison.text())]
    if not chosen:
        measures = ", ".join(dict.fromkeys(comparison.measure for comparison in comparisons))
        raise ValueError(f"only must match a row, got {only!r}; measures are {measures}")
    return chosen


def rows_of(comparisons: list[Comparison]) -> tuple[Row, ...]:
    """Return the rows of the measured comparisons."""
    return tuple(_row(comparison) for comparison in comparisons if comparison.ours.rates_per_second)


def _row(comparison: Comparison) -> Row:
    one, other = comparison.ours, comparison.reference
    row = Row(measure=comparison.measure, name=one.name, rate=Spread.of(one.rates_per_second))
    if other is None:
        return row
    row = row.model_copy(update={"reference": other.name})
    if not other.rates_per_second:
        return row
    return row.model_copy(update={"reference_rate": Spread.of(other.rates_per_second), "ratio": ratio(one, other)})


def _workloads(comparisons: Iterable[Comparison]) -> list[Measured]:
    """Return the distinct workloads of the comparisons whose requirements are installed."""
    all_of_them = (one for comparison in comparisons for one in (comparison.ours, comparison.reference) if one)
    return [one for one in {id(one): one for one in all_of_them}.values() if not one.missing()]


def _missing(comparisons: list[Comparison]) -> tuple[str, ...]:
    both = (one for comparison in comparisons for one in (comparison.ours, comparison.reference) if one)
    return tuple(sorted({module for one in both for module in one.missing()}))


@contextmanager
def _cores(number: int) -> Iterator[None]:
    """Restrict this thread and the threads that it starts to ``number`` cores, on systems that support this."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[-number:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def save_report(report: Report, path: Path) -> None:
    """Write a report as JSON, atomically."""
    write_whole(path, report.model_dump_json(indent=2) + "\n")


def load_report(path: Path) -> Report:
    """Read a report written by ``save_report``.

    Raises:
        ReportError: the file cannot be read or is not a valid report; the error names the file.
    """
    report: Report = Report.parse(read_json(path, ReportError), f"{path} is not a report of the speed benchmarks")
    return report


# -- Comparison with an earlier report -------------------------------------------------------------------------------

SLOWER, FASTER, UNCHANGED, NEW = "slower", "faster", "unchanged", "new"


@dataclass(frozen=True)
class Change:
    """Change of a row relative to an earlier report.

    Attributes:
        verdict: ``SLOWER`` or ``FASTER`` if all rounds of one run are below all rounds of the other, ``UNCHANGED`` if the
            spreads overlap, ``NEW`` if the earlier report does not contain the row.
        factor: the median divided by the earlier median; None for a new row.
    """

    verdict: str
    factor: float | None


def compare_rows(rows: Sequence[Row], earlier: Sequence[Row]) -> list[Change]:
    """Return the change of each row. Ratios are compared if both rows have one, since rates depend on the machine."""
    by_name = {(row.measure, row.name, row.reference): row for row in earlier}
    return [_change(row, by_name.get((row.measure, row.name, row.reference))) for row in rows]


def _change(row: Row, earlier: Row | None) -> Change:
    if earlier is None:
        return Change(NEW, None)
    now, before = (row.ratio, earlier.ratio) if row.ratio and earlier.ratio else (row.rate, earlier.rate)
    if row.measure.endswith("in %"):  # shares of time are not rates
        return Change(UNCHANGED, now.median / before.median)
    verdict = SLOWER if now.maximum < before.minimum else FASTER if now.minimum > before.maximum else UNCHANGED
    return Change(verdict, now.median / before.median)


# -- The table -------------------------------------------------------------------------------------------------------


def table_of(report: Report, earlier: Report | None = None) -> Table:
    """Return the report as a table for the terminal, with changes since ``earlier`` if it is given."""
    table = Table("measure", "stoneworks", "per second", "compared with", "per second", "ratio", "minimum to maximum")
    table.caption = report.caption()
    table.caption_justify = "left"
    changes: list[Change | None] = [None] * len(report.rows)
    if earlier is not None:
        table.add_column("change")
        changes = list(compare_rows(report.rows, earlier.rows))
    for row, change in zip(report.rows, changes, strict=True):
        cells = [row.measure, row.name, rounded(row.rate.median), row.reference or "", "", "", ""]
        if row.reference is not None and (row.reference_rate is None or row.ratio is None):
            cells[4] = "not installed"
        elif row.reference_rate is not None and row.ratio is not None:
            spread = f"{row.ratio.minimum:.2f} to {row.ratio.maximum:.2f}"
            cells[4:] = [rounded(row.reference_rate.median), f"{row.ratio.median:.2f}", spread]
        if change is not None:
            cells.append(change.verdict if change.factor is None else f"{change.verdict} (x {change.factor:.2f})")
        style = "red" if change is not None and change.verdict == SLOWER else None
        table.add_row(*cells, style=style)
    return table


def rounded(rate: float) -> str:
    """Return a rate rounded to three significant digits."""
    value = float(f"{rate:.3g}")
    return f"{value:,.0f}" if value >= 100 else f"{value:g}"
