from .architecture import (
    Architecture as Architecture,
    NetworkConfig as NetworkConfig,
    NetworkEntry as NetworkEntry,
    network_names as network_names,
    register_network as register_network,
)
from .bots.bot import Bot as Bot
from .bots.loading import load_bot as load_bot
from .bots.registry import BotEntry as BotEntry, bot_names as bot_names, register_bot as register_bot
from .checkpoint import load_checkpoint as load_checkpoint, save_checkpoint as save_checkpoint
from .errors import (
    BotForfeit as BotForfeit,
    BotStartError as BotStartError,
    MissingEvaluationError as MissingEvaluationError,
    UnknownBotError as UnknownBotError,
)
