"""Hashes of the players of an arena that are checkpoints, to detect that one has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from stoneworks.models.shipped import checkpoint_of
from stoneworks.training.arena.workers import Player


def checkpoint_hashes(players: Mapping[str, Player]) -> dict[str, str]:
    """Return the SHA-256 hash of the description of each player that is a checkpoint, to detect changes."""
    found = {name: checkpoint_of(player) for name, player in players.items() if isinstance(player, str)}
    files = {name: checkpoint[0] / "checkpoint.json" for name, checkpoint in found.items() if checkpoint is not None}
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files.items() if file.is_file()}
