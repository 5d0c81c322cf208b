"""Everything that chooses a move: bots, searches, networks, and saved checkpoints. All names are imported on first use."""

from typing import TYPE_CHECKING

from stoneworks.lazy_names import lazy_names

if TYPE_CHECKING:
    from stoneworks.models.bots.bot import Bot
    from stoneworks.models.bots.loading import load_bot
    from stoneworks.models.bots.registry import BotEntry, bot_names, register_bot
    from stoneworks.models.errors import BotForfeit, BotStartError, MissingEvaluationError, UnknownBotError

__all__ = [
    "Bot",
    "BotEntry",
    "BotForfeit",
    "BotStartError",
    "MissingEvaluationError",
    "UnknownBotError",
    "bot_names",
    "load_bot",
    "register_bot",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Bot": "bots.bot",
        "BotEntry": "bots.registry",
        "BotForfeit": "errors",
        "BotStartError": "errors",
        "MissingEvaluationError": "errors",
        "UnknownBotError": "errors",
        "bot_names": "bots.registry",
        "load_bot": "bots.loading",
        "register_bot": "bots.registry",
    },
)


def __dir__() -> list[str]:
    return __all__
