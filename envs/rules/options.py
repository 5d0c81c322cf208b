"""Options of a game, and their validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from stoneworks.checks import check_integer


class Option(Protocol):
    """One option of a game."""

    @property
    def default(self) -> Any:
        """Default value."""

    @property
    def always_shown(self) -> bool:
        """Whether the game string shows the option even if it has its default value (e.g. the size of the board)."""

    @property
    def allowed(self) -> str:
        """Description of the allowed values, e.g. ``"an integer from 2 to 90"``."""

    def check(self, game: str, name: str, value: object) -> Any:
        """Return ``value`` as a plain Python object. Raises ``ValueError`` if it is not allowed."""
        ...


@dataclass(frozen=True)
class IntegerOption:
    """An integer with ``minimum`` <= value <= ``maximum``."""

    default: int
    minimum: int
    maximum: int | None = None
    always_shown: bool = False

    @property
    def allowed(self) -> str:
        """See :class:`Option`."""
        return (
            f"an integer >= {self.minimum}"
            if self.maximum is None
            else f"an integer from {self.minimum} to {self.maximum}"
        )

    def check(self, game: str, name: str, value: object) -> int:
        """See :class:`Option`."""
        return check_integer(f"{game}: option {name}", value, self.minimum, self.maximum)


@dataclass(frozen=True)
class IntegerPairOption:
    """Two integers, each from ``minimum`` to ``maximum``. Tuples and lists are accepted; the value is a tuple."""

    default: tuple[int, int]
    minimum: int
    maximum: int
    always_shown: bool = False

    @property
    def allowed(self) -> str:
        """See :class:`Option`."""
        return f"two integers from {self.minimum} to {self.maximum}"

    def check(self, game: str, name: str, value: object) -> tuple[int, int]:
        """See :class:`Option`.

        Raises:
            ValueError: the value is not allowed.
        """
        number = IntegerOption(self.minimum, self.minimum, self.maximum)
        try:
            if not isinstance(value, (tuple, list)):
                raise ValueError
            first, second = (number.check(game, name, part) for part in value)
        except ValueError:
            raise ValueError(f"{game}: option {name} must be {self.allowed}, got {value!r}") from None
        return first, second


@dataclass(frozen=True)
class BooleanOption:
    """True or False."""

    default: bool
    always_shown: bool = False
    allowed: ClassVar[str] = "True or False"

    def check(self, game: str, name: str, value: object) -> bool:
        """See :class:`Option`.

        Raises:
            ValueError: the value is not allowed.
        """
        if not isinstance(value, bool):
            raise ValueError(f"{game}: option {name} must be {self.allowed}, got {value!r}")
        return value


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
