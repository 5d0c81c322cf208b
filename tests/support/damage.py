"""Files and records with other contents than they should have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

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


def with_flipped_bits(records: npt.NDArray[np.void], random: np.random.Generator) -> npt.NDArray[np.void]:
    """Return one of the records, with up to three flipped bits outside of its tag, as an array of one."""
    flipped = records[random.integers(len(records))].reshape(1).copy()
    content, tag = flipped.view(np.uint8), records.dtype.fields["game_tag"][1]
    for _ in range(random.integers(1, 4)):
        place = int(random.integers(content.size))
        if place not in range(tag, tag + 4):
            content[place] ^= 1 << random.integers(8)
    return flipped
