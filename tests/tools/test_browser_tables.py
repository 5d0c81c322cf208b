"""Tables of weights in modules for browsers: removed, and carried by their knots; that engines fill them is in tests/targets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from stoneworks.envs.rules.compiler.targets import TargetError
from stoneworks.envs.rules.compiler.weights import Phases
from tools.browser.tables import with_knots_alone

PHASES = Phases((2, 5, 9))


def some_knots() -> npt.NDArray[np.float32]:
    return np.random.default_rng(0).normal(size=(2, 3, 50)).astype(np.float32)


def leb128(value: int) -> bytes:
    return bytes([value & 127 | 128]) + leb128(value >> 7) if value > 127 else bytes([value])


def module_with(*segments: tuple[int, bytes], flag: int = 0) -> bytes:
    """Return a module with a memory of 10 pages and data segments of their addresses and contents."""
    data = b"".join(bytes([flag, 0x41]) + leb128(at) + b"\x0b" + leb128(len(of)) + of for at, of in segments)
    data = leb128(len(segments)) + data
    return b"\0asm\1\0\0\0" + b"\5\3\1\0\x0a" + b"\x0b" + leb128(len(data)) + data


def test_phases_are_interpolated_between_their_knots() -> None:
    knots = some_knots()
    phases = PHASES.interpolate(knots)
    assert phases.shape == (2, 8, 50)
    assert phases.dtype == np.float32
    for board, term in ((0, 0), (1, 49)):
        expected = np.interp(np.arange(2, 10), PHASES.knots, knots[board, :, term].astype(np.float64))
        np.testing.assert_allclose(phases[board, :, term], expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(phases[:, [0, 3, 7]], knots)


def test_a_module_has_zeros_and_the_knots_in_place_of_the_table() -> None:
    knots = some_knots()
    table = PHASES.interpolate(knots).tobytes()
    module = module_with((1024, b"first"), (40_000, b"before" + table + b"after"))
    changed = with_knots_alone(module, PHASES, knots)
    emptied = module.replace(table, bytes(len(table)))
    assert changed.startswith(emptied)
    section = changed[len(emptied) :]
    name = b"\7weights"
    payload = section[section.index(name) + len(name) :]
    assert section[:1] == b"\0"
    assert section[1:].startswith(leb128(len(name) + len(payload)))
    assert np.frombuffer(payload, "<i4", 5).tolist() == [40_006, 2, 8, 50, 3]
    assert payload.endswith(knots.tobytes())


def test_a_table_that_cannot_be_found_is_an_error() -> None:
    knots = some_knots()
    table = PHASES.interpolate(knots).tobytes()
    for module, error in (
        (module_with((1024, b"first")), "once, has it 0 times"),
        (module_with((1024, table), (40_000, table)), "once, has it 2 times"),
        (module_with((1024, table), flag=1), "not at a fixed address"),
        (b"\0asm\1\0\0\0" + b"\0" + leb128(len(table)) + table, "not in the data"),
    ):
        with pytest.raises(TargetError, match=error):
            with_knots_alone(module, PHASES, knots)
