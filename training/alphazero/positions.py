"""Training positions: storage format and conversion to batches of tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.extras import require_extra
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.training.alphazero.config import OWNERSHIP_PLANES, has_ownership
from stoneworks.training.alphazero.ownership import OWNERSHIP
from stoneworks.training.alphazero.short_term_values import HORIZONS, SHORT_TERM_VALUES

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor

#: Number of actions of a policy that are stored; the remaining probability is treated as one additional event.
NUM_POLICY_ENTRIES = 32


def position_dtype(game: Game) -> np.dtype[Any]:
    """Return the dtype of a stored training position.

    Fields: ``state``, the state record; ``actions`` and ``probabilities``, the most probable actions of the search policy in
    descending order, padded with action 0 and probability 0; ``value``, the search value, and ``result``, the game result,
    both for the player to move and in [-1, 1]; ``actions_left``, the number of actions from the position to the end of the
    game; ``short_term_values`` (see :func:`stoneworks.training.alphazero.short_term_values.short_term_values`), for the player
    to move; and, for games that have it, ``ownership``, the owners of the cells at the end (see
    :func:`stoneworks.training.alphazero.ownership.ownership`), for the player to move.
    """
    entries = min(NUM_POLICY_ENTRIES, game.num_actions)
    of_ownership = [(OWNERSHIP, np.int8, game.grid.num_cells)] if has_ownership(game) else []
    return np.dtype(
        [
            ("state", game.state_dtype),
            ("actions", np.int32, entries),
            ("probabilities", np.float32, entries),
            ("value", np.float32),
            ("result", np.int8),
            ("actions_left", np.uint16),
            (SHORT_TERM_VALUES, np.float32, len(HORIZONS)),
            *of_ownership,
        ]
    )


def make_positions(
    game: Game, states: npt.NDArray[np.void], policies: npt.NDArray[np.float32], values: npt.NDArray[np.float32]
) -> npt.NDArray[np.void]:
    """Return ``n`` training positions without results.

    Args:
        game: the game.
        states: ``[n]``, state records.
        policies: ``float32[n, num_actions]``, search policies.
        values: ``float32[n]``, search values for the player to move.
    """
    positions = np.zeros(len(states), position_dtype(game))
    positions["state"] = states
    positions["value"] = values
    entries = positions["actions"].shape[1]
    most_probable = np.argpartition(policies, -entries, axis=1)[:, -entries:]
    probabilities = np.take_along_axis(policies, most_probable, axis=1)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    probabilities = np.take_along_axis(probabilities, order, axis=1)
    positions["probabilities"] = probabilities
    positions["actions"] = np.where(probabilities > 0, np.take_along_axis(most_probable, order, axis=1), 0)
    return positions


def check_positions(game: Game, positions: npt.NDArray[np.void]) -> None:
    """Check that ``positions[n]`` of dtype ``position_dtype(game)`` are valid training positions.

    Raises:
        ValueError: a state is invalid or terminal, or a number is out of range.
    """
    records = positions["state"].copy()  # a single record would stay an unaligned view with ascontiguousarray
    if game.can_check_records:
        game.check_records(records)
    probabilities = positions["probabilities"]
    for name, holds in (
        ("ending", records["ending"] == 0),
        ("actions", ((positions["actions"] >= 0) & (positions["actions"] < game.num_actions)).all(axis=1)),
        ("probabilities", (probabilities >= 0).all(axis=1) & (probabilities.sum(axis=1) <= 1.001)),
        ("value", np.abs(positions["value"]) <= 1.001),
        ("result", np.abs(positions["result"].astype(np.int64)) <= 1),
        (SHORT_TERM_VALUES, (np.abs(positions[SHORT_TERM_VALUES]) <= 1.001).all(axis=1)),
        *([(OWNERSHIP, np.isin(positions[OWNERSHIP], (-1, 0, 1)).all(axis=1))] if has_ownership(game) else []),
    ):
        if not holds.all():
            raise ValueError(f"position {np.flatnonzero(~holds)[0]} is not valid: its {name} is out of range")


@dataclass(frozen=True)
class TrainingBatch:
    """A batch of training positions.

    Attributes:
        observations: ``float32[n, input planes, height, width]``, from the perspective of the player to move.
        legal: ``bool[n, num_actions]``, the action mask.
        actions: ``int64[n, entries]``, the stored actions (see :func:`position_dtype`).
        probabilities: ``float32[n, entries]``, their probabilities.
        outcomes: ``float32[n, 3]``, target probabilities of a win, a draw and a loss for the player to move. The probability
            that the discount removes from a win or a loss is added to the draw.
        ownership: ``int64[n, num_cells]``, the owners of the cells at the end of the game, for the player to move; None
            if the batch maker leaves them out.
        short_term_values: ``float32[n, 3]``, for the player to move.
    """

    observations: Tensor
    legal: Tensor
    actions: Tensor
    probabilities: Tensor
    outcomes: Tensor
    short_term_values: Tensor
    ownership: Tensor | None = None


class BatchMaker:
    """Converts positions to tensors, with a random symmetry of the game per position as data augmentation."""

    def __init__(
        self, game: Game, search_value_share: float = 0.0, *, features: bool = False, ownership: bool = False
    ) -> None:
        """Initialize the batch maker.

        Args:
            game: the game.
            search_value_share: weight of the search value in the value target; the rest is the game result.
            features: whether the network sees the features of the game.
            ownership: whether batches have the ownership; the game must have it.
        """
        self._inputs = NetworkInputs(game, features)
        self._search_value_share = search_value_share
        self._action_images = np.stack([symmetry.actions for symmetry in game.symmetries])
        self._action_origins = np.argsort(self._action_images, axis=1)
        self._plane_origins = np.argsort(self._inputs.symmetry_images, axis=1)
        self._cell_origins: npt.NDArray[np.int64] | None = None
        if ownership:
            first = game.observation_planes.index(OWNERSHIP_PLANES[0]) * game.grid.num_cells
            self._cell_origins = self._plane_origins[:, first : first + game.grid.num_cells] - first

    def make(
        self, positions: npt.NDArray[np.void], generator: np.random.Generator, discount: float = 1.0
    ) -> TrainingBatch:
        """Return ``positions[n]`` as tensors ``[n, ...]``, each transformed by a random symmetry.

        ``discount`` is that of the game result per action to the end of the game.
        """
        number = len(positions)
        planes, masks = self._inputs.of_records(positions["state"].copy())
        chosen = generator.integers(len(self._action_images), size=number)
        flat = np.take_along_axis(planes.reshape(number, -1), self._plane_origins[chosen], axis=1)
        masks = np.take_along_axis(masks, self._action_origins[chosen], axis=1)
        actions = np.take_along_axis(self._action_images[chosen], positions["actions"].astype(np.int64), axis=1)
        return TrainingBatch(
            torch.from_numpy(flat.reshape(planes.shape)),
            torch.from_numpy(masks != 0),
            torch.from_numpy(actions),
            torch.from_numpy(positions["probabilities"].copy()),
            torch.from_numpy(self._outcomes(positions, discount)),
            torch.from_numpy(positions[SHORT_TERM_VALUES].copy()),
            self._ownership(positions, chosen),
        )

    def _ownership(self, positions: npt.NDArray[np.void], chosen: npt.NDArray[np.int64]) -> Tensor | None:
        """Return the ownership, transformed by the chosen symmetries, or None if it is left out."""
        if self._cell_origins is None:
            return None
        owners = np.take_along_axis(positions[OWNERSHIP].astype(np.int64), self._cell_origins[chosen], axis=1)
        return torch.from_numpy(owners)

    def _outcomes(self, positions: npt.NDArray[np.void], discount: float) -> npt.NDArray[np.float32]:
        """Return the value targets: the discounted result mixed with the search value as win and loss probabilities."""
        result, value, share = positions["result"], positions["value"], np.float32(self._search_value_share)
        decided = np.float32(discount) ** positions["actions_left"].astype(np.float32)
        outcomes = np.stack([decided * (result == 1), np.zeros_like(decided), decided * (result == -1)], axis=1)
        outcomes[:, 1] = 1 - outcomes[:, 0] - outcomes[:, 2]
        outcomes *= 1 - share
        outcomes[:, 0] += share * (1 + value) / 2
        outcomes[:, 2] += share * (1 - value) / 2
        return outcomes
