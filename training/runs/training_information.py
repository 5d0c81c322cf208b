"""The training information in checkpoints: what all algorithms write, and the runs that led to the weights."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from stoneworks.models.checkpoint import Checkpoint, CheckpointError
from stoneworks.reading import check_shape
from stoneworks.training.runs.algorithms import ALGORITHMS, AlgorithmEntry, algorithm_names

#: Key of the information about a mean of checkpoints, in its training information.
AVERAGED = "averaged"
_RUNS = [{"algorithm": str, "amount": int, "unit": str, "seconds": float}]
#: Shape of the information about other runs that led to the weights, in the training information of checkpoints.
OTHER_RUNS = {"earlier_runs?": _RUNS, f"{AVERAGED}?": {"checkpoints": int, "runs": _RUNS}}


def algorithm_of(training: Mapping[str, Any], source: str | os.PathLike[str]) -> AlgorithmEntry:
    """Return the algorithm that trained a checkpoint. Raises :class:`CheckpointError` if it is not registered."""
    name = training.get("algorithm")
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise CheckpointError(f"{source}: algorithm must be one of {', '.join(algorithm_names())}, got {name!r}")
    return ALGORITHMS[name]


def check_training(training: Mapping[str, Any], amount: str, source: str | os.PathLike[str]) -> None:
    """Check the training information that all algorithms write to checkpoints. Raises :class:`CheckpointError`.

    Args:
        training: the ``training`` part of the checkpoint.
        amount: unit of training progress (see ``AlgorithmEntry.amount``).
        source: path of the checkpoint.
    """
    match_results = {
        **dict.fromkeys((amount, "games", "distinct_games", "wins", "draws", "losses"), int),
        **dict.fromkeys(("seconds", "score"), float),
        **dict.fromkeys(("player", "opponent"), str),
        "interval": [float],
    }
    shape = {
        amount: int,
        "seconds": float,
        "config": {amount: int},
        "hardware": {"processor": str, "cores": int, "torch_threads": int, "gpu?": str},
        "match_results": [match_results],
        "matches_due?": bool,
        **OTHER_RUNS,
    }
    where = f"{source}: training"
    check_shape(dict(training), shape, CheckpointError, where)
    for number, row in enumerate(training["match_results"]):
        if len(row["interval"]) != 2:
            raise CheckpointError(
                f"{where}: match_results[{number}]: interval must be two numbers, got {row['interval']}"
            )
    for name, value in ((amount, training[amount]), ("seconds", training["seconds"])):
        if not 0 <= value < 2**62:
            raise CheckpointError(f"{where}: {name} must be from 0 to 2**62, got {value}")


def runs_before(checkpoint: Checkpoint) -> list[dict[str, Any]]:
    """Return the runs that led to the weights of an initial checkpoint, oldest first; of a mean, those of all its parts.

    Each is a mapping of ``algorithm``, ``amount`` of training, its ``unit``, and ``seconds``. Checkpoints that none of the
    registered algorithms wrote are left out.

    Raises:
        CheckpointError: the checkpoint's information about its training is invalid.
    """
    training = checkpoint.training
    return own_runs(training, checkpoint.folder) + list(training.get(AVERAGED, {}).get("runs", ()))


def own_runs(training: Mapping[str, Any], source: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the runs that led to the weights, oldest first; for a mean of checkpoints, only those of the first one.

    Args:
        training: the ``training`` part of the checkpoint.
        source: path of the checkpoint.

    Raises:
        CheckpointError: ``training`` is invalid.
    """
    check_shape(dict(training), OTHER_RUNS, CheckpointError, f"{source}: training")
    runs = list(training.get("earlier_runs", ()))
    name = training.get("algorithm", "")
    if name in ALGORITHMS:
        amount = ALGORITHMS[name].amount
        check_training(training, amount, source)
        runs.append({"algorithm": name, "amount": training[amount], "unit": amount, "seconds": training["seconds"]})
    return runs
