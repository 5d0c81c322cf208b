"""Hashes of the players of an arena that are checkpoints, to detect that one has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from stoneworks.evaluation.workers import Player
from stoneworks.models.shipped import METADATA_FILE, checkpoint_of


def checkpoint_hashes(players: Mapping[str, Player]) -> dict[str, str]:
    """Return the SHA-256 hash of the description of each player that is a checkpoint, to detect changes."""
    found = {name: checkpoint_of(player) for name, player in players.items() if isinstance(player, str)}
    return {
        name: checkpoint_hash(checkpoint[0])
        for name, checkpoint in found.items()
        if checkpoint is not None and (checkpoint[0] / METADATA_FILE).is_file()
    }


def checkpoint_hash(folder: Path) -> str:
    """Return the SHA-256 hash of a checkpoint's description, which contains the hash of its weights."""
    return hashlib.sha256((folder / METADATA_FILE).read_bytes()).hexdigest()
