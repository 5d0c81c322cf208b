"""Everything that chooses a move: bots, networks, and saved checkpoints."""

from stoneworks.models.bot import Bot, load_bot
from stoneworks.models.errors import BotForfeit, BotStartError, UnknownBotError

__all__ = ["Bot", "BotForfeit", "BotStartError", "UnknownBotError", "load_bot"]
