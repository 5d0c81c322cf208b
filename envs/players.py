"""Creation of opponents from bot names, bots, functions and policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integers
from stoneworks.envs.observation_format import Formatter
from stoneworks.envs.rules import Batch, Game, State

#: Name of the opponent that plays the policy set by ``set_policy``.
SELF = "self"


class PolicyNeededError(RuntimeError):
    """Raised when the opponent ``"self"`` is to move and no policy is set."""


@runtime_checkable
class Player(Protocol):
    """Interface of opponents: the methods of ``stoneworks.models.Bot`` that environments call."""

    def step(self, state: State) -> int:
        """Return a legal action of the player to move."""

    def restart(self) -> None:
        """Reset any per-game state at the start of a new game."""


#: A bot's name (``"greedy"``, a checkpoint folder), ``"self"``, a bot, or a function from a state to an action.
Opponent: TypeAlias = str | Player | Callable[[State], int]

#: A function from a batch of observations in the environment's format and the masks ``bool[batch, num_actions]`` to legal
#: actions ``int[batch]``.
Policy: TypeAlias = Callable[[Any, npt.NDArray[np.bool_]], npt.ArrayLike]


class FunctionPlayer:
    """A player that wraps a function from a state to an action."""

    def __init__(self, function: Callable[[State], int]) -> None:
        self._function = function

    def step(self, state: State) -> int:
        """Return the function's action."""
        return self._function(state)

    def restart(self) -> None:
        """Do nothing; functions have no per-game state."""


class PolicyPlayer:
    """A player that wraps a policy, which is called once per batch of positions.

    Attributes:
        policy: the policy, or None if not set. It may be replaced during a game.
    """

    def __init__(self, formatter: Formatter, policy: Policy | None = None) -> None:
        self._format = formatter
        self.policy = policy

    def step(self, state: State) -> int:
        """Return the policy's action for the player to move."""
        planes, mask = state.observation_and_mask(state.current_player())
        return int(self._choose(planes[None], mask[None])[0])

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the policy's action for each of the games ``rows``, ``int64[len(rows)]``."""
        return self._choose(batch.observations[rows], batch.action_masks[rows])

    def restart(self) -> None:
        """Do nothing; policies have no per-game state."""

    def _choose(self, planes: npt.NDArray[np.float32], masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        if self.policy is None:
            raise PolicyNeededError(
                f"the opponent {SELF!r} has no policy; call set_policy(policy) on the environment before reset()"
            )
        observations = self._format.observation(self._format.copy_of(planes), self._format.mask_of(masks))
        actions = self.policy(observations, masks.astype(np.bool_))
        return check_integers("the actions of a policy", actions, len(masks)).astype(np.int64)


def is_loaded(opponent: Opponent) -> bool:
    """Return whether :func:`resolve_opponent` loads a bot for ``opponent``, which its caller must close."""
    return isinstance(opponent, str) and opponent != SELF


def resolve_opponent(opponent: Opponent, game: Game, seed: int | None, self_player: PolicyPlayer) -> Any:
    """Return a player for ``opponent``.

    Args:
        opponent: a name for ``stoneworks.models.load_bot``, ``"self"``, an object with ``step(state)``, or a function.
        game: the game to play.
        seed: seed of a player given by name.
        self_player: the player used for ``"self"``.

    Raises:
        ValueError: the name is unknown (``UnknownBotError``), or ``opponent`` is not of an allowed type.
    """
    if isinstance(opponent, str):
        if opponent == SELF:
            return self_player
        from stoneworks.models import load_bot

        return load_bot(opponent, game, seed=seed)
    if isinstance(opponent, Player) and not isinstance(opponent, type):
        return opponent
    if callable(opponent) and not isinstance(opponent, type):
        return FunctionPlayer(opponent)
    raise ValueError(
        f"opponent must be the name of a bot, {SELF!r}, an object with step(state) and restart(), or a function from a "
        f"state to an action; got {opponent!r}"
    )
