"""The registry of bots, used wherever bots are listed or created by name.

Each kind of bot is one :class:`BotEntry`. Other packages add bots with :func:`register_bot`, or with an entry point in the
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
    """Registry entry of a kind of bot.

    Attributes:
        name: name prefix for ``load_bot``; the text after a colon in a bot's name is passed to the class's ``from_name``.
        bot: path ``"module:Class"`` of a subclass of :class:`stoneworks.models.Bot`, imported on first use.
        usage: format of its names, such as ``"mcts:<simulations>"``; defaults to ``name``.
        needs_evaluation: whether the bot requires games with an evaluation.
        starts_programs: whether its argument is a command. Such names are rejected in data files (see
            :mod:`stoneworks.models.bots.names_in_files`).
        reads_file: whether its argument is a path.

    Raises:
        RegistrationError: if an attribute is invalid.
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
        """Import and return the class. Raises ``RegistrationError`` if that fails or it is not a subclass of ``Bot``."""
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
    """Register a kind of bot in this process and in the worker processes that it starts.

    The name can then be used in ``load_bot``, the command line, the arena, ``opponent=`` of environments, and training
    matches. Registering the same entry again has no effect. To make a bot available without importing its package, declare
    an entry point in the group ``stoneworks.bots`` instead.

    Args:
        name: name prefix for ``load_bot``.
        bot: a subclass of :class:`stoneworks.models.Bot`, or its path ``"module:Class"``.
        usage: format of its names; see :class:`BotEntry`.
        needs_evaluation: whether the bot requires games with an evaluation.
        starts_programs: whether its argument is a command.
        reads_file: whether its argument is a path.

    Raises:
        RegistrationError: if an argument is invalid, or the name is taken by another bot or a shipped checkpoint.
    """
    path: Any = path_of(bot)
    entry = BotEntry(name, path, usage, needs_evaluation, starts_programs, reads_file)
    if name in shipped.names():
        raise RegistrationError(f"the bot {name!r} cannot be registered: a shipped checkpoint has that name")
    BOTS.add(entry)


def bot_names() -> tuple[str, ...]:
    """Return the names of all registered kinds of bots, without the shipped checkpoints (:mod:`stoneworks.models.shipped`)."""
    return BOTS.names()
