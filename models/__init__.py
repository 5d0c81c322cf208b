"""Everything that chooses a move: bots, searches, networks, and saved checkpoints. All names are imported on first use."""

from typing import TYPE_CHECKING

from stoneworks.lazy_names import lazy_names

if TYPE_CHECKING:
    from stoneworks.models.architecture import (
        Architecture,
        NetworkConfig,
        NetworkEntry,
        network_names,
        register_network,
    )
    from stoneworks.models.bots.bot import Bot
    from stoneworks.models.bots.loading import load_bot
    from stoneworks.models.bots.registry import BotEntry, bot_names, register_bot
    from stoneworks.models.checkpoint import load_checkpoint, save_checkpoint
    from stoneworks.models.errors import BotForfeit, BotStartError, MissingEvaluationError, UnknownBotError

__all__ = [
    "Architecture",
    "Bot",
    "BotEntry",
    "BotForfeit",
    "BotStartError",
    "MissingEvaluationError",
    "NetworkConfig",
    "NetworkEntry",
    "UnknownBotError",
    "bot_names",
    "load_bot",
    "load_checkpoint",
    "network_names",
    "register_bot",
    "register_network",
    "save_checkpoint",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Architecture": "architecture",
        "Bot": "bots.bot",
        "BotEntry": "bots.registry",
        "BotForfeit": "errors",
        "BotStartError": "errors",
        "MissingEvaluationError": "errors",
        "NetworkConfig": "architecture",
        "NetworkEntry": "architecture",
        "UnknownBotError": "errors",
        "bot_names": "bots.registry",
        "load_bot": "bots.loading",
        "load_checkpoint": "checkpoint",
        "network_names": "architecture",
        "register_bot": "bots.registry",
        "register_network": "architecture",
        "save_checkpoint": "checkpoint",
    },
)


def __dir__() -> list[str]:
    return __all__
