"""Parameters in a bot's name: the part after the colon, such as ``400,c=1.2`` in ``mcts:400,c=1.2``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stoneworks.models.errors import UnknownBotError


def parse_budget(text: str, max_digits: int = 18) -> int | float | None:
    """Return the budget in a bot's name, an integer or a number of seconds, or None if ``text`` is not a valid one.

    Args:
        text: an integer > 0 without leading zeros, such as ``400``, or seconds > 0, such as ``2s`` or ``0.5s``.
        max_digits: maximum number of digits, of seconds before and after the decimal point.

    Returns:
        An ``int``, whose meaning depends on the bot, or seconds as a ``float``.
    """
    digits = f"[0-9]{{1,{max_digits}}}"
    parsed = re.fullmatch(rf"([1-9][0-9]{{0,{max_digits - 1}}})|({digits}(?:\.{digits})?)s", text, re.ASCII)
    if parsed is None:
        return None
    return (int(parsed[1]) if parsed[1] else float(parsed[2])) or None


@dataclass(frozen=True)
class Parameter:
    """A parameter in a bot's name: a number, or one of several words.

    Attributes:
        default: default value.
        minimum: smallest allowed value; the type of a number is that of its default.
        words: the allowed texts, if it is not a number.
    """

    default: int | float | str
    minimum: float = 0
    words: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """Description of the allowed values."""
        if self.words:
            return " or ".join(self.words)
        return f"{'an integer' if isinstance(self.default, int) else 'a number'} >= {self.minimum:g}"

    def parse(self, text: str) -> int | float | str:
        """Return the value of ``text``. Raises ``ValueError`` if it is not allowed."""
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
        UnknownBotError: a key is unknown or given twice, or a value is not allowed.
    """
    values = {name: parameter.default for name, parameter in parameters.items()}
    given = set()
    for text in texts:
        key, _, value = text.partition("=")
        if key not in parameters or key in given:
            problem = "duplicate" if key in given else "unknown"
            allowed = ", ".join(f"{name}=" for name in parameters) or "nothing"
            raise UnknownBotError(f"{kind} bot: {problem} parameter {text!r}; valid parameters: {allowed}")
        given.add(key)
        try:
            values[key] = parameters[key].parse(value)
        except ValueError:
            raise UnknownBotError(f"{kind} bot: {key} must be {parameters[key].allowed}, got {value!r}") from None
    return values
