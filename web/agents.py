"""Bots available in the web interface, with their ratings. Bots that need a path or a command are excluded."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from stoneworks.envs.rules import Game
from stoneworks.evaluation.ladder import LadderError, load_ladder
from stoneworks.evaluation.rate import AgentMatches, rate_summaries
from stoneworks.models import shipped
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.bots.registry import BOTS, bot_names
from stoneworks.reading import read_json
from stoneworks.web.requests import RequestError

#: Bots listed in the interface, in this order. Any other name accepted by :func:`check_bot_name` can be typed.
_OFFERED = (
    "random",
    "mcts:10",
    "greedy",
    "alphabeta:1",
    "mcts:100",
    "alphabeta:2",
    "alphabeta:3",
    "mcts:1000",
    "mcts:2s",
)
_SHIPPED_SIMULATIONS = 64
#: Largest search budgets in a bot's name.
_MAX_SIMULATIONS = 100_000
_MAX_DEPTH_TURNS = 4
_NAME_CHARACTERS = 40
_SECONDS = r"([0-9]{1,6}(?:\.[0-9]{1,3})?)s"


def check_bot_name(name: str, game: Game, thinking_seconds: float) -> str:
    """Validate and return a bot name from a request.

    Raises:
        RequestError: the name is a command or a path, the bot is unknown or trained for another game, or its search
            budget exceeds the limits.
    """
    if playable_bots([name], game) == ():
        raise RequestError(f"{name} needs an evaluation, and {game.name} has none")
    if name in ("random", "greedy") or name in _of_other_packages():
        return name
    if found := re.fullmatch(rf"mcts:(?:([0-9]{{1,9}})|{_SECONDS})", name, re.ASCII):
        if _is_allowed_number(found[1], _MAX_SIMULATIONS):
            return name
        if _is_allowed_time(found[2], thinking_seconds):
            return name
        raise RequestError(
            f"the budget of {name} must be 1 to {_MAX_SIMULATIONS} simulations, or up to {thinking_seconds / 2:g}s"
        )
    if found := re.fullmatch(rf"alphabeta:(?:([0-9]{{1,3}})|{_SECONDS})", name, re.ASCII):
        if _is_allowed_number(found[1], _MAX_DEPTH_TURNS) or _is_allowed_time(found[2], thinking_seconds):
            return name
        raise RequestError(
            f"the depth of {name} must be 1 to {_MAX_DEPTH_TURNS} turns, or a time up to {thinking_seconds / 2:g}s"
        )
    if found := re.fullmatch(rf"([a-z0-9-]{{1,32}})(?:@(?:([1-9][0-9]{{0,5}})|{_SECONDS}))?", name, re.ASCII):
        folder = shipped.find(found[1])
        if folder is not None:
            if found[2] and int(found[2]) > _MAX_SIMULATIONS:
                raise RequestError(f"the simulations of {name} must be 1 to {_MAX_SIMULATIONS}")
            if found[3] and not _is_allowed_time(found[3], thinking_seconds):
                raise RequestError(f"the time of {name} must be at most {thinking_seconds / 2:g}s")
            if _game_of_checkpoint(found[1]) != game.name:
                raise RequestError(f"{name} plays {_game_of_checkpoint(found[1])}, not {game.name}")
            if not _plays(found[1], game):
                raise RequestError(f"{name} was trained on {_description(found[1])['game']} and cannot play {game}")
            _require_torch(name)
            return name
    raise RequestError(
        f"unknown bot {name[:_NAME_CHARACTERS]!r}; the page offers random, greedy, mcts:<simulations>, mcts:<seconds>s, "
        "alphabeta:<turns> and the shipped agents, such as 'vadus' or 'vadus@64'"
    )


def bots_for(game: Game) -> list[dict[str, Any]]:
    """Return the bots listed for a game, with rated bots sorted by rating.

    Each entry has a ``name``, a ``rating`` with its standard ``error`` on the scale of the game's ladder (both None if not
    rated), and ``values``: whether the bot estimates the value of a position in [-1, 1].
    """
    names = list(playable_bots([*_OFFERED, *_of_other_packages()], game))
    if find_spec("torch") is not None:
        for name in shipped.names():
            if _game_of_checkpoint(name) == game.name and _plays(name, game):
                names += [name, f"{name}@{_SHIPPED_SIMULATIONS}"]
    bots = [_described(name, game) for name in names]
    return sorted(bots, key=lambda bot: (bot["rating"] is None, bot["rating"] or 0))


def bot_for(name: str, game: Game, thinking_seconds: float) -> dict[str, Any]:
    """Return the entry of a bot that was typed by name, as in :func:`bots_for`. Raises as :func:`check_bot_name` does."""
    return _described(check_bot_name(name, game, thinking_seconds), game)


def adviser_for(game: Game) -> str:
    """Return the bot that gives hints: the better rated of the shipped agent and ``greedy``, as far as they play the game."""
    bots = {bot["name"]: bot for bot in bots_for(game)}
    rated = [
        bot
        for name, bot in bots.items()
        if bot["rating"] is not None and (name == "greedy" or _is_shipped_search(name))
    ]
    if rated:
        return str(max(rated, key=lambda bot: bot["rating"])["name"])
    return "greedy" if "greedy" in bots else "mcts:1000"


def _described(name: str, game: Game) -> dict[str, Any]:
    elo, error = _ratings(str(game)).get(name, (None, None))
    values = name.startswith("mcts:") or shipped.find(name.partition("@")[0]) is not None
    return {"name": name, "rating": elo, "error": error, "values": values}


def _is_shipped_search(name: str) -> bool:
    return name.endswith(f"@{_SHIPPED_SIMULATIONS}")


def _is_allowed_number(number: str | None, most: int) -> bool:
    return number is not None and number[0] != "0" and int(number) <= most  # load_bot accepts no leading zeros


def _is_allowed_time(seconds: str | None, thinking_seconds: float) -> bool:
    return seconds is not None and 0 < float(seconds) <= thinking_seconds / 2


def _of_other_packages() -> tuple[str, ...]:
    """Return the bots of other packages that take no argument, since arguments of unknown bots cannot be validated."""
    return tuple(name for name in bot_names() if name not in BOTS.built_in_names() and BOTS[name].usage == name)


def _require_torch(name: str) -> None:
    if find_spec("torch") is None:
        raise RequestError(f'{name} needs PyTorch: pip install "stoneworks[train]"')


@lru_cache(maxsize=64)
def _description(name: str) -> dict[str, Any]:
    return read_json(shipped.shipped_folder() / name / shipped.METADATA_FILE, RequestError)


def _game_of_checkpoint(name: str) -> str:
    return str(_description(name)["game"]).partition("(")[0]


def _plays(name: str, game: Game) -> bool:
    """Return whether a checkpoint was trained with the same rules; options in ``scale_options`` may differ."""
    from stoneworks.envs.rules import load_game

    trained = load_game(_description(name)["game"])
    return all(
        value == trained.options[option] for option, value in game.options.items() if option not in game.scale_options
    )


@lru_cache(maxsize=64)
def _ratings(game: str) -> dict[str, tuple[float, float]]:
    """Return the rating and standard error of each ladder bot, and of shipped agents from their final matches."""
    try:
        ladder = load_ladder(game)
    except LadderError:
        return {}
    changed = ladder.changed_players()
    found = {name: ladder.ratings.rating(name) for name in ladder.ratings.names if name not in changed}
    for name in shipped.names():
        file = shipped.shipped_folder() / name / shipped.MATCHES_FILE
        if not file.is_file():
            continue
        agent = AgentMatches.from_file(file)
        of_game = [match for part in (agent, *agent.other_games) if part.game == game for match in part.matches]
        for player, rating in rate_summaries(ladder.ratings, of_game).items():
            # On the ladder itself, agents have more games.
            found.setdefault(player.replace("policy", name, 1), rating)
    return {name: (round(elo, 1), round(error, 1)) for name, (elo, error) in found.items()}
