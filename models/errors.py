"""The errors that players raise."""


class UnknownBotError(ValueError):
    """A name that no bot has. The message says which names are allowed."""
