"""Everything that chooses a move: bots, networks, and saved checkpoints."""

from stoneworks.models.bot import Bot, load_bot
from stoneworks.models.errors import UnknownBotError

__all__ = ["Bot", "UnknownBotError", "load_bot"]
