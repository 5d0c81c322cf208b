"""The bench compares on Hex."""

from __future__ import annotations

import pytest

from benchmarks.speed import ours
from benchmarks.speed.example_games import HEX, is_available
from benchmarks.speed.report import chosen_comparisons
from benchmarks.speed.suite import all_comparisons


def test_hex_is_compared_in_every_respect_in_which_others_have_it():
    hex_rows = chosen_comparisons(all_comparisons(with_training=False), r"hex\(size=11")
    assert [row.measure for row in hex_rows] == [
        "state steps from Python",
        "batch steps, observation and mask",
        "random playout actions",
        "MCTS simulations, random playouts",
        "Gumbel simulations, no network",
    ]
    assert all(row.reference is not None for row in hex_rows)
    assert is_available(HEX)


@pytest.mark.usefixtures("hex_module")
def test_hex_is_measured():
    workloads = [
        ours.state_steps("hex(size=3)"),
        ours.batch_steps("hex(size=3)", 4),
        ours.playout_actions("hex(size=3)"),
        ours.mcts_simulations("hex(size=3)", 20),
        ours.network_search_simulations("hex(size=3)", 2, 4),
    ]
    for workload in workloads:
        assert workload.requires == (HEX,)
        assert workload.play(10) >= 10
