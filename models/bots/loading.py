"""``load_bot``: create bots by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.checks import check_seed
from stoneworks.models import shipped
from stoneworks.models.bots.bot import Bot
from stoneworks.models.bots.registry import BOTS
from stoneworks.models.errors import UnknownBotError
from stoneworks.models.evaluations import has_evaluation, require_evaluation


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
        MissingEvaluationError: the bot needs an evaluation and the game has none.
        RegistrationError: the game or the bot of another package cannot be loaded.
        ValueError: the game is unknown, the seed is invalid, or the checkpoint does not fit the game.
    """
    loaded = load_game(game) if isinstance(game, str) else game
    if not isinstance(loaded, Game):
        raise ValueError(f"game must be a Game or a game string such as 'vadus(size=9)', got {game!r}")
    check_seed(seed)
    kind, colon, argument = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind in BOTS:
        entry = BOTS[kind]
        if colon and not argument:
            raise UnknownBotError(f"{name!r} must be a name such as {entry.usage!r}: nothing follows the colon")
        if entry.needs_evaluation:
            require_evaluation(loaded, kind)
        return entry.bot_class().from_name(argument, loaded, seed)
    if isinstance(name, str) and (checkpoint := shipped.checkpoint_of(name)) is not None:
        return _load_checkpoint_bot(*checkpoint, loaded, seed, name)
    if isinstance(name, str) and shipped.checkpoint_of((parts := name.rpartition("@"))[0]) is not None:
        raise UnknownBotError(
            f"{name!r}: after @, the search must have from 1 to 999999 simulations, as in @64, or a number > 0 of seconds, as "
            f"in @2s, got {parts[2]!r}"
        )
    raise UnknownBotError(
        f"unknown bot {name!r}; valid names: {', '.join(repr(entry.usage) for entry in BOTS.loadable())}, "
        f"{_shipped_in_words()}, and the path of a checkpoint folder; a checkpoint may be followed by @ and the number of "
        "simulations of a search, from @1 to @999999, or its seconds, as in @2s"
    )


def default_bot(game: Game) -> str:
    """Return the name of the default opponent for ``game``: a fast bot that plays better than random."""
    return playable_bots(("greedy", "mcts:100"), game)[0]


def playable_bots(names: Iterable[str], game: Game) -> tuple[str, ...]:
    """Return the names of those bots that can play ``game``; some need an evaluation."""
    return tuple(name for name in names if has_evaluation(game) or not _needs_evaluation(name))


def _needs_evaluation(name: str) -> bool:
    kind, _, argument = name.partition(":")
    return kind in BOTS and (BOTS[kind].needs_evaluation or "leaf=evaluation" in argument.split(","))


def _load_checkpoint_bot(folder: Path, budget: int | float, game: Game, seed: int | None, name: str) -> Bot:
    """Return the bot of a checkpoint, with a search of ``budget`` simulations (``int``) or seconds (``float``); 0 for none."""
    if budget:
        from stoneworks.models.bots.search_bot import SearchBot

        if isinstance(budget, float):
            return SearchBot.load(folder, game, seed, seconds=budget, name=name)
        return SearchBot.load(folder, game, seed, simulations=budget, name=name)
    from stoneworks.models.bots.policy_bot import PolicyBot

    return PolicyBot.load(folder, game, seed, name=name)


def _shipped_in_words() -> str:
    names = shipped.names()
    return f"a shipped checkpoint ({', '.join(map(repr, names)) if names else 'there is none'})"
