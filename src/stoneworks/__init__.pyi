from .envs.rules import (
    Batch as Batch,
    Game as Game,
    State as State,
    check_game as check_game,
    game_names as game_names,
    load_game as load_game,
    register_game as register_game,
)
from .models import Bot as Bot, bot_names as bot_names, load_bot as load_bot, register_bot as register_bot
from .training import train as train

__version__: str
