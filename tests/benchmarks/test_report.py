"""Rows are chosen, measured, written, read again, compared and shown."""

from __future__ import annotations

import io
import re
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from benchmarks.speed import report as speed
from benchmarks.speed.__main__ import app
from benchmarks.speed.report import Report, Row, load_report, rounded, save_report, table_of
from benchmarks.speed.suite import Comparison, all_comparisons
from benchmarks.speed.workload import Spread, Workload
from damage import damage

CIRCUMSTANCES = speed.Circumstances(processor="a processor", date="2026-01-02", rounds=3, seconds=0.5, load="0.1")


def row(name, rate, reference=None, reference_rate=None, ratio=None):
    spreads = [
        None if values is None else Spread(median=values[0], minimum=values[1], maximum=values[2])
        for values in (rate, reference_rate, ratio)
    ]
    fields = dict(zip(("rate", "reference_rate", "ratio"), spreads, strict=True))
    return Row(measure="steps", name=name, reference=reference, **fields)


def report(*rows, missing=()):
    return Report(rows=rows, missing=missing, circumstances=CIRCUMSTANCES)


def text_of(table, width=240):
    target = io.StringIO()
    Console(width=width, file=target).print(table)
    return target.getvalue()


def no_work():
    raise AssertionError("not to be prepared")


def test_rows_are_chosen_by_a_regular_expression_over_measure_and_names():
    comparisons = [
        Comparison("steps", Workload("ours", no_work), Workload("theirs", no_work)),
        Comparison("simulations", Workload("ours (size=9)", no_work)),
    ]
    assert speed.chosen_comparisons(comparisons, None) == comparisons
    for pattern, chosen in (("THEIRS", [0]), (r"\(size=9\)", [1]), ("ours", [0, 1]), ("^sim", [1])):
        assert speed.chosen_comparisons(comparisons, pattern) == [comparisons[index] for index in chosen]
    with pytest.raises(ValueError, match=r"'\('"):
        speed.chosen_comparisons(comparisons, "(")
    with pytest.raises(ValueError, match=r"'nothing'.*steps, simulations"):
        speed.chosen_comparisons(comparisons, "nothing")
    texts = [comparison.text() for comparison in all_comparisons()]
    assert len(set(texts)) == len(texts), "each row has a name of its own"
    without = [comparison.measure for comparison in all_comparisons(with_training=False)]
    assert set(without) < {comparison.measure for comparison in all_comparisons()}


def test_ratios_are_compared_where_there_are_any_and_rates_otherwise():
    alone = ("alone and slower", "alone and overlapping", "alone and faster", "no longer measured")
    earlier = [
        row("ratio fell", (10, 9, 11), "other", (5, 5, 5), (2.0, 1.9, 2.1)),
        row("rate fell but ratio did not", (10, 9, 11), "other", (5, 5, 5), (2.0, 1.9, 2.1)),
        *(row(name, (10, 9, 11)) for name in alone),
    ]
    now = [
        row("ratio fell", (10, 9, 11), "other", (8, 8, 8), (1.25, 1.2, 1.3)),
        row("rate fell but ratio did not", (5, 4, 6), "other", (2.5, 2, 3), (2.0, 1.95, 2.2)),
        row("alone and slower", (5, 4, 8.9)),
        row("alone and overlapping", (5, 4, 9.1)),
        row("alone and faster", (20, 11.1, 30)),
        row("of today", (1, 1, 1)),
    ]
    changes = speed.compare_rows(now, earlier)
    assert [change.verdict for change in changes] == [
        *(speed.SLOWER, speed.UNCHANGED, speed.SLOWER, speed.UNCHANGED, speed.FASTER, speed.NEW),
    ]
    assert [change.factor for change in changes] == [0.625, 1.0, 0.5, 0.5, 2.0, None]


def test_the_table_marks_what_became_slower_and_lists_missing_libraries_and_the_method():
    now, earlier = (report(row("one", rate), row("two", (10, 9, 11))) for rate in ((5, 4, 6), (10, 9, 11)))
    text = text_of(table_of(now, earlier))
    assert re.search(r"one .*slower \(x 0\.50\)", text)
    assert re.search(r"two .*unchanged \(x 1\.00\)", text)
    assert not re.search("slower|Not installed", text_of(table_of(now)))
    shown = {1234567.0: "1,230,000", 99.96: "100", 5.018: "5.02", 0.123456: "0.123"}
    assert {rate: rounded(rate) for rate in shown} == shown
    text = text_of(table_of(report(row("one", (1234.5, 1, 2), "theirs"), missing=["pgx", "pyspiel"])))
    for value in ("1,230", "not installed", "pgx, pyspiel", "a processor", "2026-01-02", "CPU time"):
        assert value in text


@pytest.mark.parametrize(
    "change",
    [
        *(b"", b"{}"),
        lambda fields: fields["rows"][0].update(rate=None),
        lambda fields: fields["rows"][0]["rate"].update(median=0),
        lambda fields: fields["rows"][0].update(ratio=3),
        lambda fields: fields["circumstances"].pop("load"),
    ],
)
def test_a_report_is_read_as_it_was_written_and_another_file_is_none(tmp_path, change):
    file = tmp_path / "bench.json"
    one = row("one", (3, 2, 4), "theirs", (1, 1, 1), (3, 2, 4))
    written = report(one, row("two", (1, 1, 1)), missing=["jax"])
    save_report(written, file)
    assert load_report(file) == written
    damage(file, change)
    with pytest.raises(speed.ReportError, match=r"bench\.json"):
        load_report(file)


def test_the_command_writes_a_wide_table_and_a_file_and_compares(tmp_path, run_command):
    bench = partial(run_command, "--rounds", "1", "--seconds", "0.01", "--no-training", app=app)
    file = tmp_path / "bench.json"
    only = ("--only", "do-nothing")
    code, out, _ = bench(*only, "--json", str(file))
    assert code == 0
    assert re.search(r"AEC steps, random play.*AEC vadus\(size=9\).*AEC do-nothing", out)
    for one in load_report(file).rows:
        assert one.rate.minimum > 0
        assert one.ratio is not None
        assert np.isclose(one.ratio.median, one.rate.median / one.reference_rate.median, rtol=1)
    large = {"median": 1e6, "minimum": 1e6, "maximum": 1e6}
    damage(file, lambda fields: fields["rows"][0].update(ratio=large))
    assert "slower (x 0.00)" in bench(*only, "--compare", str(file))[1]
    for option, value in (("--only", "no such row"), ("--compare", "none.json"), ("--json", str(tmp_path / "n" / "b"))):
        code, _, err = bench(*only, option, value)
        assert code == 2
        assert value in err
