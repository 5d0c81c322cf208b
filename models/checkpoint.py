"""Checkpoints: folders with network weights and a JSON description.

``checkpoint.json`` (see :class:`stoneworks.models.description.CheckpointDescription`) records the game, the version of its
rules, actions and observations, the network, how the agent plays, the training metadata, and the SHA-256 hash of every
other file. ``model.safetensors`` holds the weights. ``training.safetensors`` is
optional; it holds the state for resuming training and is not needed to play. Nothing is pickled. Folders are written
atomically: to a temporary folder, which is then renamed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.parts import features_of
from stoneworks.extras import require_extra
from stoneworks.files import naming_errors, sync_folder, write_through
from stoneworks.models.architecture import Architecture, NetworkConfig, network_config
from stoneworks.models.description import (
    METADATA_FILE,
    CheckpointDescription,
    CheckpointError,
    PlaySettings,
    SavedFile,
    read_description,
)
from stoneworks.models.network import BoardNetwork, make_network
from stoneworks.reading import read_bytes

with require_extra("train", "checkpoints"):
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load as load_tensors, save as save_tensors
    from torch import Tensor

WEIGHTS_FILE = "model.safetensors"
TRAINING_FILE = "training.safetensors"

_LIBRARIES = ("stoneworks", "torch", "numpy", "numba", "safetensors", "stable-baselines3", "sb3-contrib")


@dataclass(frozen=True)
class CheckpointInformation:
    """A validated checkpoint without its network.

    Attributes:
        folder: path of the checkpoint.
        game: the game that the network was trained on.
        play: how the agent plays.
        training: the training metadata saved with the checkpoint.
        libraries: versions of the libraries that wrote the checkpoint.
    """

    folder: Path
    game: Game
    play: PlaySettings
    training: Mapping[str, Any]
    libraries: Mapping[str, str]


@dataclass(frozen=True)
class Checkpoint(CheckpointInformation):
    """A loaded and validated checkpoint.

    Attributes:
        network: the network with its weights.
    """

    network: BoardNetwork


def save_checkpoint(
    folder: str | os.PathLike[str],
    *,
    game: Game,
    network: BoardNetwork,
    training: Mapping[str, Any],
    play: PlaySettings | None = None,
    training_state: Mapping[str, Tensor] | None = None,
) -> None:
    """Write a checkpoint, replacing an existing one; on an error, the existing one is unchanged.

    Args:
        folder: path of the checkpoint.
        game: the game that the network was trained on.
        network: the network.
        training: JSON-serializable training metadata.
        play: how the agent plays; None for the defaults.
        training_state: tensors by name for resuming training.

    Raises:
        CheckpointError: if the network does not fit the game or has weights that are not finite, ``training`` is not
            JSON-serializable, or ``folder`` exists and is not a checkpoint.
    """
    target = Path(folder)
    if target.exists() and not (target / METADATA_FILE).is_file() and (not target.is_dir() or any(target.iterdir())):
        raise CheckpointError(f"{target} must be a new or empty folder or a checkpoint")
    expected = Architecture.of_game(game, network.architecture.config)
    if network.architecture != expected:
        raise CheckpointError(f"the network for {game} must be {expected}, got {network.architecture}")
    weights = network.playing_state_dict()
    check_finite(weights, f"{target} is not written: ")
    contents = {WEIGHTS_FILE: _serialize(weights)}
    if training_state is not None:
        contents[TRAINING_FILE] = _serialize(training_state)
    description = CheckpointDescription(
        game=str(game),
        **_rules(game, network.architecture.config),
        network=network.architecture.config.model_dump(mode="json"),
        files={name: SavedFile(bytes=len(content), sha256=_hash(content)) for name, content in contents.items()},
        libraries=library_versions(),
        play=play or PlaySettings(),
        training=dict(training),
    )
    try:
        contents[METADATA_FILE] = (json.dumps(description.model_dump(), indent=2, allow_nan=False) + "\n").encode()
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"training must be representable as JSON ({error}), got {training!r}") from None
    target.parent.mkdir(parents=True, exist_ok=True)
    outer_folder = tempfile.TemporaryDirectory(
        prefix=f".{target.name}.", suffix=".tmp", dir=target.parent, ignore_cleanup_errors=True
    )
    with naming_errors(target), outer_folder as outer:
        temporary = Path(outer, "checkpoint")
        temporary.mkdir()  # with the usual permissions, unlike the folder around it
        for name, content in contents.items():
            write_through(temporary / name, content)
        sync_folder(temporary)
        replace_folder(temporary, target)


def load_checkpoint(folder: str | os.PathLike[str], game: Game | None = None) -> Checkpoint:
    """Load a checkpoint.

    Args:
        folder: path of the checkpoint.
        game: the game to play; None for the game it was trained on. Options named in ``game.size_options``, such as the
            board size, may differ; all other options must match.

    Raises:
        CheckpointError: if a file is missing, damaged or not part of a checkpoint, or the checkpoint is incompatible with
            the game or with this version of stoneworks.
    """
    path = Path(folder)
    while True:
        description = read_description(path)
        try:
            return _load(path, description, game)
        except CheckpointError:
            if read_description(path) == description:
                raise  # otherwise it was replaced meanwhile, by a run in progress


def load_training_state(folder: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Return the training state of a checkpoint as saved.

    Raises:
        CheckpointError: if the checkpoint has no training state or is damaged.
    """
    path = Path(folder)
    return _read_tensors(path, TRAINING_FILE, read_description(path))


# -- Writing -----------------------------------------------------------------------------------------------------------


def _serialize(tensors: Mapping[str, Tensor]) -> bytes:
    # safetensors only accepts contiguous tensors in the default memory format.
    contiguous = {
        name: tensor.detach().cpu().contiguous(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    return save_tensors(contiguous)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def library_versions(*others: str) -> dict[str, str]:
    """Return the versions of Python and of the installed libraries that training may depend on, and of ``others``."""
    versions = {"python": platform.python_version()}
    for name in (*_LIBRARIES, *others):
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def _old(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def replace_folder(new: Path, target: Path) -> None:
    """Replace ``target`` by ``new``; after a crash between the two renames, :func:`recover` restores the old folder.

    Raises:
        OSError: a folder cannot be renamed; ``target`` is as before.
    """
    old = _old(target)
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
    sync_folder(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def recover(folder: str | os.PathLike[str]) -> None:
    """Restore a checkpoint whose replacement was interrupted between the two renames; otherwise do nothing."""
    target = Path(folder)
    if not target.exists() and _old(target).exists():
        _old(target).rename(target)


# -- Reading -----------------------------------------------------------------------------------------------------------


def _rules(game: Game, config: NetworkConfig) -> dict[str, Any]:
    """Return the fields of a description that must be equal in the game when a checkpoint is loaded."""
    return {
        "environment_version": game.version,
        "observation_planes": tuple(game.observation_planes),
        "feature_planes": tuple(feature.name for feature in features_of(game)) if config.sees_features else (),
        "action_planes": game.num_action_planes,
        "global_actions": tuple(game.global_actions),
        "num_actions": game.num_actions,
    }


def read_information(folder: str | os.PathLike[str]) -> CheckpointInformation:
    """Return what a checkpoint says, whether or not its kind of network is registered. Raises :class:`CheckpointError`."""
    path = Path(folder)
    return _information(path, read_description(path))


def _information(path: Path, description: CheckpointDescription) -> CheckpointInformation:
    try:
        trained_on = load_game(description.game)
    except ValueError as error:
        raise CheckpointError(f"{path}: its game is {description.game!r}: {error}") from None
    return CheckpointInformation(path, trained_on, description.play, description.training, description.libraries)


def _load(path: Path, description: CheckpointDescription, game: Game | None) -> Checkpoint:
    problem = f"{path}: "
    information = _information(path, description)
    trained_on = information.game
    config = _read_network_config(problem, description.network)
    for name, here in _rules(trained_on, config).items():
        if getattr(description, name) != here:
            raise CheckpointError(f"{problem}{name} is {getattr(description, name)!r}; {trained_on} now has {here!r}")
    if game is not None:
        description.check_plays(str(path), game)
    weights = _read_tensors(path, WEIGHTS_FILE, description)
    network = make_network(Architecture.of_game(trained_on, config), seed=0)  # its weights are replaced
    _check_weights(problem, weights, network.state_dict())
    network.load_state_dict(weights)
    network.eval()
    _check_numbers(problem, network, game or trained_on)
    return Checkpoint(**vars(information), network=network)


def _read_network_config(problem: str, values: Mapping[str, Any]) -> NetworkConfig:
    try:
        config = network_config(values)
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"{problem}network: {error}") from None
    if (expected := config.model_dump(mode="json")) != values:
        raise CheckpointError(f"{problem}the network must have {', '.join(expected)}; it has {', '.join(values)}")
    return config


def _read_tensors(path: Path, name: str, description: CheckpointDescription) -> dict[str, Tensor]:
    entry = description.files.get(name)
    if entry is None:
        raise CheckpointError(f"{path} has no {name}")
    if not (path / name).exists():
        raise CheckpointError(f"{path} is incomplete: {name} is missing")
    content = read_bytes(path / name, CheckpointError)
    if _hash(content) != entry.sha256:
        raise CheckpointError(
            f"{path / name} is damaged: its SHA-256 must be {entry.sha256} as in {METADATA_FILE}, got {_hash(content)}"
        )
    try:
        return load_tensors(content)
    except SafetensorError as error:
        raise CheckpointError(f"{path / name} is not a safetensors file: {error}") from None


def _check_weights(problem: str, weights: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    for name in sorted({*weights, *expected}):
        saved, allowed = _describe(weights.get(name)), _describe(expected.get(name))
        if saved != allowed:
            raise CheckpointError(f"{problem}the weights {name} must be {allowed} by its architecture, got {saved}")
    check_finite(weights, problem)


def check_finite(weights: Mapping[str, Tensor], problem: str) -> None:
    """Check that the weights of a network are finite. ``problem`` begins the message.

    Raises:
        CheckpointError: they are not.
    """
    for name, tensor in weights.items():
        if not torch.isfinite(tensor).all():
            raise CheckpointError(f"{problem}the weights {name} have values that are not finite")


def _check_numbers(problem: str, network: BoardNetwork, game: Game) -> None:
    """Check that the network's output is finite; large finite weights can overflow.

    Raises:
        CheckpointError: it is not.
    """
    random = np.random.default_rng(0)
    shape = (2, network.architecture.input_planes, *game.observation_shape[1:])
    planes = random.integers(2, size=shape).astype(np.float32)
    planes[:, game.observation_planes.index(game.board_plane)] = game.grid.on_board.reshape(planes.shape[2:])
    with torch.inference_mode():
        logits, values = network(torch.from_numpy(planes))
    if not (torch.isfinite(logits).all() and torch.isfinite(values).all()):
        raise CheckpointError(f"{problem}the network gives values that are not finite; its weights are too large")


def _describe(tensor: Tensor | None) -> str:
    return "none" if tensor is None else f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
