"""Errors raised by the rules core."""


class IllegalActionError(ValueError):
    """Raised for an action that is illegal in a position, or for a text or index that is not an action of the game.

    The message names the action, the position and the legal actions. The state is unchanged.
    """


class UnknownGameError(ValueError):
    """Raised when the name of a game is unknown. The message lists the known names."""


class RegistrationError(ValueError):
    """Raised when an entry of a registry is invalid, its name is taken, or it cannot be loaded."""


class RecordError(ValueError):
    """Raised for a record that is not a position of the game. The message names the record and the invalid field."""
