"""Files of learned weights: written and read, and interpolated between the knots."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stoneworks.envs.rules.compiler.weights import Phases, read_weights, write_weights


def test_weights_are_interpolated_between_knots_and_kept_for_other_boards(tmp_path: Path) -> None:
    phases, terms, file = Phases((1, 3, 7)), ("stones", 'it\'s "near"'), tmp_path / "heuristic.json"
    small = np.array([[1.0, -2.5], [3.0, 0.0], [-5.0, 1 / 3]], np.float32)
    write_weights(file, "small", terms, np.zeros_like(small))
    write_weights(file, "large", terms, 10 * small)
    write_weights(file, "small", terms, small)
    tables = read_weights(file, terms, phases, ("small", "large"))
    assert tables.shape == (2, 7, 2)
    assert tables.dtype == np.float32
    np.testing.assert_allclose(tables[0, :, 0], [1, 2, 3, 1, -1, -3, -5], rtol=1e-6)
    np.testing.assert_allclose(tables[1], 10 * tables[0], rtol=2e-3)
    assert tables[0, 6, 1] == np.float32(0.3333)
    np.testing.assert_array_equal(phases.shares().sum(axis=1), 1)
