"""Games, bots and positions: what the page shows without a stored game."""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.requests import Request

from stoneworks.envs.rules import IllegalActionError
from stoneworks.web.agents import bot_for, bots_for
from stoneworks.web.errors import RequestError
from stoneworks.web.fields import Fields
from stoneworks.web.positions import Line, Positions, describe, game_descriptions
from stoneworks.web.routes.handlers import ACTION_CHARACTERS, GAME_CHARACTERS, MAX_ACTIONS, get, post
from stoneworks.web.services import Services


def requested_line(fields: Fields, positions: Positions) -> Line:
    """Return the position of the fields ``game`` and ``actions``."""
    game = positions.game(fields.text("game", GAME_CHARACTERS))
    return positions.line(game, fields.texts("actions", MAX_ACTIONS, ACTION_CHARACTERS))


class PositionRoutes:
    """Handlers for games, bots and positions."""

    def __init__(self, services: Services) -> None:
        self._positions = services.positions
        self._limits = services.limits
        self._watch = services.watch
        self.routes = [
            get("/api/info", self._info),
            get("/api/bots", self._bots),
            get("/api/bot", self._bot),
            post("/api/position", self._position),
        ]

    def _info(self, _: Request) -> dict[str, Any]:
        return {
            "games": game_descriptions(),
            "limits": {
                "thinking_seconds": self._limits.thinking_seconds,
                "comment_characters": self._limits.comment_characters,
                "curve_positions": self._limits.curve_positions,
            },
            "watching": bool(self._watch.roots),
        }

    def _bots(self, request: Request) -> dict[str, Any]:
        game = self._positions.game(request.query_params.get("game", ""))
        return {"game": str(game), "bots": bots_for(game)}

    def _bot(self, request: Request) -> dict[str, Any]:
        """Return a bot that was typed by name."""
        game = self._positions.game(request.query_params.get("game", ""))
        return bot_for(request.query_params.get("name", ""), game, self._limits)

    def _position(self, _: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Describe a position, optionally with a policy as a heat map and a line as numbered stones."""
        given = Fields(fields, ("game", "actions", "heat", "line"))
        line = requested_line(given, self._positions)
        game = line.state.get_game()
        policy = None
        if "heat" in given:
            policy = np.zeros(game.num_distinct_actions())
            for text, value in given.object("heat", MAX_ACTIONS).items():
                if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
                    raise RequestError(f"heat must hold numbers from 0 to 1, got {value!r}")
                policy[_action_index(game, text)] = value
        return describe(line, policy=policy, shown_line=given.texts("line", 64, ACTION_CHARACTERS))


def _action_index(game: Any, text: str) -> int:
    try:
        return int(game.string_to_action(text))
    except IllegalActionError as error:
        raise RequestError(str(error)) from None
