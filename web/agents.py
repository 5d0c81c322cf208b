"""The bots that may be named on the page, with their ratings.

Names on the page start no programs and read no files, except those that the person who started the server has named.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from typing_extensions import TypedDict

from stoneworks.envs.rules import Game, RegistrationError
from stoneworks.envs.rules.parts import has_heuristic
from stoneworks.evaluation.player_rating import LEVELS, opponent_levels, shipped_ratings
from stoneworks.files import check_folder
from stoneworks.models import shipped
from stoneworks.models.bots.registry import BOTS
from stoneworks.models.bots.spec import (
    BotSpec,
    UnknownBotError,
    UntrustedNameError,
    check_name_in_file,
    registered_kind,
)
from stoneworks.models.description import METADATA_FILE, CheckpointError, read_description
from stoneworks.web.requests import RequestError

#: Built-in bots listed on the page. Any other name that is allowed can be typed.
_OFFERED = (
    "random",
    "greedy",
    "mcts:10",
    "mcts:100",
    "mcts:1000",
    "mcts:2s",
    "mcts:2s,leaf=end_of_turn",
    "alphabeta:1",
    "alphabeta:2",
    "alphabeta:3",
)
#: Budget of a checkpoint's search in the list.
_SEARCH = "@64"
#: Bots that give hints within two seconds, besides the searches of the shipped agents.
_FAST = ("greedy", "alphabeta:1", "mcts:100")


class BotAnswer(TypedDict):
    """A bot on a board.

    Attributes:
        rating: rating on the ladder of the board; None if the bot is not rated.
        error: standard error of the rating.
        values: whether the bot estimates the value of a position in [-1, 1].
        searches: whether the bot has a budget.
    """

    name: str
    rating: float | None
    error: float | None
    values: bool
    kind: str
    searches: bool


class ListedBot(BotAnswer):
    """A bot of the list, with its level as an opponent and the rating of that, such as ``"Easy, 400"``, if it has one."""

    level: str | None


class Agents:
    """The bots that may be named on the page.

    Attributes:
        thinking_seconds: maximum time of a bot per request.
        folders: folders whose checkpoints may be named by their paths.
    """

    def __init__(
        self, thinking_seconds: float = 60.0, folders: Sequence[Path] = (), named: Mapping[str, str] | None = None
    ) -> None:
        """Set what may be named besides the bots that neither start programs nor read files.

        Args:
            thinking_seconds: maximum time of a bot per request; the budget of a step may be half of it.
            folders: folders whose checkpoints may be named by their paths.
            named: bots by the names that they get on the page; they may be anything that ``load_bot`` accepts.

        Raises:
            ValueError: a folder does not exist, a bot is unknown, or a name is already that of a bot.
        """
        for folder in folders:
            check_folder("agents", folder)
        self.thinking_seconds = thinking_seconds
        self.folders = tuple(folders)
        self._named = {name: BotSpec.parse(bot) for name, bot in (named or {}).items()}
        for name in self._named:
            with contextlib.suppress(UnknownBotError):
                BotSpec.parse(name)
                raise ValueError(f"agent {name!r} must have a name that no other bot has")

    def check(self, name: str, game: Game) -> BotSpec:
        """Parse and check the name of a bot in a request.

        Raises:
            RequestError: the bot is unknown, may not be named, or cannot play the game; or its budget is too large.
        """
        spec = self._named.get(name)
        if spec is None:
            spec = self._parse(name)
            for parameter in (*spec.entry.budgets, *spec.entry.parameters):
                most = self.thinking_seconds / 2 if parameter.name == "seconds" else parameter.max_on_page
                value = spec.arguments.get(parameter.argument)
                if isinstance(value, (int, float)) and value > most:
                    raise RequestError(f"the {parameter.name} of {name} must be at most {most:g}")
        try:
            if spec.needs_heuristic and not has_heuristic(game):
                raise RequestError(f"{name} needs a heuristic, and {game.name} has none")
        except RegistrationError as error:  # of a game whose heuristic cannot be imported
            raise RequestError(str(error)) from None
        if spec.entry.needs_torch and find_spec("torch") is None:
            raise RequestError(f'{name} needs PyTorch: pip install "stoneworks[train]"')
        if spec.checkpoint is not None:
            try:
                read_description(spec.checkpoint).check_plays(name, game)
            except CheckpointError as error:
                raise RequestError(str(error)) from None
        return spec

    def _parse(self, name: str) -> BotSpec:
        try:
            for folder in self.folders or (None,):
                with contextlib.suppress(UntrustedNameError):
                    check_name_in_file(name, "the request", folder)
                    return BotSpec.parse(name)
        except RegistrationError as error:
            raise RequestError(str(error)) from None
        except UnknownBotError as error:
            raise (_unknown(name) if registered_kind(name) is None else RequestError(str(error))) from None
        raise _unknown(name)

    def describe(self, name: str, game: Game) -> BotAnswer:
        """Describe a bot. Raises as :meth:`check` does."""
        spec = self.check(name, game)
        elo, error = shipped_ratings(str(game)).get(spec.name, (None, None))
        return {
            "name": name,
            "rating": elo,
            "error": error,
            "values": spec.entry.estimates_values,
            "kind": spec.kind,
            "searches": spec.budget is not None,
        }

    def listed(self, game: Game) -> list[ListedBot]:
        """Return the bots listed for a game, with rated bots sorted by rating."""
        registered = [entry.name for entry in BOTS.loadable() if entry.name not in BOTS.built_in_names()]
        checkpoints = [*shipped.names(), *self._found()]
        searches = (f"{name}{_SEARCH}" for name in checkpoints)
        bots = []
        for name in dict.fromkeys(
            [*_OFFERED, *shipped_ratings(str(game)), *registered, *checkpoints, *searches, *self._named]
        ):
            with contextlib.suppress(RequestError):  # plays another game, or needs an argument or a library
                bots.append(self.describe(name, game))
        bots.sort(key=lambda bot: (bot["rating"] is None, bot["rating"] or 0))
        levels = opponent_levels(game, [bot["name"] for bot in bots])
        shown = {name: f"{level.capitalize()}, {LEVELS[level]:.0f}" for level, name in levels.items()}
        return [{**bot, "level": shown.get(bot["name"])} for bot in bots]

    def name_of(self, checkpoint: Path) -> str | None:
        """Return the name of the checkpoint in a folder; None if it may not be named."""
        for folder in self.folders:
            with contextlib.suppress(ValueError):
                return str(folder / checkpoint.resolve().relative_to(folder.resolve()))
        return None

    def _found(self) -> Iterator[str]:
        """Yield the checkpoints in the folders, without following links."""
        for folder in self.folders:
            for path, folders, files in os.walk(folder):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                if METADATA_FILE in files:
                    yield path

    def adviser(self, game: Game) -> str:
        """Return the bot that gives hints: the strongest that is fast; without ratings, a shipped agent if one plays the game."""
        ratings = {bot["name"]: -math.inf if bot["rating"] is None else bot["rating"] for bot in self.listed(game)}
        candidates = (*(f"{name}{_SEARCH}" for name in shipped.names()), *_FAST)
        return max((name for name in candidates if name in ratings), key=ratings.__getitem__)


def _unknown(name: str) -> RequestError:
    return RequestError(
        f"unknown bot {name!r}; the page offers random, greedy, mcts:<simulations>, mcts:<seconds>s, alphabeta:<turns>, the "
        "shipped agents, such as 'vadus' or 'vadus@64', and the agents that the server was started with"
    )
