"""``load_bot``: create bots by name."""

from __future__ import annotations

from collections.abc import Iterable

from stoneworks.checks import check_seed
from stoneworks.envs.rules import Game, as_game
from stoneworks.envs.rules.parts import has_heuristic, require_heuristic
from stoneworks.models.bots.bot import Bot
from stoneworks.models.bots.spec import BotSpec


def load_bot(name: str, game: Game | str, seed: int | None = None) -> Bot:
    """Return a bot for ``game``.

    Args:
        name: ``"random"``, ``"greedy"``, ``"mcts:<budget>"`` (:class:`~stoneworks.models.bots.mcts_bot.MCTSBot`),
            ``"alphabeta:<budget>"`` (:class:`~stoneworks.models.bots.alphabeta_bot.AlphaBetaBot`),
            ``"exec:<command>"``, an external program (:class:`~stoneworks.models.bots.external_bot.ExternalBot`), or a
            checkpoint: the name of a shipped one, such as ``"vadus"`` (:mod:`stoneworks.models.shipped`), or the path
            of a folder. The name alone plays the policy; ``"vadus@64"`` or ``"<folder>@64"`` is a search of 64
            simulations with the network, ``"vadus@2s"`` one of two seconds per step. Bots of other packages:
            :func:`~stoneworks.models.bots.registry.register_bot`.
        game: a game or a game string.
        seed: seed of the bot; None draws a random one. Bots with equal seeds and equal calls play equally.

    Raises:
        UnknownBotError: there is neither a bot nor a folder with this name.
        MissingHeuristicError: the bot needs a heuristic and the game has none.
        RegistrationError: the game or the bot of another package cannot be loaded.
        ValueError: the game is unknown, the seed is invalid, or the checkpoint does not fit the game.
    """
    loaded = as_game(game)
    check_seed(seed)
    spec = BotSpec.parse(name)
    if spec.entry.needs_heuristic:
        require_heuristic(loaded, spec.kind)
    bot_class = spec.entry.load_class("bot", Bot)  # type: ignore[type-abstract]
    bot = bot_class.from_spec(spec, loaded, seed)
    bot._spec_name = bot._spec_name or str(spec)
    return bot


def default_bot(game: Game) -> str:
    """Return the name of the default opponent for ``game``: a fast bot that plays better than random."""
    return playable_bots(("greedy", "mcts:100"), game)[0]


def playable_bots(names: Iterable[str], game: Game) -> tuple[str, ...]:
    """Return the names of those bots that can play ``game``; some need a heuristic.

    Raises:
        UnknownBotError: a name is not that of a bot.
    """
    return tuple(name for name in names if has_heuristic(game) or not BotSpec.parse(name).needs_heuristic)
