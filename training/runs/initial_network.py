"""The checkpoint whose network is the start of a run."""

from __future__ import annotations

from stoneworks.envs.rules import Game
from stoneworks.models.architecture import Architecture
from stoneworks.models.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from stoneworks.models.network import BoardNetwork
from stoneworks.models.shipped import find


def load_initial_checkpoint(init_from: str, game: Game | None = None) -> Checkpoint:
    """Return the checkpoint ``init_from``, the path of a folder or the name of a shipped one, to play ``game``.

    Raises:
        CheckpointError: the checkpoint is damaged, or is for another game than ``game``.
    """
    return load_checkpoint(find(init_from) or init_from, game)


def initial_network(checkpoint: Checkpoint, architecture: Architecture) -> BoardNetwork:
    """Return the network of an initial checkpoint. Raises :class:`CheckpointError` if it has another architecture."""
    network = checkpoint.network
    if network.architecture != architecture:
        raise CheckpointError(
            f"init_from must be a checkpoint of the network {architecture}, got {network.architecture}"
        )
    return network
