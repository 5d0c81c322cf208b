"""When a vector environment restarts a game that has ended."""

from __future__ import annotations

from enum import Enum
from typing import Any

try:
    from gymnasium.vector import AutoresetMode  # Gymnasium has had it since 1.1
except ImportError:  # pragma: no cover

    class AutoresetMode(Enum):  # type: ignore[no-redef]
        """The modes of later versions of Gymnasium."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"


def check_autoreset_mode(mode: Any) -> AutoresetMode:
    """Return the mode given as itself, by its name (``"NEXT_STEP"``) or by its value (``"NextStep"``).

    Raises:
        ValueError: there is no such mode; the message lists the modes.
    """
    for known in AutoresetMode:
        if isinstance(mode, AutoresetMode | str) and mode in (known, known.name, known.value):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ValueError(f"autoreset_mode must be one of {names}, got {mode!r}")
