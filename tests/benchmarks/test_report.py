"""Rows are chosen, measured, written, read again, compared and shown."""

from __future__ import annotations

import io
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from benchmarks.speed.__main__ import app
from benchmarks.speed.report import (
    FASTER,
    NEW,
    SLOWER,
    UNCHANGED,
    Circumstances,
    Report,
    ReportError,
    Row,
    chosen_comparisons,
    compare_rows,
    load_report,
    rounded,
    run_bench,
    save_report,
    table_of,
)
from benchmarks.speed.suite import Comparison, all_comparisons
from benchmarks.speed.workload import Spread, Workload
from damage import damage

CIRCUMSTANCES = Circumstances(processor="a processor", date="2026-01-02", rounds=3, seconds=0.5, load="0.1")


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
    assert chosen_comparisons(comparisons, None) == comparisons
    for pattern, chosen in (("THEIRS", [0]), (r"\(size=9\)", [1]), ("ours", [0, 1]), ("^sim", [1])):
        assert chosen_comparisons(comparisons, pattern) == [comparisons[index] for index in chosen]
    with pytest.raises(ValueError, match=r"'\('"):
        chosen_comparisons(comparisons, "(")
    with pytest.raises(ValueError, match=r"'nothing'.*steps, simulations"):
        chosen_comparisons(comparisons, "nothing")


def test_every_row_has_a_name_of_its_own():
    texts = [comparison.text() for comparison in all_comparisons()]
    assert len(set(texts)) == len(texts)
    without = [comparison.measure for comparison in all_comparisons(with_training=False)]
    assert set(without) < {comparison.measure for comparison in all_comparisons()}


def test_ratios_are_compared_where_there_are_any_and_rates_otherwise():
    earlier = [
        row("ratio fell", (10, 9, 11), "other", (5, 5, 5), (2.0, 1.9, 2.1)),
        row("rate fell but ratio did not", (10, 9, 11), "other", (5, 5, 5), (2.0, 1.9, 2.1)),
        row("alone and slower", (10, 9, 11)),
        row("alone and overlapping", (10, 9, 11)),
        row("alone and faster", (10, 9, 11)),
        row("no longer measured", (10, 9, 11)),
    ]
    now = [
        row("ratio fell", (10, 9, 11), "other", (8, 8, 8), (1.25, 1.2, 1.3)),
        row("rate fell but ratio did not", (5, 4, 6), "other", (2.5, 2, 3), (2.0, 1.95, 2.2)),
        row("alone and slower", (5, 4, 8.9)),
        row("alone and overlapping", (5, 4, 9.1)),
        row("alone and faster", (20, 11.1, 30)),
        row("of today", (1, 1, 1)),
    ]
    changes = compare_rows(now, earlier)
    assert [change.verdict for change in changes] == [SLOWER, UNCHANGED, SLOWER, UNCHANGED, FASTER, NEW]
    assert [change.factor for change in changes] == [0.625, 1.0, 0.5, 0.5, 2.0, None]


def test_the_table_marks_what_became_slower_and_lists_missing_libraries_and_the_method():
    now = report(row("one", (5, 4, 6)), row("two", (10, 9, 11)))
    lines = text_of(table_of(now, report(row("one", (10, 9, 11)), row("two", (10, 9, 11))))).splitlines()
    assert [("slower (x 0.50)" in line) for line in lines if "one" in line and "steps" in line] == [True]
    assert [("unchanged (x 1.00)" in line) for line in lines if "two" in line and "steps" in line] == [True]
    text = text_of(table_of(now))
    assert "slower" not in text
    assert "Not installed" not in text
    text = text_of(table_of(report(row("one", (1234.5, 1, 2), "theirs"), missing=["pgx", "pyspiel"])))
    for value in ("1,230", "not installed", "pgx, pyspiel", "a processor", "2026-01-02", "CPU time"):
        assert value in text


@pytest.mark.parametrize(
    ("rate", "text"), [(1234567.0, "1,230,000"), (100.4, "100"), (99.96, "100"), (5.018, "5.02"), (0.123456, "0.123")]
)
def test_rates_are_shown_with_three_digits(rate, text):
    assert rounded(rate) == text


def test_a_report_is_read_as_it_was_written(tmp_path):
    written = report(row("one", (3, 2, 4), "theirs", (1, 1, 1), (3, 2, 4)), row("two", (1, 1, 1)), missing=["jax"])
    save_report(written, tmp_path / "bench.json")
    assert load_report(tmp_path / "bench.json") == written
    assert [path.name for path in tmp_path.iterdir()] == ["bench.json"]


@pytest.mark.parametrize(
    "change",
    [
        *(
            b"",
            b"[]",
            b"{}",
            b'{"rows": [{}]}',
            b'{"rows": 1}',
            b"\x80",
            b"[" * 100_000,
            b'{"rows": ' + b"9" * 10_000 + b"}",
        ),
        lambda fields: fields["rows"][0].update(rate=None),
        lambda fields: fields["rows"][0].update(rate={"median": 1, "minimum": 1, "maximum": 1, "mean": 1}),
        lambda fields: fields["rows"][0]["rate"].update(median="fast"),
        lambda fields: fields["rows"][0]["rate"].update(median=0),
        lambda fields: fields["rows"][0].update(ratio=3),
        lambda fields: fields["rows"][0].update(name=[]),
        lambda fields: fields.update(missing="jax"),
        lambda fields: fields["circumstances"].pop("load"),
    ],
)
def test_another_file_is_not_a_report(tmp_path, change):
    file = tmp_path / "bench.json"
    save_report(report(row("one", (3, 2, 4), "theirs", (1, 1, 1), (3, 2, 4))), file)
    damage(file, change)
    with pytest.raises(ReportError, match=r"bench\.json"):
        load_report(file)


def test_a_short_run_measures_what_is_installed():
    measured = run_bench(rounds=2, seconds=0.01, with_training=False, only=r"do-nothing|State of vadus")
    text = text_of(table_of(measured))
    assert "AEC do-nothing" in text
    assert "State of vadus(size=9)" in text
    for one in measured.rows:
        assert one.rate.minimum > 0
        if one.ratio is not None:
            assert one.ratio.minimum <= one.ratio.median <= one.ratio.maximum
            assert np.isclose(one.ratio.median, one.rate.median / one.reference_rate.median, rtol=1)
    assert measured.circumstances.rounds == 2


def test_the_command_writes_a_wide_table_and_a_file_and_compares(tmp_path, run_command):
    bench = partial(run_command, "--rounds", "1", "--seconds", "0.01", "--no-training", app=app)
    file = tmp_path / "bench.json"
    only = ("--only", "do-nothing")
    code, out, _ = bench(*only, "--json", str(file))
    assert code == 0
    line = next(line for line in out.splitlines() if "AEC vadus(size=9)" in line)
    assert "AEC do-nothing" in line
    assert "AEC steps, random play" in line
    large = {"median": 1e6, "minimum": 1e6, "maximum": 1e6}
    damage(file, lambda fields: fields["rows"][0].update(ratio=large))
    code, out, _ = bench(*only, "--compare", str(file))
    assert code == 0
    assert "slower (x 0.00)" in out
    for arguments, named in (
        (("--only", "no such row"), "no such row"),
        ((*only, "--compare", str(tmp_path / "none.json")), "none.json"),
        ((*only, "--json", str(tmp_path / "none" / "b.json")), "b.json"),
    ):
        code, _, err = bench(*arguments)
        assert code == 2
        assert named in err
