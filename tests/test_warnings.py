"""Warnings of our own code are errors in the tests, those of other libraries are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

CATEGORIES = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize(
    "module", ["stoneworks.envs.rules.game", "benchmarks.speed", "tools", "tests.envs.test_vector"]
)
def test_a_warning_of_our_own_code_is_an_error(module: str, category: type[Warning]) -> None:
    with pytest.raises(category, match="old"):
        warnings.warn_explicit("old", category, f"{module}.py", 1, module)


@pytest.mark.parametrize("category", [DeprecationWarning, FutureWarning])
def test_a_deprecation_inside_of_numpy_is_an_error(category: type[Warning]) -> None:
    with pytest.raises(category, match="old"):
        warnings.warn_explicit("old", category, "numeric.py", 1, "numpy._core.numeric")


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_warning_of_another_library_is_none(category: type[Warning]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn_explicit("old", category, "toolsmith.py", 1, "toolsmith")
    assert len(caught) == 1


def test_a_warning_of_numpy_belongs_to_the_module_that_calls_it() -> None:
    """Where numpy warns itself, in C, of what was called."""
    names = {"__name__": "stoneworks.made_up", "np": np}
    with pytest.raises(RuntimeWarning, match="divide by zero"):
        exec("np.float64(1) / np.float64(0)", names)
