"""``BotSpec``: a parsed bot name. Every name is parsed and written here, and only here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stoneworks.models import shipped
from stoneworks.models.bots.registry import (
    BOTS,
    CHECKPOINT,
    CHECKPOINT_POLICY,
    CHECKPOINT_SEARCH,
    MAX_SEARCH_SIMULATIONS,
    SECONDS,
    BotEntry,
    Parameter,
)
from stoneworks.models.description import METADATA_FILE
from stoneworks.registry import HINT
from stoneworks.text import exact

_BUDGET = re.compile(r"([1-9][0-9]{0,17})|([0-9]{1,18}(?:\.[0-9]{1,18})?)s", re.ASCII)
#: A parameter before the command of a program.
_OPTION = re.compile(r"(\w+=[^\s,]*),")


class UnknownBotError(ValueError):
    """Raised when the name of a bot is unknown or invalid. The message lists the valid names."""


class UntrustedNameError(ValueError):
    """Raised when a name in a data file would start a program or lead out of the file's folder."""


@dataclass(frozen=True)
class Budget:
    """What a bot may spend on each step.

    Attributes:
        unit: the argument of the bot's constructor: ``"simulations"``, ``"turns"`` or ``"seconds"``, or one that a bot of another
            package declares.
        value: the number of units.
    """

    unit: str
    value: int | float


@dataclass(frozen=True)
class BotSpec:
    """A bot's name, parsed (see :func:`~stoneworks.models.bots.loading.load_bot`); ``str`` writes it without defaults.

    Attributes:
        name: the name.
        kind: name of the kind of bot in the registry, or ``"checkpoint"``.
        budget: the budget of each step; None if the bot has none, such as the policy of a checkpoint.
        parameters: the other parameters in the name, by argument of the bot's constructor.
        text: the command, the path or the text after the colon; empty if the kind takes none.
        checkpoint: folder of the checkpoint; None for other kinds.
        shipped: name of the shipped checkpoint; empty for other ones.
    """

    name: str
    kind: str
    budget: Budget | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    checkpoint: Path | None = None
    shipped: str = ""

    @classmethod
    def parse(cls, name: str) -> BotSpec:
        """Return the parsed name.

        Raises:
            UnknownBotError: it is not the name of a bot.
        """  # noqa: DOC501 - made by a function
        if not isinstance(name, str):
            raise _unknown(name)
        if (entry := registered_kind(name)) is not None:
            _, colon, argument = name.partition(":")
            if colon and not argument:
                raise UnknownBotError(f"{name!r} must be a name such as {entry.usage!r}: nothing follows the colon")
            return cls(name, entry.name, **_read_argument(f"{entry.name}:", argument, entry))
        if (folder := _folder_of(name)) is not None:
            return cls(name, CHECKPOINT, checkpoint=folder, shipped=name if shipped.find(name) else "")
        before, at, text = name.rpartition("@")
        if at and (folder := _folder_of(before)) is not None:
            read = _read_argument(f"{before}@", text, CHECKPOINT_SEARCH)
            return cls(name, CHECKPOINT, **read, checkpoint=folder, shipped=before if shipped.find(before) else "")
        raise _unknown(name)

    @classmethod
    def of(cls, kind: str, text: str = "", **arguments: Any) -> BotSpec:
        """Return the spec of a registered kind of bot with these arguments of its constructor; None means not given."""
        given = {name: value for name, value in arguments.items() if value is not None}
        units = [unit.argument for unit in BOTS[kind].budgets if unit.argument in given]
        budget = Budget(units[0], given.pop(units[0])) if units else None
        return cls(kind, kind, budget, given, text)

    def __str__(self) -> str:
        parts = []
        if self.budget is not None:
            parts.append(f"{exact(self.budget.value)}{'s' if self.budget.unit == SECONDS.name else ''}")
        for parameter in self.entry.parameters:
            value = self.parameters.get(parameter.argument)
            if value is not None and value != parameter.default:
                parts.append(f"{parameter.name}={exact(value)}")
        separator, prefix = ":", self.kind
        if self.checkpoint is not None:
            separator, prefix = "@", self.name if self.budget is None else self.name.rpartition("@")[0]
        argument = ",".join([*parts, self.text] if self.text else parts)
        return f"{prefix}{separator}{argument}" if argument else prefix

    @property
    def entry(self) -> BotEntry:
        """Entry of the kind, in the registry unless the bot is one of a checkpoint."""
        if self.checkpoint is None:
            return BOTS[self.kind]
        return CHECKPOINT_POLICY if self.budget is None else CHECKPOINT_SEARCH

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the bot's constructor: the budget by its unit, and the parameters."""
        return ({} if self.budget is None else {self.budget.unit: self.budget.value}) | dict(self.parameters)

    @property
    def needs_heuristic(self) -> bool:
        """Whether the bot requires games with a heuristic."""
        if self.kind != "mcts":
            return self.entry.needs_heuristic
        return "first_play_urgency" in self.parameters or self.parameters.get("leaf", "playout") != "playout"

    @property
    def varies(self) -> bool:
        """Whether the bot's policy in a position can vary: by random numbers, by time, or by what a program does."""
        timed = self.budget is not None and self.budget.unit == SECONDS.name
        return timed or self.kind == "mcts" or self.entry.starts_programs or self.arguments.get("threads", 1) > 1

    @property
    def lacks_torch(self) -> bool:
        """Whether the bot requires torch, which is not installed."""
        return self.entry.needs_torch and find_spec("torch") is None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files and folders that the bot reads; shipped checkpoints do not count."""
        if self.checkpoint is not None:
            return () if self.shipped else (self.checkpoint,)
        return (Path(self.text),) if self.entry.reads_file else ()

    @property
    def file(self) -> Path | None:
        """The file that changes whenever what the bot reads does: of a checkpoint, its description with all hashes."""
        if self.checkpoint is not None:
            return self.checkpoint / METADATA_FILE
        return Path(self.text) if self.entry.reads_file else None


def registered_kind(name: str) -> BotEntry | None:
    """Return the registered kind of bot that a name starts with, whether or not the rest of the name is valid."""
    kind = name.partition(":")[0]
    if kind not in BOTS:
        return None
    return BOTS[kind]


def check_name_in_file(name: str, source: str, folder: Path | None) -> None:
    """Check that loading a bot named in a data file, which may be untrusted, neither starts a program nor reads any path.

    ``load_bot`` starts programs (``exec:<command>``) and reads any path. Names passed by the caller may do that; names in a
    file may not, unless the caller trusts the file.

    Args:
        name: a name for ``load_bot``, or the path of a checkpoint or a run.
        source: name of the file in error messages.
        folder: the folder that paths must lie in after resolving symbolic links; None if paths are not allowed.

    Raises:
        UntrustedNameError: the name starts a program or refers to a path outside the folder.
    """
    entry = registered_kind(name)
    if entry is not None and entry.starts_programs:
        raise UntrustedNameError(
            f"{source} has the player {name!r}, which starts a program; allow it only for files that you trust"
        )
    try:
        paths = BotSpec.parse(name).paths
    except UnknownBotError:  # a path that is not there, or not yet; with the simulations of a search behind it, or not
        paths = () if entry is not None else (Path(name), Path(name.rpartition("@")[0] or name))
    try:
        inside = folder is not None and all(path.resolve().is_relative_to(folder.resolve()) for path in paths)
    except (OSError, ValueError, RuntimeError):  # a null character, a loop of links
        inside = False
    if paths and not inside:
        allowed = "paths are not allowed there" if folder is None else f"paths must lead into {folder}"
        raise UntrustedNameError(f"{source} has the player {name!r}; {allowed}, unless you mark the file as trusted")


def _unknown(name: object) -> UnknownBotError:
    names = shipped.names()
    folder = (
        ", and there is no such folder" if isinstance(name, str) and os.path.dirname(name.rpartition(":")[2]) else ""
    )
    return UnknownBotError(
        f"unknown bot {name!r}{folder}; valid names: {', '.join(repr(entry.usage) for entry in BOTS.loadable())}, a shipped "
        f"checkpoint ({', '.join(map(repr, names)) if names else 'there is none'}), and the path of a checkpoint folder; a "
        "checkpoint may be followed by @ and the number of simulations of a search, from @1 to @"
        f"{MAX_SEARCH_SIMULATIONS}, or its seconds, as in @2s, and these by batch= and threads=; {HINT}"
    )


def _folder_of(name: str) -> Path | None:
    """Return the folder of a checkpoint, shipped or not; None if there is none."""
    folder = shipped.find(name)
    try:
        return Path(name) if folder is None and name and Path(name).is_dir() else folder
    except (OSError, ValueError):  # longer than a path can be, or with a null character
        return None


def _read_argument(prefix: str, argument: str, entry: BotEntry) -> dict[str, Any]:
    """Return what follows the prefix in a name as fields of a :class:`BotSpec`.

    Raises:
        UnknownBotError: the kind of bot takes no such argument.
    """
    if entry.starts_programs:
        texts = []
        while option := _OPTION.match(argument):
            texts.append(option[1])
            argument = argument[option.end() :]
        return {"parameters": _read_parameters(entry, texts), "text": argument}
    if entry.takes_text:
        return {"text": argument}
    texts = argument.split(",") if argument else []
    if not entry.budgets:
        if texts and not entry.parameters:
            raise UnknownBotError(f"the name of a {entry.name} bot takes no argument, got {argument!r}")
        return {"parameters": _read_parameters(entry, texts)}
    budget, *texts = texts or [""]
    return {"budget": _read_budget(prefix, budget, entry.budgets), "parameters": _read_parameters(entry, texts)}


def _read_budget(prefix: str, text: str, budgets: Sequence[Parameter]) -> Budget:
    matched = _BUDGET.fullmatch(text)
    number, seconds = matched.groups() if matched else (None, None)
    for budget in budgets:
        digits = seconds if budget == SECONDS else number
        if digits and budget.minimum <= (value := budget.type(digits)) <= budget.maximum:
            return Budget(budget.argument, value)
    allowed = [
        f"{budget.allowed} {budget.name}, as in '{prefix}2{'s' if budget == SECONDS else ''}'" for budget in budgets
    ]
    kind = f"{prefix[:-1]} bot" if prefix.endswith(":") else prefix
    raise UnknownBotError(f"{kind}: the budget must be {' or '.join(allowed)}, got {text!r}")


def _read_parameters(entry: BotEntry, texts: Sequence[str]) -> dict[str, Any]:
    """Return the values of the parameters given as ``key=value`` in ``texts``, by argument of the bot's constructor.

    Raises:
        UnknownBotError: a parameter is unknown, given twice, or has a value that is not allowed.
    """
    parameters = {parameter.name: parameter for parameter in entry.parameters}
    values: dict[str, Any] = {}
    for text in texts:
        key, _, value = text.partition("=")
        parameter = parameters.get(key)
        argument = "" if parameter is None else parameter.argument
        if parameter is None or argument in values:
            problem = "unknown" if parameter is None else "duplicate"
            allowed = ", ".join(f"{name}=" for name in parameters) or "nothing"
            raise UnknownBotError(f"{entry.name} bot: {problem} parameter {text!r}; valid parameters: {allowed}")
        try:
            values[argument] = parameter.parse(value)
        except ValueError:
            raise UnknownBotError(f"{entry.name} bot: {key} must be {parameter.allowed}, got {value!r}") from None
    return values
