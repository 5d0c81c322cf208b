"""The errors that the rules core raises."""


class IllegalActionError(ValueError):
    """An action that the position does not allow, or a text or index that is no action of the game at all.

    The message names the action, the position, and what is allowed. The state is as it was.
    """


class UnknownGameError(ValueError):
    """Raised for the name of no game. The message lists the names that there are."""


class RegistrationError(ValueError):
    """Raised when an entry of a registry is invalid, has a name that is taken, or cannot be loaded."""


class RecordError(ValueError):
    """A record that is not a position of the game, or of another game. The message names the record and its field."""
