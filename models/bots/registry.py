"""The registry of bots, used wherever bots are listed or created by name.

Each kind of bot is one :class:`BotEntry`. Other packages add bots with :func:`register_bot`, or with an entry point in the
group ``stoneworks.bots`` that refers to a ``BotEntry``.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from typing import Any

from stoneworks.models import shipped
from stoneworks.models.search import network_search
from stoneworks.models.search.alphabeta import MAX_DEPTH
from stoneworks.models.search.turn_search import MAX_CANDIDATES
from stoneworks.models.search.uct import MAX_THREADS, MAX_VISITS
from stoneworks.registry import Entry, Reference, RegistrationError, Registry, path_of

ENTRY_POINT_GROUP = "stoneworks.bots"
_NUMBER = re.compile(r"[0-9.e+-]+", re.IGNORECASE)


@dataclass(frozen=True)
class Parameter:
    """A parameter in a bot's name: a number, or one of several words.

    Attributes:
        name: its name.
        type: ``int`` or ``float``; for words, it is not used.
        minimum: smallest allowed number.
        maximum: largest allowed number.
        words: the allowed texts, if it is not a number.
        argument: the argument of the bot's constructor that gets the value; defaults to ``name``.
        default: the value without the parameter, which names omit; None if it depends on the others.
        max_on_page: largest number that the web page accepts.
    """

    name: str
    type: type[int] | type[float] = float
    minimum: float = 0
    maximum: float = math.inf
    words: tuple[str, ...] = ()
    argument: str = ""
    default: int | float | str | None = None
    max_on_page: float = math.inf

    def __post_init__(self) -> None:
        if not self.argument:
            object.__setattr__(self, "argument", self.name)

    @property
    def allowed(self) -> str:
        """Description of the allowed values."""
        if self.words:
            return " or ".join(self.words)
        number = "an integer" if self.type is int else "a number"
        bounded = math.isfinite(self.maximum)
        return f"{number} from {self.minimum:g} to {self.maximum}" if bounded else f"{number} >= {self.minimum:g}"

    def parse(self, text: str) -> int | float | str:
        """Return the value of ``text``.

        Raises:
            ValueError: it is not allowed.
        """
        if self.words:
            if text not in self.words:
                raise ValueError
            return text
        if not _NUMBER.fullmatch(text):
            raise ValueError
        value = self.type(text)
        if not max(self.minimum, -sys.maxsize) <= value <= min(self.maximum, sys.maxsize):  # neither infinite nor NaN
            raise ValueError
        return value + 0  # -0 is 0


#: The budget ``2s``: seconds per step.
SECONDS = Parameter("seconds", minimum=0.001)


@dataclass(frozen=True)
class BotEntry(Entry):
    """Registry entry of a kind of bot. What it declares of its names is what :class:`~stoneworks.models.bots.spec.BotSpec` reads.

    Attributes:
        name: name prefix for ``load_bot``.
        bot: path ``"module:Class"`` of a subclass of :class:`stoneworks.models.Bot`, imported on first use.
        usage: format of its names, such as ``"mcts:<simulations>"``; defaults to ``name``. If it has a colon, and neither
            budgets nor parameters are declared, any text may follow the colon.
        needs_heuristic: whether the bot requires games with a heuristic.
        starts_programs: whether the text after the colon is a command. Such names are rejected in data files (see
            :func:`~stoneworks.models.bots.spec.check_name_in_file`).
        reads_file: whether the text after the colon is a path.
        needs_torch: whether the bot requires PyTorch.
        estimates_values: whether its analysis has a value in [-1, 1] (see :class:`~stoneworks.models.bots.bot.Analysis`).
        budgets: units of the budget after the colon: parameters of type ``int``, as in ``mcts:400``, or :data:`SECONDS`, as
            in ``mcts:2s``. If there are any, names must have a budget.
        parameters: what may follow after commas, as ``c=1.2`` in ``mcts:400,c=1.2``.

    Raises:
        RegistrationError: if an attribute is invalid.
    """

    bot: Reference
    usage: str = ""
    needs_heuristic: bool = False
    starts_programs: bool = False
    reads_file: bool = False
    needs_torch: bool = False
    estimates_values: bool = False
    budgets: tuple[Parameter, ...] = ()
    parameters: tuple[Parameter, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("budgets", "parameters"):
            value = getattr(self, name)
            if not (isinstance(value, tuple) and all(isinstance(one, Parameter) for one in value)):
                raise RegistrationError(
                    f"{self.name}: {name} must be a tuple of stoneworks.models.Parameter, got {value!r}"
                )
        if not self.usage:
            object.__setattr__(self, "usage", self.name)

    @property
    def takes_text(self) -> bool:
        """Whether a text follows the colon: a command, a path, or anything."""
        declared = self.budgets or self.parameters
        return self.starts_programs or self.reads_file or (":" in self.usage and not declared)


_BUILT_IN = (
    BotEntry("random", "stoneworks.models.bots.random_bot:RandomBot"),
    BotEntry("greedy", "stoneworks.models.bots.greedy_bot:GreedyBot", needs_heuristic=True),
    BotEntry(
        "mcts",
        "stoneworks.models.bots.mcts_bot:MCTSBot",
        "mcts:<simulations>",
        estimates_values=True,
        budgets=(Parameter("simulations", int, 1, MAX_VISITS, max_on_page=100_000), SECONDS),
        parameters=(
            Parameter("c", argument="exploration"),
            Parameter("leaf", words=("playout", "heuristic", "end_of_turn"), default="playout"),
            Parameter("first_play", argument="first_play_urgency"),
            Parameter("parallel", words=("none", "root"), default="none"),
            Parameter("threads", int, 1, MAX_THREADS, argument="num_threads", max_on_page=8),
        ),
    ),
    BotEntry(
        "alphabeta",
        "stoneworks.models.bots.alphabeta_bot:AlphaBetaBot",
        "alphabeta:<turns>",
        needs_heuristic=True,
        budgets=(Parameter("turns", int, 1, MAX_DEPTH, max_on_page=4), SECONDS),
        parameters=(
            Parameter("candidates", int, 1, MAX_CANDIDATES, argument="num_candidates", default=12, max_on_page=1000),
        ),
    ),
    BotEntry(
        "perfect",
        "stoneworks.models.bots.solver_bot:SolverBot",
        estimates_values=True,
        parameters=(
            Parameter("seconds", minimum=0.001, default=10.0),
            Parameter("memory", int, 1, 2**20, argument="memory_mib", default=256, max_on_page=1024),
        ),
    ),
    BotEntry(
        "exec",
        "stoneworks.models.bots.external_bot:ExternalBot",
        "exec:<command>",
        starts_programs=True,
        parameters=(
            Parameter("seconds", minimum=0.001, default=10.0),
            Parameter("start", minimum=0.001, argument="start_seconds", default=60.0),
        ),
    ),
    BotEntry("policy", "stoneworks.models.bots.policy_bot:OnnxPolicyBot", "policy:<file>", reads_file=True),
)

#: Maximum number of simulations of a search with a checkpoint.
MAX_SEARCH_SIMULATIONS = 999_999
#: Kind of the bots that play a checkpoint.
CHECKPOINT = "checkpoint"
#: The bots of a checkpoint: its policy, and a search with a budget. They are not in the registry: a path has no prefix.
CHECKPOINT_POLICY = BotEntry(
    CHECKPOINT, "stoneworks.models.bots.policy_bot:PolicyBot", needs_torch=True, estimates_values=True
)
CHECKPOINT_SEARCH = BotEntry(
    CHECKPOINT,
    "stoneworks.models.bots.search_bot:SearchBot",
    needs_torch=True,
    estimates_values=True,
    budgets=(Parameter("simulations", int, 1, MAX_SEARCH_SIMULATIONS, max_on_page=100_000), SECONDS),
    parameters=(
        Parameter("batch", int, 1, network_search.MAX_BATCH),
        Parameter("threads", int, 1, network_search.MAX_THREADS, default=1, max_on_page=8),
    ),
)

#: The registry of bots.
BOTS = Registry("bot", BotEntry, _BUILT_IN, ENTRY_POINT_GROUP)


def register_bot(name: str, bot: str | type, **declared: Any) -> None:
    """Register a kind of bot in this process and in the worker processes that it starts.

    The name can then be used in ``load_bot``, the command line, the arena, ``opponent=`` of environments, and training
    matches. Registering the same entry again has no effect. To make a bot available without importing its package, declare
    an entry point in the group ``stoneworks.bots`` instead.

    Args:
        name: name prefix for ``load_bot``.
        bot: a subclass of :class:`stoneworks.models.Bot`, or its path ``"module:Class"``.
        **declared: the other attributes of :class:`BotEntry`, such as ``usage`` and ``needs_heuristic``.

    Raises:
        RegistrationError: if an argument is invalid, or the name is taken by another bot or a shipped checkpoint.
    """
    path: Any = path_of(bot)
    entry = BotEntry(name, path, **declared)
    if name in shipped.names():
        raise RegistrationError(f"the bot {name!r} cannot be registered: a shipped checkpoint has that name")
    BOTS.add(entry)


def bot_names() -> tuple[str, ...]:
    """Return the names of all registered kinds of bots, without the shipped checkpoints (:mod:`stoneworks.models.shipped`)."""
    return BOTS.names()
