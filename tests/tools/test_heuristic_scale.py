"""The scales of the evaluations: the fit finds the scale that made the results, and the stored scales are fitted ones."""

from __future__ import annotations

import numpy as np
import pytest

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.parts import heuristic_scale
from tools.heuristic_scale import _fit, fit_scale


@pytest.mark.parametrize("scale", [0.1, 2.0, 300.0])
def test_the_fit_finds_the_scale_that_results_were_drawn_with(scale: float) -> None:
    generator = np.random.default_rng(0)
    values = scale * generator.normal(size=50_000)
    expected = np.tanh(values / scale)
    results = np.where(generator.random(values.size) < (1 + expected) / 2, 1.0, -1.0)
    fitted, error = _fit(values, results)
    assert abs(fitted - scale) < 5 * error
    assert 0 < error < 0.05 * scale
    for useless, message in ((-np.sign(values), "does not predict"), (np.sign(values), "never wrong")):
        with pytest.raises(ValueError, match=message):
            _fit(values, useless)


@pytest.mark.parametrize("name", ["vadus(size=5)", "laido(size=5)"])
def test_stored_scales_are_near_those_of_a_few_games(name: str) -> None:
    game = load_game(name)
    fitted = fit_scale(game, 30, seed=5)
    assert fitted.num_games == 30
    assert fitted.num_positions > 500
    assert fitted.scale / 2 < heuristic_scale(game) < 2 * fitted.scale
