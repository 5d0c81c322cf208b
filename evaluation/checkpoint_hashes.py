"""Hashes of the players of an arena that are checkpoints, to detect that one has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from stoneworks.evaluation.workers import Player
from stoneworks.models.bots.spec import BotSpec, UnknownBotError
from stoneworks.models.description import METADATA_FILE


def checkpoint_hashes(players: Mapping[str, Player]) -> dict[str, str]:
    """Return the SHA-256 hash of the description of each player that is a checkpoint, to detect changes."""
    found = {name: _checkpoint_of(player) for name, player in players.items()}
    return {
        name: checkpoint_hash(folder)
        for name, folder in found.items()
        if folder is not None and (folder / METADATA_FILE).is_file()
    }


def _checkpoint_of(player: Player) -> Path | None:
    try:
        return BotSpec.parse(player).checkpoint if isinstance(player, str) else None
    except UnknownBotError:
        return None


def checkpoint_hash(folder: Path) -> str:
    """Return the SHA-256 hash of a checkpoint's description, which contains the hash of its weights."""
    return hashlib.sha256((folder / METADATA_FILE).read_bytes()).hexdigest()
