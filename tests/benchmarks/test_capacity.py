"""The model of the learner's side, on a board so small that it takes seconds."""

from __future__ import annotations

import pytest


def test_the_capacity_of_a_learner_is_measured() -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra cluster)")
    import ray

    from benchmarks.cluster.capacity import measure_capacity, table_of

    games = {"vadus(size=3)": ("vadus-5", ("game=vadus(size=3)", "games={}", "network.channels=8", "network.blocks=1"))}
    transport, (result,) = measure_capacity(games)
    assert not ray.is_initialized()
    assert min(transport.seconds_per_batch, transport.bytes_per_second, transport.weights_bytes_per_second) > 0
    assert result.game == "vadus(size=3)"
    assert result.bytes_per_position > 32 * 8, "at least the entries of a policy"
    expected = result.learner_per_core / result.self_play_per_core
    assert result.cores_by_limit["gradient steps on one core"] == pytest.approx(expected)
    assert result.cores_by_limit[result.bottleneck] == min(result.cores_by_limit.values())
    assert result.evaluations[64] > result.evaluations[1] > 0
    assert table_of([result]).row_count == 1
