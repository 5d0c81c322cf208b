"""Shipped checkpoints: those that come with stoneworks, by name.

Each is a folder of ``models/checkpoints``, called as its game or as its game with something after a hyphen:
``model.safetensors`` and ``checkpoint.json`` as in every checkpoint, ``eval.json``, the results of its final matches, and
``README.md``, its model card.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

EVALUATION_FILE = "eval.json"
CARD_FILE = "README.md"


def shipped_folder() -> Path:
    """Return the folder that the shipped checkpoints lie in; where there are none it may be missing."""
    return Path(str(resources.files("stoneworks.models"))) / "checkpoints"


def names() -> tuple[str, ...]:
    """Return the names of the shipped checkpoints."""
    folder = shipped_folder()
    return tuple(sorted(file.parent.name for file in folder.glob("[!.]*/checkpoint.json")))


def find(name: str) -> Path | None:
    """Return the folder of the shipped checkpoint ``name``, or None where there is none."""
    return shipped_folder() / name if name in names() else None
