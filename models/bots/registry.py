"""The registry of bots. Everything that lists or makes bots by name reads it.

A bot is one :class:`BotEntry` here. A bot in another package is added with :func:`register_bot`, or by an entry point of the
group ``stoneworks.bots`` that refers to a ``BotEntry``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stoneworks.envs.rules.errors import RegistrationError
from stoneworks.envs.rules.registry import Entry, Registry, path_of
from stoneworks.models import shipped
from stoneworks.models.bots.bot import Bot

ENTRY_POINT_GROUP = "stoneworks.bots"


@dataclass(frozen=True)
class BotEntry(Entry):
    """A kind of bot in the registry.

    Attributes:
        name: what ``load_bot`` calls it; what follows a colon in a bot's name is the argument of the class's ``from_name``.
        bot: its subclass of :class:`stoneworks.models.Bot`, as ``"module:Class"``, imported when it is used.
        usage: the form of its names, such as ``"mcts:<simulations>"``; the name alone by default.
        needs_evaluation: whether it plays only games that have an evaluation.
        starts_programs: whether its argument is a command. Such names are refused in data files (see
            :mod:`stoneworks.models.bots.names_in_files`).
        reads_file: whether its argument is a path.

    Raises:
        RegistrationError: an attribute is not valid.
    """

    bot: str
    usage: str = ""
    needs_evaluation: bool = False
    starts_programs: bool = False
    reads_file: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_path("bot")
        if not isinstance(self.usage, str):
            raise RegistrationError(f"{self.name}: usage must be a string, got {self.usage!r}")
        for flag in ("needs_evaluation", "starts_programs", "reads_file"):
            if not isinstance(getattr(self, flag), bool):
                raise RegistrationError(f"{self.name}: {flag} must be True or False, got {getattr(self, flag)!r}")
        if not self.usage:
            object.__setattr__(self, "usage", self.name)

    def bot_class(self) -> type[Bot]:
        """Return the class. Raises ``RegistrationError`` if it cannot be imported or is not a subclass of ``Bot``."""
        found = self.load("bot")
        if not (isinstance(found, type) and issubclass(found, Bot)):
            raise RegistrationError(f"{self.name}: bot must be a subclass of stoneworks.Bot, got {found!r}")
        return found


_BUILT_IN = (
    BotEntry("random", "stoneworks.models.bots.random_bot:RandomBot"),
    BotEntry("greedy", "stoneworks.models.bots.greedy_bot:GreedyBot", needs_evaluation=True),
    BotEntry("mcts", "stoneworks.models.bots.mcts_bot:MCTSBot", "mcts:<simulations>"),
    BotEntry(
        "alphabeta", "stoneworks.models.bots.alphabeta_bot:AlphaBetaBot", "alphabeta:<turns>", needs_evaluation=True
    ),
    BotEntry("exec", "stoneworks.models.bots.external_bot:ExternalBot", "exec:<command>", starts_programs=True),
    BotEntry(
        "policy", "stoneworks.models.bots.exported_policy_bot:ExportedPolicyBot", "policy:<file>", reads_file=True
    ),
)

#: The registry of bots.
BOTS = Registry("bot", BotEntry, _BUILT_IN, ENTRY_POINT_GROUP)


def register_bot(
    name: str,
    bot: str | type[Bot],
    *,
    usage: str = "",
    needs_evaluation: bool = False,
    starts_programs: bool = False,
    reads_file: bool = False,
) -> None:
    """Add a kind of bot to the registry of this process and of the worker processes that it starts.

    From then on its name works everywhere: ``load_bot``, the command line, the arena, ``opponent=`` of environments, matches
    in training. Registering the same entry again does nothing. A package that wants its bot to be there without being
    imported declares an entry point of the group ``stoneworks.bots`` instead.

    Args:
        name: what ``load_bot`` calls it.
        bot: a subclass of :class:`stoneworks.models.Bot`, or where it is, as ``"module:Class"``.
        usage: see :class:`BotEntry`; as is the rest.
        needs_evaluation: whether it plays only games that have an evaluation.
        starts_programs: whether its argument is a command.
        reads_file: whether its argument is a path.

    Raises:
        RegistrationError: an argument is not valid, or the name is taken by another bot or a shipped checkpoint.
    """
    path: Any = path_of(bot)
    entry = BotEntry(name, path, usage, needs_evaluation, starts_programs, reads_file)
    if name in shipped.names():
        raise RegistrationError(f"the bot {name!r} cannot be registered: a shipped checkpoint has that name")
    BOTS.add(entry)


def bot_names() -> tuple[str, ...]:
    """Return the names of all kinds of bots; the shipped checkpoints are bots as well (:mod:`stoneworks.models.shipped`)."""
    return BOTS.names()
