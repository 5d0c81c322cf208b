"""Averaging: a checkpoint with the mean of the weights of several others."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stoneworks.extras import require_extra
from stoneworks.models.checkpoint import METADATA_FILE, Checkpoint, CheckpointError, save_checkpoint
from stoneworks.training.runs.run_folder import AVERAGED, load_initial_checkpoint, own_runs, runs_before

with require_extra("train", "checkpoints"):
    import torch


def average_checkpoints(checkpoints: Sequence[str | os.PathLike[str]], folder: str | os.PathLike[str]) -> Path:
    """Write a checkpoint with the mean weights of ``checkpoints`` to ``folder / "checkpoint"``.

    The mean of checkpoints of related runs, such as a run and runs that continue it, can play better than each of them
    (Wortsman et al., Model soups, 2022). That of an agent and its refinement is a compromise between the two (Wortsman et
    al., Robust fine-tuning of zero-shot models, 2022). Means of unrelated runs are useless.

    The new checkpoint has the training information of the first one, except for its matches, and in addition ``averaged``:
    the number of checkpoints, and the runs that led to the others but not to the first. It has no training state, so it
    can be shipped and can initialize a run, but cannot be resumed.

    Args:
        checkpoints: folders of at least two checkpoints, or names of shipped ones. One that occurs twice has twice the
            weight.
        folder: a new folder, or one without a checkpoint.

    Returns:
        The folder of the new checkpoint.

    Raises:
        CheckpointError: a checkpoint is damaged, the games or networks differ, or ``folder`` has a checkpoint.
        ValueError: fewer than two checkpoints.
    """
    if len(checkpoints) < 2:
        raise ValueError(f"checkpoints must be at least two, got {len(checkpoints)}")
    target = Path(folder) / "checkpoint"
    if (target / METADATA_FILE).exists():
        raise CheckpointError(f"{folder} must not have a checkpoint yet; there is one in {target}")
    loaded = [load_initial_checkpoint(str(name)) for name in checkpoints]
    first, *others = loaded
    for other in others:
        if other.game != first.game:
            raise CheckpointError(
                f"{other.folder}: the game must be {first.game}, as in {first.folder}, got {other.game}"
            )
        if other.network.architecture != first.network.architecture:
            raise CheckpointError(
                f"{other.folder}: the network must be {first.network.architecture}, as in {first.folder}, "
                f"got {other.network.architecture}"
            )
    network = copy.deepcopy(first.network)
    weights = [checkpoint.network.state_dict() for checkpoint in loaded]
    network.load_state_dict(
        {name: torch.stack([each[name].double() for each in weights]).mean(0) for name in weights[0]}
    )
    save_checkpoint(target, game=first.game, network=network, play=first.play, training=_training_of_mean(loaded))
    return target


def _training_of_mean(checkpoints: Sequence[Checkpoint]) -> dict[str, Any]:
    """Return the training information of the mean of ``checkpoints``."""
    first = checkpoints[0]
    known = own_runs(first.training, first.folder)
    runs: list[dict[str, Any]] = []
    for checkpoint in checkpoints:
        runs += [run for run in runs_before(checkpoint) if run not in (*known, *runs)]
    return {**first.training, "match_results": [], AVERAGED: {"checkpoints": len(checkpoints), "runs": runs}}
