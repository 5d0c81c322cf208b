"""Validation of the arguments ``illegal_action`` and ``frameskip``."""

ILLEGAL_ACTION_CHOICES = ("lose", "raise")


def check_illegal_action(choice: str) -> str:
    """Return ``choice``. Raises ``ValueError`` if it is not in ``ILLEGAL_ACTION_CHOICES``."""
    if choice not in ILLEGAL_ACTION_CHOICES:
        raise ValueError(f"illegal_action must be one of {', '.join(ILLEGAL_ACTION_CHOICES)}, got {choice!r}")
    return choice


def check_frameskip(frameskip: object) -> None:
    """Accept 1, which TorchRL's ``GymEnv`` passes to every environment. Raises ``ValueError`` for anything else."""
    if isinstance(frameskip, bool) or frameskip != 1:
        raise ValueError(f"frameskip must be 1, got {frameskip!r}: a player may not repeat an action")
