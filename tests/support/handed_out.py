"""What environments hand out: the arrays in it, and that it does not change."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Return every array of numbers in what an environment handed out."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            for item in value.tolist():
                yield from arrays_in(item)
        else:
            yield value
    elif hasattr(value, "__array__"):  # torch.Tensor: an array over the same memory
        yield np.asarray(value)
    elif hasattr(value, "values"):  # dict, TensorDict
        for item in value.values():
            yield from arrays_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays_in(item)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from arrays_in(getattr(value, name))


def assert_nothing_changes(played: Iterable[Any]) -> list[list[np.ndarray]]:
    """Play to the end, check that no array handed out on the way changed afterwards, and return copies of the arrays."""
    kept = [(handed_out, copy.deepcopy(list(arrays_in(handed_out)))) for handed_out in played]
    assert sum(len(arrays) for _, arrays in kept) > 10
    for handed_out, before in kept:
        for array, as_it_was in zip(arrays_in(handed_out), before, strict=True):
            np.testing.assert_array_equal(array, as_it_was)
    return [before for _, before in kept]
