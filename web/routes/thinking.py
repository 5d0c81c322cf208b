"""Turns of bots, hints and analyses, computed by the worker processes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from stoneworks.web import play
from stoneworks.web.agents import adviser_for, check_bot_name
from stoneworks.web.errors import RequestError
from stoneworks.web.fields import Fields
from stoneworks.web.routes.games import game_view
from stoneworks.web.routes.handlers import BOT_CHARACTERS, post
from stoneworks.web.routes.positions import requested_line
from stoneworks.web.services import Services

#: Number of analyses that are remembered.
_MAX_ANALYSES = 1000


class ThinkingRoutes:
    """Handlers for turns of bots, hints and analyses."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._positions = services.positions
        self._limits = services.limits
        self._pool = services.pool
        self._jobs = services.jobs
        self._analyses: OrderedDict[Any, dict[str, Any]] = OrderedDict()
        self.routes = [
            post("/api/games/{id}/bot", self._bot_turn),
            post("/api/games/{id}/hint", self._hint),
            post("/api/analyze", self._analyze),
            post("/api/values", self._values),
        ]

    async def _bot_turn(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Play the turn of the bot to move."""
        game_id = request.path_params["id"]
        node = Fields(fields, ("node",)).integer("node", 0, 10**9)

        def prepare() -> dict[str, Any]:
            stored = self._store.load(game_id)
            play.check_current(stored, node)
            if stored.current != stored.committed:
                raise RequestError("a turn is in progress", 409)
            line = play.line_of(stored, self._positions)
            bot = stored.players[play.player_to_move(stored, line)]
            if bot is None:
                raise RequestError("a person is to move", 409)
            return {"kind": "turn", "game": stored.game, "actions": list(line.actions), "bot": bot}

        async def make() -> dict[str, Any]:
            answer = await self._pool.run(await run_in_threadpool(prepare))
            stored = await run_in_threadpool(
                self._store.change,
                game_id,
                lambda stored: play.play_turn(stored, self._positions, node, answer["actions"]),
            )
            return await run_in_threadpool(game_view, stored, self._positions)

        return await self._jobs.run(request, ("turn", game_id, node), make)

    async def _hint(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the actions that a bot suggests for the rest of the turn."""
        node = Fields(fields, ("node",)).integer("node", 0, 10**9)

        def prepare() -> dict[str, Any]:
            stored = self._store.load(request.path_params["id"])
            play.check_current(stored, node)
            line = play.line_of(stored, self._positions)
            play.player_to_move(stored, line)
            bot = adviser_for(line.state.get_game())
            return {"kind": "turn", "game": stored.game, "actions": list(line.actions), "bot": bot}

        job = await run_in_threadpool(prepare)
        answer = await self._jobs.run(
            request, ("hint", job["game"], tuple(job["actions"])), lambda: self._pool.run(job)
        )
        return {"bot": job["bot"], "actions": answer["actions"]}

    async def _analyze(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Return a bot's analysis of a position (see :func:`stoneworks.web.thinking.analyze`)."""
        given = Fields(fields, ("game", "actions", "bot"))

        def prepare() -> dict[str, Any]:
            line = requested_line(given, self._positions)
            game = line.state.get_game()
            bot = check_bot_name(given.text("bot", BOT_CHARACTERS), game, self._limits)
            if line.state.is_terminal():
                raise RequestError("the game is over", 409)
            return {"kind": "analyze", "game": str(game), "actions": list(line.actions), "bot": bot}

        return await self._remembered(request, await run_in_threadpool(prepare))

    async def _values(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the values, for player 0, of a range of positions, for the value curve."""
        given = Fields(fields, ("game", "actions", "bot", "first", "count"))

        def prepare() -> dict[str, Any]:
            line = requested_line(given, self._positions)
            game = line.state.get_game()
            first = given.integer("first", 0, len(line.actions), 0)
            most = min(self._limits.curve_positions, len(line.actions) + 1 - first)
            return {
                "kind": "values",
                "game": str(game),
                "actions": list(line.actions),
                "bot": check_bot_name(given.text("bot", BOT_CHARACTERS), game, self._limits),
                "first": first,
                "count": given.integer("count", 1, most, most),
            }

        return await self._remembered(request, await run_in_threadpool(prepare))

    async def _remembered(self, request: Request, job: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a job, from the cache if an equal job has been run."""
        key = tuple(tuple(value) if isinstance(value, list) else value for value in job.values())
        if key not in self._analyses:
            self._analyses[key] = await self._jobs.run(request, key, lambda: self._pool.run(job))
            while len(self._analyses) > _MAX_ANALYSES:
                self._analyses.popitem(last=False)
        return self._analyses[key]
