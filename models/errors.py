"""Errors raised by bots."""

from __future__ import annotations


class UnknownBotError(ValueError):
    """Raised when the name of a bot is unknown or invalid. The message lists the valid names."""


class UntrustedNameError(ValueError):
    """Raised when a name in a data file would start a program or lead out of the file's folder."""


class MissingEvaluationError(ValueError):
    """Raised when a bot needs a hand-written evaluation and the game has none. The message names both."""


class BotStartError(ValueError):
    """Raised when an external program does not get ready to play. The message states the reason."""


class BotForfeit(ValueError):  # noqa: N818 - what it is called in matches
    """Raised when a bot forfeits its game.

    Attributes:
        name: name of the bot.
        reason: ``"illegal"``: the answer is not a legal action; ``"late"``: no answer within the time limit;
            ``"crashed"``: the program has terminated.
        details: description of what happened.
    """

    #: Possible values of ``reason``.
    REASONS = ("illegal", "late", "crashed")

    def __init__(self, name: str, reason: str, details: str) -> None:
        super().__init__(name, reason, details)
        self.name, self.reason, self.details = name, reason, details

    def __str__(self) -> str:
        return f"{self.name} forfeits the game ({self.reason}): {self.details}"
