"""Datasets of training runs and of game records, as NumPy arrays of one row per position."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game, as_game, load_game
from stoneworks.evaluation.records import GameRecord
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.training.alphazero.positions import check_positions, position_dtype
from stoneworks.training.alphazero.replay_buffer import position_files, read_positions


class Dataset(NamedTuple):
    """Positions with what to predict, each from the perspective of its player to move.

    Attributes:
        planes: ``float32[n, planes, height, width]``, the input planes.
        masks: ``bool[n, num_actions]``, the legal actions.
        policies: ``float32[n, num_actions]``: of a run, the most probable actions of the search; of records, the action played.
        results: ``int8[n]``, the result of the game: 1, 0 or -1.
        values: ``float32[n]``, the value of the search; NaN in records.
    """

    planes: npt.NDArray[np.float32]
    masks: npt.NDArray[np.bool_]
    policies: npt.NDArray[np.float32]
    results: npt.NDArray[np.int8]
    values: npt.NDArray[np.float32]


def dataset_of_run(
    positions: str | os.PathLike[str], game: Game | str, *, features: bool = False, all_symmetries: bool = False
) -> Dataset:
    """Return the replay buffer of a run of AlphaZero, oldest positions first.

    Args:
        positions: the folder ``positions`` of the run; with several games, the folder in it that is named after the game.
        game: the game of the positions.
        features: whether the features of the game follow the observation in the planes.
        all_symmetries: whether to return the images of all positions under each symmetry of the game.

    Raises:
        CheckpointError: a file is damaged, or of another game.
        ValueError: there are no positions.
    """
    loaded = as_game(game)
    files = position_files(Path(positions))
    if not files:
        raise ValueError(f"{positions} must be a folder with the positions of a run; it has no .npy files")
    stored = np.concatenate([read_positions(file, position_dtype(loaded)) for _, file in files])
    check_positions(loaded, stored)
    policies = np.zeros((len(stored), loaded.num_actions), np.float32)
    # Lists of few actions are padded with action 0 and probability 0.
    np.add.at(policies, (np.arange(len(stored))[:, None], stored["actions"]), stored["probabilities"])
    states = stored["state"].astype(loaded.state_dtype)
    return _dataset(loaded, states, policies, stored["result"], stored["value"], features, all_symmetries)


def dataset_of_records(
    records: Iterable[GameRecord], game: Game | str, *, features: bool = False, all_symmetries: bool = False
) -> Dataset:
    """Return all positions of the finished games among ``records`` of one game, with the actions played.

    Args:
        records: game records; those of other games and unfinished ones are left out.
        game: the game.
        features: see :func:`dataset_of_run`.
        all_symmetries: likewise.

    Raises:
        GameRecordError: a record cannot be replayed.
    """
    loaded = as_game(game)
    states, actions, results = [np.empty(0, loaded.state_dtype)], [], []
    for record in records:
        if record.reason is None or load_game(record.game) != loaded:
            continue
        record.replay()
        state = loaded.new_initial_state()
        for action in map(loaded.string_to_action, record.actions):
            states.append(state.record.reshape(1).copy())
            actions.append(action)
            player = state.current_player()
            results.append(0 if record.winner is None else 1 if record.winner == player else -1)
            state.apply_action(action)
    policies = np.zeros((len(actions), loaded.num_actions), np.float32)
    policies[np.arange(len(actions)), actions] = 1
    values = np.full(len(actions), np.nan, np.float32)
    return _dataset(
        loaded, np.concatenate(states), policies, np.array(results, np.int8), values, features, all_symmetries
    )


def _dataset(
    game: Game,
    states: npt.NDArray[np.void],
    policies: npt.NDArray[np.float32],
    results: npt.NDArray[np.int8],
    values: npt.NDArray[np.float32],
    features: bool,
    all_symmetries: bool,
) -> Dataset:
    inputs = NetworkInputs(game, features)
    planes, masks = inputs.of_records(states)
    plain = Dataset(planes, masks != 0, policies, results, values)
    if not all_symmetries:
        return plain
    flat = planes.reshape(len(planes), -1)
    # Each symmetry gives the place of an entry in the image, and its inverse the place where an entry of the image comes from.
    cells = np.argsort(inputs.symmetry_images, axis=1)
    actions = np.argsort([symmetry.actions for symmetry in game.symmetries], axis=1)
    images = [
        plain._replace(
            planes=flat[:, of_cells].reshape(planes.shape),
            masks=plain.masks[:, of_actions],
            policies=policies[:, of_actions],
        )
        for of_cells, of_actions in zip(cells, actions, strict=True)
    ]
    return Dataset(*map(np.concatenate, zip(*images, strict=True)))
