"""What an environment does with an illegal action."""

ILLEGAL_ACTION_CHOICES = ("lose", "raise")


def check_illegal_action(choice: str) -> str:
    """Return ``choice``. Raises ``ValueError`` for one that is not in ``ILLEGAL_ACTION_CHOICES``."""
    if choice not in ILLEGAL_ACTION_CHOICES:
        raise ValueError(f"illegal_action is {choice!r}; allowed are {', '.join(ILLEGAL_ACTION_CHOICES)}")
    return choice
