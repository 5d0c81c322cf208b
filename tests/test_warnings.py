"""Warnings of our own code are errors in the tests, those of other libraries are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

OURS = ("stoneworks.envs.rules.game", "benchmarks.speed", "tools", "tests.envs.test_vector")


@pytest.mark.parametrize("category", [DeprecationWarning, PendingDeprecationWarning, FutureWarning])
@pytest.mark.parametrize("module", [*OURS, "numpy._core.numeric", "toolsmith"])
def test_warnings_of_our_own_code_and_deprecations_of_numpy_are_errors(module: str, category: type[Warning]) -> None:
    is_error = module in OURS or (module.startswith("numpy") and category is not PendingDeprecationWarning)
    with pytest.raises(category, match="old") if is_error else warnings.catch_warnings(record=True):
        warnings.warn_explicit("old", category, f"{module}.py", 1, module)


def test_a_warning_of_numpy_belongs_to_the_module_that_calls_it() -> None:
    """Where numpy warns itself, in C, of what was called."""
    names = {"__name__": "stoneworks.made_up", "np": np}
    with pytest.raises(RuntimeWarning, match="divide by zero"):
        exec("np.float64(1) / np.float64(0)", names)
