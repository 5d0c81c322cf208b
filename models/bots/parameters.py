"""What stands behind the colon in a bot's name, such as ``400,c=1.2`` in ``mcts:400,c=1.2``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stoneworks.models.errors import UnknownBotError


@dataclass(frozen=True)
class Parameter:
    """A parameter in a bot's name: a number, or one of several words.

    Attributes:
        default: its value where the name does not give one.
        minimum: the least that is allowed; the type of a number is that of its default.
        words: the texts that are allowed, where it is no number.
    """

    default: int | float | str
    minimum: float = 0
    words: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        if self.words:
            return " or ".join(self.words)
        return f"a {'whole number' if isinstance(self.default, int) else 'number'} >= {self.minimum:g}"

    def parse(self, text: str) -> int | float | str:
        """Return the value that ``text`` means. Raises ``ValueError`` where it means none that is allowed."""
        if self.words:
            if text not in self.words:
                raise ValueError
            return text
        value = int(text) if isinstance(self.default, int) else float(text)
        if not (math.isfinite(value) and value >= self.minimum):
            raise ValueError
        return value


def parse_parameters(kind: str, texts: list[str], parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the value of each of ``parameters``, given as ``key=value`` in ``texts`` or by its default.

    Raises:
        UnknownBotError: an unknown key, one that stands twice, or a value that is not allowed; it says what is.
    """
    values = {name: parameter.default for name, parameter in parameters.items()}
    given = set()
    for text in texts:
        key, _, value = text.partition("=")
        if key not in parameters or key in given:
            twice = " twice" if key in given else ""
            allowed = ", ".join(f"{name}=" for name in parameters) or "nothing"
            raise UnknownBotError(f"the name of a {kind} bot says {text!r}{twice}; allowed is each of {allowed} once")
        given.add(key)
        try:
            values[key] = parameters[key].parse(value)
        except ValueError:
            raise UnknownBotError(f"{key} of a {kind} bot is {value!r}; allowed is {parameters[key].allowed}") from None
    return values
