"""``Bot``: what chooses actions, with the methods of OpenSpiel's ``Bot``, and ``load_bot``, which makes one by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Batch, Game, State, load_game
from stoneworks.models import shipped
from stoneworks.models.errors import UnknownBotError


class Bot(ABC):
    """Something that chooses actions. It plays whichever player is to act, and never assumes that players alternate.

    Attributes:
        one_game_at_a_time: whether the bot must be asked with ``step``, through one game from ``restart`` to its end, with
            states that know their history. Such a bot may raise ``BotForfeit``.
    """

    one_game_at_a_time: bool = False

    @classmethod
    def from_name(cls, argument: str, game: Game, seed: int | None) -> Bot:
        """Return the bot that a name means: ``argument`` is what stands behind the colon (see ``load_bot``).

        Raises:
            UnknownBotError: the argument means nothing, or nothing that is allowed; it says what is.
        """
        raise NotImplementedError

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


#: What each kind of bot is made by: the class whose ``from_name`` takes what stands behind the kind's name.
_KINDS = {
    "random": "stoneworks.models.random_bot:RandomBot",
    "greedy": "stoneworks.models.greedy_bot:GreedyBot",
    "mcts": "stoneworks.models.mcts_bot:MCTSBot",
    "alphabeta": "stoneworks.models.alphabeta_bot:AlphaBetaBot",
    "exec": "stoneworks.models.external_bot:ExternalBot",
}


def load_bot(name: str, game: Game | str, seed: int | None = None) -> Bot:
    """Return a bot for ``game``.

    Args:
        name: ``"random"``, ``"greedy"``, ``"mcts:<budget>"`` (:class:`~stoneworks.models.mcts_bot.MCTSBot`),
            ``"alphabeta:<turns>"`` (:class:`~stoneworks.models.alphabeta_bot.AlphaBetaBot`), ``"exec:<command>"``, an
            external program (:class:`~stoneworks.models.external_bot.ExternalBot`), or a checkpoint: the name of one that is
            shipped, such as ``"vadus"`` (:mod:`stoneworks.models.shipped`), or the path of its folder. A checkpoint's policy
            plays as it is; ``"vadus@64"``, ``"<folder>@64"`` is a search of 64 simulations with its network.
        game: the game, or its game string.
        seed: of everything random that the bot does; None draws one. Bots of equal seeds that are asked the same play the same.

    Raises:
        UnknownBotError: no bot has that name, and there is no folder of that name.
        ValueError: the game is unknown, the seed no seed, or the checkpoint does not fit the game.
    """
    loaded = load_game(game) if isinstance(game, str) else game
    if not isinstance(loaded, Game):
        raise ValueError(f"game is {game!r}; allowed is a Game, or a game string such as 'vadus(size=9)'")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise ValueError(f"seed is {seed!r}; allowed is a whole number >= 0, or None")
    kind, _, argument = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind in _KINDS:
        module, class_name = _KINDS[kind].split(":")
        bot_class: type[Bot] = getattr(import_module(module), class_name)
        return bot_class.from_name(argument, loaded, seed)
    if isinstance(name, str) and (checkpoint := shipped.checkpoint_of(name)) is not None:
        return _load_checkpoint_bot(*checkpoint, loaded, seed, name)
    raise UnknownBotError(
        f"there is no bot {name!r}; allowed are {', '.join(map(repr, _KINDS))}, {_shipped_in_words()}, and the path of a "
        "checkpoint folder, both also with @ and the simulations of a search behind it, from @1 to @999999"
    )


def _load_checkpoint_bot(folder: Path, simulations: int, game: Game, seed: int | None, name: str) -> Bot:
    """Return the bot of a checkpoint, with search where there are ``simulations``."""
    if simulations:
        from stoneworks.models.search_bot import SearchBot

        return SearchBot.load(folder, game, seed, simulations=simulations, name=name)
    from stoneworks.models.policy_bot import PolicyBot

    return PolicyBot.load(folder, game, seed, name=name)


def _shipped_in_words() -> str:
    names = shipped.names()
    return f"a shipped checkpoint ({', '.join(map(repr, names)) if names else 'there is none'})"
