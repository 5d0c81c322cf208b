"""The checkpoint whose network is the start of a run."""

from __future__ import annotations

from typing import Any

from stoneworks.envs.rules import Game
from stoneworks.models.architecture import Architecture
from stoneworks.models.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from stoneworks.models.network import BoardNetwork
from stoneworks.models.shipped import find
from stoneworks.reading import check_shape
from stoneworks.training.runs.algorithms import ALGORITHMS
from stoneworks.training.runs.finished_run import AVERAGED, OTHER_RUNS, check_training


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


def runs_before(checkpoint: Checkpoint) -> list[dict[str, Any]]:
    """Return the runs that led to the weights of an initial checkpoint, oldest first; of a mean, those of all its parts.

    Each is a mapping of ``algorithm``, ``amount`` of training, its ``unit``, and ``seconds``. Checkpoints that none of the
    registered algorithms wrote are left out.

    Raises:
        CheckpointError: the checkpoint's information about its training is invalid.
    """
    return own_runs(checkpoint) + list(checkpoint.training.get(AVERAGED, {}).get("runs", ()))


def own_runs(checkpoint: Checkpoint) -> list[dict[str, Any]]:
    """Return :func:`runs_before`; of a mean of checkpoints, only the runs of its first one."""
    training = checkpoint.training
    check_shape(dict(training), OTHER_RUNS, CheckpointError, f"{checkpoint.folder}: training")
    runs = list(training.get("earlier_runs", ()))
    name = training.get("algorithm", "")
    if name in ALGORITHMS:
        entry = ALGORITHMS[name]
        check_training(training, entry.amount, checkpoint.folder)
        amount, seconds = training[entry.amount], training["seconds"]
        runs.append({"algorithm": entry.name, "amount": amount, "unit": entry.amount, "seconds": seconds})
    return runs
