"""The check of integer arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stoneworks.checks import check_integer


@pytest.mark.parametrize("value", [1, 7, np.int64(3), np.uint8(7)])
def test_integers_within_bounds_are_returned(value: Any) -> None:
    assert check_integer("n", value, 1, 7) == value
    assert type(check_integer("n", value, 1)) is int


@pytest.mark.parametrize("value", [0, 8, True, np.True_, 1.0, "1", None, [1]])
def test_everything_else_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ValueError, match="n must be an integer from 1 to 7, got ") as caught:
        check_integer("n", value, 1, 7)
    assert str(caught.value).endswith(repr(value))
