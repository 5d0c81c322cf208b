from .architecture import (
    Architecture as Architecture,
    NetworkConfig as NetworkConfig,
    NetworkEntry as NetworkEntry,
    network_names as network_names,
    register_network as register_network,
)
from .bots.bot import Analysis as Analysis, Bot as Bot, BotForfeit as BotForfeit, BotStartError as BotStartError
from .bots.loading import load_bot as load_bot
from .bots.registry import (
    BotEntry as BotEntry,
    Parameter as Parameter,
    bot_names as bot_names,
    register_bot as register_bot,
)
from .bots.spec import BotSpec as BotSpec, UnknownBotError as UnknownBotError
from .checkpoint import load_checkpoint as load_checkpoint, save_checkpoint as save_checkpoint
from .description import PlaySettings as PlaySettings
from .solver import Solution as Solution, Solver as Solver, UnsolvedError as UnsolvedError
