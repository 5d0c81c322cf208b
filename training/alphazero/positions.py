"""Positions to learn from: how they are kept, and how a batch of them becomes tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stoneworks.envs.rules import Game, templates

#: The actions of a policy that are kept; the probability of all others together is kept as one.
NUM_POLICY_ENTRIES = 32


def position_dtype(game: Game) -> np.dtype[Any]:
    """Return what is kept of a position.

    Fields: ``state``, the record; ``actions`` and ``probabilities``, the greatest entries of the policy that a search found,
    greatest first, filled up with action 0 of probability 0; ``result`` of the game for the player to act: 1, 0 or -1.
    """
    entries = min(NUM_POLICY_ENTRIES, game.num_actions)
    return np.dtype(
        [
            ("state", game.state_dtype),
            ("actions", np.int32, entries),
            ("probabilities", np.float32, entries),
            ("result", np.int8),
        ]
    )


def make_positions(game: Game, states: npt.NDArray[np.void], policies: npt.NDArray[np.float32]) -> npt.NDArray[np.void]:
    """Return positions ``[n]`` of records and policies ``float32[n, num_actions]``; their results are still open."""
    positions = np.zeros(len(states), position_dtype(game))
    positions["state"] = states
    entries = positions["actions"].shape[1]
    greatest = np.argpartition(policies, -entries, axis=1)[:, -entries:]
    probabilities = np.take_along_axis(policies, greatest, axis=1)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    probabilities = np.take_along_axis(probabilities, order, axis=1)
    positions["probabilities"] = probabilities
    positions["actions"] = np.where(probabilities > 0, np.take_along_axis(greatest, order, axis=1), 0)
    return positions


@dataclass(frozen=True)
class TrainingBatch:
    """Positions as the learner takes them.

    Attributes:
        observations: ``float32[n, planes, height, width]``, as the player to act sees them.
        legal: ``bool[n, num_actions]``.
        actions: ``int64[n, entries]``, see :func:`position_dtype`.
        probabilities: ``float32[n, entries]``.
        results: ``int64[n]``: 0 a win, 1 a draw, 2 a loss for the player to act.
    """

    observations: Tensor
    legal: Tensor
    actions: Tensor
    probabilities: Tensor
    results: Tensor


class BatchMaker:
    """Turns positions into tensors, each under a random symmetry of its game."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._fill = game.compiled(templates.fill_batch)
        symmetries = game.symmetries
        self._action_images = np.stack([symmetry.actions for symmetry in symmetries])
        self._action_origins = np.argsort(self._action_images, axis=1)
        self._observation_origins = np.argsort(np.stack([symmetry.observation for symmetry in symmetries]), axis=1)

    def make(self, positions: npt.NDArray[np.void], generator: np.random.Generator | None) -> TrainingBatch:
        """Return the positions as tensors; without ``generator`` as they are."""
        game, number = self._game, len(positions)
        planes = np.empty((number, *game.flat_observation_shape), np.float32)
        masks = np.empty((number, game.num_actions), np.int8)
        states = np.ascontiguousarray(positions["state"])
        self._fill(game.board, states, np.arange(number), np.empty(number, np.int8), planes, masks)
        flat = planes.reshape(number, -1)
        actions = positions["actions"].astype(np.int64)
        if generator is not None:
            chosen = generator.integers(len(self._action_images), size=number)
            flat = np.take_along_axis(flat, self._observation_origins[chosen], axis=1)
            masks = np.take_along_axis(masks, self._action_origins[chosen], axis=1)
            actions = np.take_along_axis(self._action_images[chosen], actions, axis=1)
        return TrainingBatch(
            torch.from_numpy(flat.reshape(number, *game.observation_shape)),
            torch.from_numpy(masks != 0),
            torch.from_numpy(actions),
            torch.from_numpy(np.ascontiguousarray(positions["probabilities"])),
            torch.from_numpy(1 - positions["result"].astype(np.int64)),
        )
