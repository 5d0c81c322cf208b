"""``CheckpointDescription``: the contents of ``checkpoint.json``; does not import torch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game, load_game
from stoneworks.reading import read_json

#: Name of a checkpoint's description.
METADATA_FILE = "checkpoint.json"

#: Names of leaf values (see :mod:`stoneworks.models.search.leaf_values`).
LeafValuesName = Literal["heuristic", "playouts", "none"]

#: New names of keys of :class:`PlaySettings` and of configurations, by old name.
RENAMED_KEYS = {"guide": "leaf_values", "guide_weight": "leaf_value_weight", "guide_playouts": "leaf_value_playouts"}


class CheckpointError(ValueError):
    """Raised when a checkpoint is damaged or incompatible. The message names the field, its value and what is allowed."""


class PlaySettings(Document):
    """How an agent plays.

    Attributes:
        deterministic_policy: whether playing the policy without search takes the most probable action instead of sampling.
        discount: discount of values per action in searches, in (0, 1].
        value_scale: weight of values against priors in searches (see :class:`stoneworks.models.search.gumbel.Gumbel`).
        leaf_values: values of leaves in addition to the network's (see :mod:`stoneworks.models.search.leaf_values`).
        leaf_value_weight: weight of these values, in [0, 1]; the network has the rest.
        leaf_value_playouts: random playouts per leaf, for the leaf values ``playouts``.
    """

    error: ClassVar[type[ValueError]] = CheckpointError
    renamed_keys: ClassVar[Mapping[str, str]] = RENAMED_KEYS

    deterministic_policy: bool = False
    discount: float = Field(1.0, gt=0, le=1)
    value_scale: float = Field(0.5, ge=0)
    leaf_values: LeafValuesName = "none"
    leaf_value_weight: float = Field(0.0, ge=0, le=1)
    leaf_value_playouts: int = Field(1, ge=1)


class SavedFile(Document):
    """Size and hash of another file of a checkpoint."""

    bytes: int = Field(ge=0)
    sha256: str


class CheckpointDescription(Document):
    """The contents of ``checkpoint.json``.

    Attributes:
        format: name of the format.
        format_version: version of the format.
        game: game string of the game that the network was trained on.
        environment_version: version of its rules.
        observation_planes: names of its observation planes.
        feature_planes: names of the feature planes that the network sees.
        action_planes: number of actions per cell.
        global_actions: names of the actions not tied to a cell.
        num_actions: number of actions.
        network: the network's hyperparameters, including its kind.
        files: the other files by name.
        libraries: versions of the libraries that wrote the checkpoint.
        play: how the agent plays.
        training: information about the training.
    """

    error: ClassVar[type[ValueError]] = CheckpointError

    format: Literal["stoneworks checkpoint"] = "stoneworks checkpoint"
    format_version: Literal[2] = 2
    game: str
    environment_version: int
    observation_planes: Tuple[str]
    feature_planes: Tuple[str]
    action_planes: int
    global_actions: Tuple[str]
    num_actions: int
    network: dict[str, Any]
    files: dict[str, SavedFile]
    libraries: dict[str, str]
    play: PlaySettings
    training: dict[str, Any]

    def check_plays(self, source: str, game: Game) -> None:
        """Raise an error if the network was trained with other rules; options in ``game.size_options`` may differ.

        Args:
            source: name of the checkpoint in the error message.
            game: the game to play.

        Raises:
            CheckpointError: the rules differ.
        """
        trained_on = load_game(self.game)
        if game.name != trained_on.name:
            raise CheckpointError(f"{source}: a checkpoint of {trained_on.name} cannot play {game.name}")
        for option, value in trained_on.options.items():
            asked = game.options[option]
            if asked != value and option not in game.size_options:
                raise CheckpointError(f"{source}: {option} must be {value!r}, as in training, got {asked!r}")


def read_description(folder: str | os.PathLike[str]) -> CheckpointDescription:
    """Return the description of the checkpoint in ``folder``.

    Raises:
        CheckpointError: it is missing or invalid.
    """
    path = Path(folder)
    file = path / METADATA_FILE
    if not file.is_file():
        inside = sorted(child for child in path.iterdir() if (child / METADATA_FILE).is_file()) if path.is_dir() else []
        hint = f"; there is one in {inside[0]}" if inside else ""
        raise CheckpointError(f"{path} is not a checkpoint: {METADATA_FILE} is missing{hint}")
    return CheckpointDescription.parse(read_json(file, CheckpointError), str(file))
