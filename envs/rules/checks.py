"""Checks of arguments, with one wording for all of stoneworks."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_integer(name: str, value: Any, minimum: int, maximum: int | None = None) -> int:
    """Return an integer argument.

    Args:
        name: name of the argument in the error message.
        value: the argument; numpy integers are accepted, booleans are not.
        minimum: smallest allowed value.
        maximum: largest allowed value; None for no bound.

    Raises:
        ValueError: the value is not an integer or out of bounds.
    """
    if (
        isinstance(value, (bool, np.bool_))
        or not isinstance(value, (int, np.integer))
        or value < minimum
        or (maximum is not None and value > maximum)
    ):
        allowed = f">= {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise ValueError(f"{name} must be an integer {allowed}, got {value!r}")
    return int(value)
