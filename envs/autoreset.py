"""Autoreset modes of the vector environments."""

from __future__ import annotations

from enum import Enum
from typing import Any

try:
    from gymnasium.vector import AutoresetMode  # available since Gymnasium 1.1
except ImportError:  # pragma: no cover

    class AutoresetMode(Enum):  # type: ignore[no-redef]
        """The autoreset modes of Gymnasium 1.1 and later."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"


def check_autoreset_mode(mode: Any) -> AutoresetMode:
    """Return an ``AutoresetMode`` from a member, its name (``"NEXT_STEP"``) or its value (``"NextStep"``).

    Raises:
        ValueError: the mode is unknown; the message lists the modes.
    """
    for known in AutoresetMode:
        if isinstance(mode, AutoresetMode | str) and mode in (known, known.name, known.value):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ValueError(f"autoreset_mode must be one of {names}, got {mode!r}")
