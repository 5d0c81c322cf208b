"""From what a user names as an opponent to something that chooses actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Batch, Game, State


@runtime_checkable
class Player(Protocol):
    """What an opponent must be able to do: the part of ``stoneworks.models.Bot`` that environments use."""

    def step(self, state: State) -> int:
        """Return a legal action of the player to act."""

    def restart(self) -> None:
        """Forget the game before; a new one begins."""


#: A bot's name (``"greedy"``, a checkpoint folder), a bot, or a function from a state to an action.
Opponent: TypeAlias = str | Player | Callable[[State], int]


class FunctionPlayer:
    """A player made of a function from a state to an action."""

    def __init__(self, function: Callable[[State], int]) -> None:
        self._function = function

    def step(self, state: State) -> int:
        """Return what the function returns."""
        return self._function(state)

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return what the function returns for each of the games ``rows``."""
        return np.array([self._function(batch.state(int(row))) for row in rows], np.int64)

    def restart(self) -> None:
        """Do nothing: a function remembers nothing."""


def resolve_opponent(opponent: Opponent, game: Game, seed: int | None = None) -> Any:
    """Return the player that ``opponent`` names or is.

    Args:
        opponent: a name that ``stoneworks.models.load_bot`` knows, an object with ``step(state)``, or a function.
        game: the game to be played.
        seed: for a player that is made from its name.

    Raises:
        ValueError: an unknown name (``UnknownBotError``), or something that cannot choose actions.
    """
    if isinstance(opponent, str):
        from stoneworks.models import load_bot

        return load_bot(opponent, game, seed=seed)
    if isinstance(opponent, Player):
        return opponent
    if callable(opponent):
        return FunctionPlayer(opponent)
    raise ValueError(
        f"opponent is {opponent!r}; allowed are the name of a bot, an object with step(state) and restart(), "
        "or a function from a state to an action"
    )
