"""The errors that players raise."""

from __future__ import annotations


class UnknownBotError(ValueError):
    """A name that no bot has. The message says which names are allowed."""


class UntrustedNameError(ValueError):
    """Raised when a name in a data file would start a program or lead out of the file's folder."""


class MissingEvaluationError(ValueError):
    """Raised when a bot needs a hand-written evaluation and the game has none. The message names both."""


class BotStartError(ValueError):
    """A program that never was ready to play: a mistake of whoever set it up. The message says what happened."""


class BotForfeit(ValueError):  # noqa: N818 - what it is called in matches
    """A bot has lost its game by what it did instead of playing on.

    Attributes:
        name: of the bot.
        reason: ``"illegal"``: it answered with something else than a legal action; ``"late"``: it did not answer in
            time; ``"crashed"``: it can answer no more.
        details: what happened, in words.
    """

    #: What ``reason`` may be.
    REASONS = ("illegal", "late", "crashed")

    def __init__(self, name: str, reason: str, details: str) -> None:
        super().__init__(name, reason, details)
        self.name, self.reason, self.details = name, reason, details

    def __str__(self) -> str:
        return f"{self.name} forfeits the game ({self.reason}): {self.details}"
