"""Options of a game, and their validation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stoneworks.checks import check_integer, range_in_words


@dataclass(frozen=True)
class Option(ABC):
    """One option of a game.

    Attributes:
        default: default value.
        always_shown: whether the game string shows the option even if it has its default value (e.g. the size of the board).
    """

    default: Any
    always_shown: bool = field(default=False, kw_only=True)

    @property
    @abstractmethod
    def allowed(self) -> str:
        """Description of the allowed values, e.g. ``"an integer from 2 to 90"``."""

    @abstractmethod
    def plain(self, value: object) -> Any:
        """Return ``value`` as a plain Python object. Raises ``ValueError`` if it is not allowed."""

    def check(self, game: str, name: str, value: object) -> Any:
        """Return ``value`` as a plain Python object.

        Raises:
            ValueError: it is not allowed.
        """
        try:
            return self.plain(value)
        except ValueError:
            raise ValueError(f"{game}: option {name} must be {self.allowed}, got {value!r}") from None


@dataclass(frozen=True)
class IntegerOption(Option):
    """An integer with ``minimum`` <= value <= ``maximum``."""

    minimum: int
    maximum: int | None = None

    @property
    def allowed(self) -> str:
        """See :class:`Option`."""
        return f"an integer {range_in_words(self.minimum, self.maximum)}"

    def plain(self, value: object) -> int:
        """See :class:`Option`."""
        return check_integer("value", value, self.minimum, self.maximum)


@dataclass(frozen=True)
class IntegerPairOption(Option):
    """Two integers, each from ``minimum`` to ``maximum``. Tuples and lists are accepted; the value is a tuple."""

    minimum: int
    maximum: int

    @property
    def allowed(self) -> str:
        """See :class:`Option`."""
        return f"two integers from {self.minimum} to {self.maximum}"

    def plain(self, value: object) -> tuple[int, int]:
        """See :class:`Option`."""
        parts = value if isinstance(value, tuple | list) else ()
        first, second = (check_integer("part", part, self.minimum, self.maximum) for part in parts)
        return first, second


@dataclass(frozen=True)
class BooleanOption(Option):
    """True or False."""

    allowed = "True or False"

    def plain(self, value: object) -> bool:
        """See :class:`Option`.

        Raises:
            ValueError: the value is not a boolean.
        """
        if not isinstance(value, bool):
            raise ValueError
        return value


@dataclass(frozen=True)
class ChoiceOption(Option):
    """One of the strings ``choices``."""

    choices: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """See :class:`Option`."""
        return " or ".join(map(repr, self.choices))

    def plain(self, value: object) -> str:
        """See :class:`Option`.

        Raises:
            ValueError: the value is not one of the choices.
        """
        if not isinstance(value, str) or value not in self.choices:
            raise ValueError
        return str(value)


def check_options(game: str, options: Mapping[str, Option], given: Mapping[str, object]) -> dict[str, Any]:
    """Return the checked value of every option of the game, in alphabetical order.

    Raises:
        ValueError: the name of an option is unknown or its value is not allowed.
    """
    for name, value in given.items():
        if name not in options:
            raise ValueError(
                f"unknown option {name!r} for {game} (given as {value!r}); valid options: {', '.join(sorted(options))}"
            )
    return {
        name: option.check(game, name, given[name]) if name in given else option.default
        for name, option in sorted(options.items())
    }
