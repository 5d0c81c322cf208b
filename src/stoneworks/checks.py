"""Checks of arguments, with one wording for all of stoneworks."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")


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
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or value < minimum or (maximum is not None and value > maximum):
        raise ValueError(f"{name} must be an integer {range_in_words(minimum, maximum)}, got {value!r}")
    return int(value)


def check_number(
    name: str, value: Any, minimum: float, maximum: float | None = None, *, above_minimum: bool = False
) -> float:
    """Return a finite number.

    Args:
        name: name of the argument in the error message.
        value: the argument; numpy numbers are accepted, booleans are not.
        minimum: smallest allowed value.
        maximum: largest allowed value; None for no bound.
        above_minimum: whether ``minimum`` itself is not allowed.

    Raises:
        ValueError: the value is not a finite number or out of bounds.
    """
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    most = sys.float_info.max if maximum is None else maximum
    if not (is_number and minimum <= value <= most) or (above_minimum and value == minimum):
        allowed = range_in_words(minimum, maximum)
        if above_minimum:
            allowed = f"> {minimum}" + ("" if maximum is None else f" and <= {maximum}")
        raise ValueError(f"{name} must be a number {allowed}, got {value!r}")
    return float(value)


def range_in_words(minimum: float, maximum: float | None) -> str:
    """Return the range of allowed numbers in words."""
    return f">= {minimum}" if maximum is None else f"from {minimum} to {maximum}"


def check_positive(name: str, value: Any) -> float:
    """Return a finite number > 0. Raises ``ValueError`` for anything else; see :func:`check_number`."""
    return check_number(name, value, 0, above_minimum=True)


def as_array(values: Any) -> npt.NDArray[Any]:
    """Return ``values`` as an array, of the dtype ``object`` if they are nested unevenly."""
    try:
        return np.asarray(values)
    except ValueError:
        array = np.empty(len(values), object)
        array[:] = list(values)
        return array


def check_integers(name: str, values: Any, number: int, error: type[ValueError] = ValueError) -> npt.NDArray[Any]:
    """Return ``values`` as an array of ``number`` integers, of any dtype. Raises ``error`` for anything else."""
    array = as_array(values)
    if array.dtype.kind not in "iu" or array.shape != (number,):
        raise error(f"{name} must be {number} integers, got {array.dtype} of shape {array.shape}")
    return array


def check_choice(name: str, value: T, allowed: Sequence[Any]) -> T:
    """Return an argument that has one of the values ``allowed``. Raises ``ValueError`` for anything else, True for 1 too."""
    is_known = isinstance(value, Hashable) and value in allowed
    if not is_known or isinstance(value, bool) != isinstance(allowed[0], bool):
        words = ", ".join(map(str, allowed))
        raise ValueError(f"{name} must be {'one of ' if len(allowed) > 1 else ''}{words}, got {value!r}")
    return value


def check_seed(seed: Any) -> int | None:
    """Return a seed: an integer >= 0, or None for a random one. Raises ``ValueError`` for anything else."""
    return None if seed is None else check_integer("seed", seed, 0)


def check_player(player: Any) -> int:
    """Return a player, 0 or 1. Raises ``ValueError`` for anything else."""
    return check_integer("player", player, 0, 1)
