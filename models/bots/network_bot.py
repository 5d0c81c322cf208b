"""``NetworkBot``: the base class of bots with a network, which label many positions at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Batch, Game, State
from stoneworks.models.bots.bot import Bot, check_batch, check_position
from stoneworks.models.network_inputs import NetworkInputs

#: Maximum number of positions per call of the network, which bounds its memory.
_AT_ONCE = 256


#: Logits ``float32[n, num_actions]`` and values ``float32[n]``; None if the network has no value.
Outputs: TypeAlias = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32] | None]


class PolicyAndValue(NamedTuple):
    """The outputs of a network for ``n`` positions, from the perspective of the player to move.

    Attributes:
        logits: ``float32[n, num_actions]`` of all actions, legal or not.
        policy: ``float64[n, num_actions]``, the softmax of the logits over the legal actions; 0 for illegal ones.
        value: ``float32[n]``, expected results in [-1, 1]; None if the network has no value.
    """

    logits: npt.NDArray[np.float32]
    policy: npt.NDArray[np.float64]
    value: npt.NDArray[np.float32] | None


class NetworkBot(Bot):
    """Base class of bots with a network."""

    def __init__(self, game: Game, inputs: NetworkInputs) -> None:
        self._game, self._inputs = game, inputs

    @abstractmethod
    def _infer(self, planes: npt.NDArray[np.float32]) -> Outputs:
        """Return logits and values for ``planes[n, planes, height, width]``."""

    def policy_and_value(self, positions: Batch | Sequence[State]) -> PolicyAndValue:
        """Return the network's policies and values, without search and without random numbers.

        Args:
            positions: positions of the bot's game that are not terminal.

        Raises:
            ValueError: a game is over or is another one.
        """
        if isinstance(positions, Batch):
            check_batch(self, positions, np.arange(len(positions)), self._game)
            return self._of_records(positions.states.copy(), self._infer_many)
        for state in positions:
            check_position(self, state, self._game)
        records = np.empty(len(positions), self._game.state_dtype)
        for number, state in enumerate(positions):
            records[number] = state.record
        return self._of_records(records, self._infer_many)

    def _infer_many(self, planes: npt.NDArray[np.float32]) -> Outputs:
        """Return what ``_infer`` does, but for rounding, for :meth:`policy_and_value`."""
        return self._infer(planes)

    def _of_records(
        self, records: npt.NDArray[np.void], infer: Callable[[npt.NDArray[np.float32]], Outputs]
    ) -> PolicyAndValue:
        """Return the outputs of the network for records ``[n]`` of positions that are not terminal."""
        found = []
        for start in range(0, max(len(records), 1), _AT_ONCE):
            planes, masks = self._inputs.of_records(records[start : start + _AT_ONCE])
            logits, values = infer(planes)
            weights = np.where(masks != 0, logits.astype(np.float64), -np.inf)
            with np.errstate(under="ignore"):  # the program may raise errors at underflows
                weights = np.exp(weights - weights.max(axis=1, keepdims=True, initial=-np.inf))
            found.append(PolicyAndValue(logits, weights / weights.sum(axis=1, keepdims=True), values))
        value = None
        if found[0].value is not None:
            value = np.concatenate([part.value for part in found if part.value is not None])
        logits = np.concatenate([part.logits for part in found])
        return PolicyAndValue(logits, np.concatenate([part.policy for part in found]), value)
