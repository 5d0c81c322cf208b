"""Shipped checkpoints, by name.

Each is a folder in ``models/checkpoints``, named after its game, optionally with a hyphen and a suffix. It contains
``model.safetensors`` and ``checkpoint.json`` as in every checkpoint, ``matches.json`` with the results of its final
matches, and ``README.md``, its model card.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from stoneworks.models.bots.parameters import parse_budget
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


def checkpoint_of(name: str) -> tuple[Path, int | float] | None:
    """Return the checkpoint and search budget of a bot name, or None if it does not name a checkpoint.

    Returns: ``(folder, budget)``: the folder of the checkpoint, and the number of simulations (``int``), as in
        ``vadus@64``, or the seconds (``float``), as in ``vadus@2s``; 0 simulations without a suffix.
    """
    if (folder := _folder_of(name)) is not None:
        return folder, 0
    before, _, budget = name.rpartition("@")
    folder = _folder_of(before)
    if folder is None:
        return None
    parsed = parse_budget(budget, max_digits=6)
    return None if parsed is None else (folder, parsed)


def _folder_of(name: str) -> Path | None:
    folder = find(name)
    try:
        return Path(name) if folder is None and name and Path(name).is_dir() else folder
    except OSError:  # longer than a path can be
        return None
