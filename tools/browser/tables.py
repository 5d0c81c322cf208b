"""Tables of weights in modules: in place of those of all phases, a module carries those of the knots and says where they go.

The engine interpolates them when the module starts, with the rounding of :meth:`Phases.interpolate`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.compiler.targets import TargetError
from stoneworks.envs.rules.compiler.weights import Phases

#: Name of the custom section.
SECTION = b"weights"
_CUSTOM, _DATA = 0, 11
_I32_CONST = 0x41


def with_knots_alone(module: bytes, phases: Phases, of_knots: npt.NDArray[np.float32]) -> bytes:
    """Return a WebAssembly module with zeros in place of a table, and a custom section from which the engine fills it.

    The section has ``int32[5]``, the address of the table and the numbers of boards, phases, terms and knots, ``int32[num_phases]``
    and ``float32[num_phases, 2]``, the places of the phases, and ``of_knots``, all little-endian.

    Args:
        module: the module.
        phases: the phases of the table.
        of_knots: ``float32[num_boards, num_knots, num_terms]``, the weights at the knots.

    Raises:
        TargetError: the module does not have the interpolated table, or has it more than once.
    """
    table = np.ascontiguousarray(phases.interpolate(of_knots))
    content = table.tobytes()
    if (number := module.count(content)) != 1:
        raise TargetError(f"the module must have the table of weights once, has it {number} times")
    begin = module.index(content)
    num_boards, num_knots, num_terms = of_knots.shape
    header = np.array([_address(module, begin), num_boards, table.shape[1], num_terms, num_knots], "<i4")
    parts = [header, *phases.places(), np.ascontiguousarray(of_knots)]
    payload = _leb128(len(SECTION)) + SECTION + b"".join(part.tobytes() for part in parts)
    section = bytes([_CUSTOM]) + _leb128(len(payload)) + payload
    return module[:begin] + bytes(len(content)) + module[begin + len(content) :] + section


def _address(module: bytes, offset: int) -> int:
    """Return the address in memory of a byte of the module that is in one of its data segments."""
    at = 8  # behind the magic number and the version
    while at < len(module):
        kind = module[at]
        size, at = _read_leb128(module, at + 1)
        if kind == _DATA:
            num_segments, at = _read_leb128(module, at)
            for _ in range(num_segments):
                if module[at] != 0 or module[at + 1] != _I32_CONST:
                    raise TargetError("the module has data that is not at a fixed address")
                address, at = _read_leb128(module, at + 2)
                length, at = _read_leb128(module, at + 1)  # behind the end of the expression
                if at <= offset < at + length:
                    return address + offset - at
                at += length
        else:
            at += size
    raise TargetError("the table of weights is not in the data of the module")


def _read_leb128(content: bytes, at: int) -> tuple[int, int]:
    """Return a number of the format's variable length, and where the next one begins; addresses are below 2 GiB."""
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _leb128(value: int) -> bytes:
    """Return a number in the format's variable length."""
    parts = []
    while value >= 128:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])
