"""``Bot``: the base class of everything that chooses actions, with the methods of OpenSpiel's ``Bot``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Batch, Game, State
from stoneworks.models.errors import UnknownBotError


class Bot(ABC):
    """Something that chooses actions. It plays whichever player is to move, and never assumes that players alternate.

    Attributes:
        one_game_at_a_time: whether the bot must be asked with ``step``, through one game from ``restart`` to its end, with
            states that know their history. Such a bot may raise ``BotForfeit``.
    """

    one_game_at_a_time: bool = False

    @classmethod
    def from_name(cls, argument: str, game: Game, seed: int | None) -> Bot:
        """Return the bot of a name such as ``mcts:400`` (see ``load_bot``).

        By default a name takes no argument and the bot is ``cls(game, seed)``.

        Args:
            argument: what follows the colon in the name; empty without a colon.
            game: the game.
            seed: of everything random that the bot does; None draws one.

        Raises:
            UnknownBotError: the argument is not valid; the message says what is.
        """
        if argument:
            raise UnknownBotError(f"the name of a {cls.__name__} takes no argument, got {argument!r}")
        make: Any = cls
        bot: Bot = make(game, seed)
        return bot

    @property
    def name(self) -> str:
        """What results call the bot."""
        return type(self).__name__

    @abstractmethod
    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """Return the bot's policy, pairs of an action and its probability, and the action that it chose.

        Raises:
            ValueError: the game is over.
        """

    def step(self, state: State) -> int:
        """Return the action that the bot chose. Raises ``ValueError`` where the game is over."""
        return self.step_with_policy(state)[1]

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return ``int64[len(rows)]``: an action for each of the games ``rows``, none of which may be over."""
        return np.array([self.step(batch.state(int(row))) for row in rows], np.int64)

    def restart(self) -> None:  # noqa: B027 - most bots remember nothing
        """Be ready for a new game. As in OpenSpiel, random numbers go on from where they are."""

    def close(self) -> None:  # noqa: B027
        """Let go of what the bot holds outside of this process, which is nothing for most."""


def check_game_goes_on(bot: Bot, state: State) -> None:
    """Raise ``ValueError`` where the game is over."""
    if state.is_terminal():
        raise ValueError(f"{bot.name} cannot choose an action: the game is over; the position is\n{state}")


def check_games_go_on(bot: Bot, batch: Batch, rows: npt.NDArray[np.int64]) -> None:
    """Raise ``ValueError`` where one of the games ``rows`` is over."""
    over = rows[batch.states["ending"][rows] != 0]
    if over.size:
        raise ValueError(f"{bot.name} cannot choose an action: game {over[0]} of the batch is over")


def check_same_game(bot: Bot, game: Game, given: Game) -> None:
    """Raise ``ValueError`` where ``given``, the game of a position, is not ``game``, the bot's."""
    if given != game:
        raise ValueError(f"{bot.name} was made for {game}; the position is one of {given}")
