"""Files with other contents than they should have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: What a file holds instead, or what is done to the JSON object that it holds.
Damage = bytes | Callable[[dict[str, Any]], object]


def damage(file: Path, change: Damage) -> None:
    """Replace the content of a file of JSON, or change the object that it holds."""
    if isinstance(change, bytes):
        file.write_bytes(change)
    else:
        fields = json.loads(file.read_text(encoding="utf-8"))
        change(fields)
        file.write_text(json.dumps(fields), encoding="utf-8")
