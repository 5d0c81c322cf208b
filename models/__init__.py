"""Everything that chooses a move: bots, networks, and saved checkpoints."""

from stoneworks.models.bots.bot import Bot
from stoneworks.models.bots.loading import load_bot
from stoneworks.models.errors import BotForfeit, BotStartError, UnknownBotError

__all__ = ["Bot", "BotForfeit", "BotStartError", "UnknownBotError", "load_bot"]
