"""Errors raised by the arena."""


class ArenaFolderError(ValueError):
    """Raised when a folder does not contain the expected arena. The message names the folder and the difference."""


class ArenaPlayError(ValueError):
    """Raised when a player fails or returns an invalid answer. The message names the players of the game and the cause."""


class LadderError(ValueError):
    """Raised when a ladder file is missing or invalid. The message lists the available ladders or states the problem."""
