"""Shipped checkpoints, by name.

Each is a folder in ``models/checkpoints``, named after its game, optionally with a hyphen and a suffix. It contains
``model.safetensors`` and ``checkpoint.json`` as in every checkpoint, ``matches.json`` with the results of its final
matches, and ``README.md``, its model card.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from stoneworks.models.description import METADATA_FILE

MATCHES_FILE = "matches.json"
CARD_FILE = "README.md"


def shipped_folder() -> Path:
    """Return the folder of the shipped checkpoints; it may not exist."""
    return Path(str(resources.files("stoneworks.models"))) / "checkpoints"


def names() -> tuple[str, ...]:
    """Return the names of the shipped checkpoints."""
    folder = shipped_folder()
    return tuple(sorted(file.parent.name for file in folder.glob(f"[!.]*/{METADATA_FILE}")))


def find(name: str) -> Path | None:
    """Return the folder of the shipped checkpoint ``name``, or None if there is none."""
    return shipped_folder() / name if name in names() else None
