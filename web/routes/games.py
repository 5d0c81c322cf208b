"""Stored games: creating and changing them, waiting for changes, and their records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stoneworks.envs.rules import Game
from stoneworks.web import play, records
from stoneworks.web.agents import check_bot_name
from stoneworks.web.errors import RequestError
from stoneworks.web.fields import Fields, query_integer
from stoneworks.web.jobs import disconnected
from stoneworks.web.limits import Limits
from stoneworks.web.positions import Positions, describe, turns_of
from stoneworks.web.routes.handlers import (
    ACTION_CHARACTERS,
    BOT_CHARACTERS,
    GAME_CHARACTERS,
    MAX_ACTIONS,
    get,
    long_poll,
    post,
)
from stoneworks.web.services import Services
from stoneworks.web.store import StoredGame

#: Timeout of a long-polling request for changes of a game.
_WAIT_SECONDS = 25.0
_TITLE_CHARACTERS = 100


def game_summary(stored: StoredGame) -> dict[str, Any]:
    """Return a game as JSON for lists of games."""
    return {
        "id": stored.id,
        "game": stored.game,
        "title": stored.title,
        "players": list(stored.players),
        "result": None if stored.reason is None else {"winner": stored.winner, "reason": stored.reason},
        "created": stored.created,
        "updated": stored.updated,
    }


def game_view(stored: StoredGame, positions: Positions) -> dict[str, Any]:
    """Return a game as JSON for the game page."""
    line = play.line_of(stored, positions)
    view = game_summary(stored) | {
        "revision": stored.revision,
        "current": stored.current,
        "committed": stored.committed,
        "line": [0, *(node.node for node in stored.path(stored.current))],
        "num_committed": len(stored.path(stored.committed)),
        "confirm": stored.confirm,
        "complete_turn": play.turn_is_complete(stored, line),
        "turns": turns_of(line),
    }
    position = describe(line)
    over = stored.reason is not None
    bot_to_move = not over and position["player"] is not None and stored.players[position["player"]] is not None
    if over or bot_to_move or view["complete_turn"]:
        position |= {"legal": [], "buttons": [], "places": {}, "icons": {}}
    view["position"] = position
    view["bot_to_move"] = bot_to_move and stored.current == stored.committed
    return view


class GameRoutes:
    """Handlers for stored games."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._positions = services.positions
        self._limits = services.limits
        self._changes = services.changes
        self.routes = [
            get("/api/games", self._games),
            post("/api/games", self._new_game),
            post("/api/import", self._import),
            get("/api/export", self._export_all),
            get("/api/games/{id}", self._game),
            get("/api/games/{id}/tree", self._tree),
            long_poll("/api/games/{id}/wait", self._wait),
            get("/api/games/{id}/record", self._record),
            post("/api/games/{id}/delete", self._delete),
            post("/api/games/{id}/variation", self._variation),
            *(post(f"/api/games/{{id}}/{name}", change) for name, change in self._changes_of_games().items()),
        ]

    def _games(self, request: Request) -> dict[str, Any]:
        first = query_integer(request.query_params, "first", 0, 10**9, 0)
        count = query_integer(request.query_params, "count", 1, self._limits.rows, 50)
        stored, number = self._store.recent(first, count)
        return {"games": [game_summary(game) for game in stored], "total": number}

    def _new_game(self, _: Request, fields: dict[str, Any]) -> dict[str, Any]:
        given = Fields(fields, ("game", "options", "players", "confirm", "actions", "title", "tree"))
        game = self._positions.game(given.text("game", GAME_CHARACTERS), given.object("options"))
        line = self._positions.line(game, given.texts("actions", MAX_ACTIONS, ACTION_CHARACTERS))
        tree = given.raw("tree")
        new = play.new_game(
            game,
            line,
            _players(given.raw("players"), game, self._limits),
            confirm=given.boolean("confirm", False),
            title=given.text("title", _TITLE_CHARACTERS, ""),
            nodes=() if tree is None else records.nodes_of(tree, game, line.actions, self._positions, self._limits),
        )
        return game_view(self._store.create([new])[0], self._positions)

    def _game(self, request: Request) -> dict[str, Any]:
        return game_view(self._store.load(request.path_params["id"]), self._positions)

    def _tree(self, request: Request) -> dict[str, Any]:
        stored = self._store.load(request.path_params["id"])
        return game_summary(stored) | _nodes(stored, self._positions)

    def _changes_of_games(self) -> dict[str, Callable[[Request, dict[str, Any]], Any]]:
        """Return the handlers of user actions that change a game, by name."""
        positions = self._positions

        def route(
            known: tuple[str, ...], make: Callable[[StoredGame, Fields], StoredGame]
        ) -> Callable[[Request, dict[str, Any]], Any]:
            def handle(request: Request, fields: dict[str, Any]) -> dict[str, Any]:
                given = Fields(fields, known)
                stored = self._store.change(request.path_params["id"], lambda stored: make(stored, given))
                return game_view(stored, positions)

            return handle

        def node(given: Fields) -> int:
            return given.integer("node", 0, 10**9)

        def players(stored: StoredGame, given: Fields) -> StoredGame:
            return play.seat(stored, _players(given.raw("players"), positions.game(stored.game), self._limits))

        return {
            "act": route(
                ("node", "action"),
                lambda stored, given: play.act(stored, positions, node(given), given.text("action", ACTION_CHARACTERS)),
            ),
            "commit": route(("node",), lambda stored, given: play.commit(stored, positions, node(given))),
            "take-back": route(("node",), lambda stored, given: play.take_back(stored, node(given))),
            "undo": route(("node",), lambda stored, given: play.undo(stored, positions, node(given))),
            "resign": route(("node",), lambda stored, given: play.resign(stored, positions, node(given))),
            "players": route(("players",), players),
            "confirm": route(
                ("confirm",), lambda stored, given: play.set_confirm(stored, positions, given.boolean("confirm"))
            ),
            "comment": route(
                ("node", "text"),
                lambda stored, given: play.comment(
                    stored, node(given), given.text("text", self._limits.comment_characters)
                ),
            ),
            "prune": route(("node",), lambda stored, given: play.prune(stored, node(given))),
        }

    def _variation(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        given = Fields(fields, ("node", "actions"))
        parent = given.integer("node", 0, 10**9)
        actions = given.texts("actions", 1000, ACTION_CHARACTERS)
        stored = self._store.change(
            request.path_params["id"],
            lambda stored: play.add_variation(stored, self._positions, parent, actions),
        )
        return _nodes(stored, self._positions) | {"node": play.node_after(stored, parent, actions)}

    def _delete(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        Fields(fields, ())
        self._store.delete(request.path_params["id"])
        return {"deleted": request.path_params["id"]}

    async def _wait(self, request: Request) -> Response:
        """Respond with the game once its revision differs from the given one, or without it after a timeout."""
        game_id = request.path_params["id"]
        known = query_integer(request.query_params, "revision", 0, 10**12, 0)
        event = self._changes.watch(game_id)
        try:
            if await run_in_threadpool(self._store.revision, game_id) == known:
                gone = asyncio.ensure_future(disconnected(request))
                changed = asyncio.ensure_future(event.wait())
                try:
                    await asyncio.wait([gone, changed], timeout=_WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    gone.cancel()
                    changed.cancel()
        finally:
            self._changes.unwatch(game_id, event)
        if await run_in_threadpool(self._store.revision, game_id) == known:
            return JSONResponse({"revision": known, "changed": False})
        stored = await run_in_threadpool(self._store.load, game_id)
        return JSONResponse(await run_in_threadpool(game_view, stored, self._positions) | {"changed": True})

    def _import(self, _: Request, fields: dict[str, Any]) -> dict[str, Any]:
        text = Fields(fields, ("text",)).text("text", self._limits.body_bytes)
        created = self._store.create(records.games_of(text, self._positions, self._limits))
        return {"games": [game_summary(game) for game in created]}

    def _record(self, request: Request) -> Response:
        record = records.record_of(self._store.load(request.path_params["id"]), self._positions)
        return _download(record.to_json() + "\n", f"{record.game.partition('(')[0]}-{request.path_params['id']}.jsonl")

    def _export_all(self, _: Request) -> Response:
        """Return the records of all games that can be replayed; the others are counted in a header."""
        lines, num_left_out = [], 0
        for game_id in self._store.all_ids():
            try:
                lines.append(records.record_of(self._store.load(game_id), self._positions).to_json())
            except RequestError:  # of another version of the rules, without its plug-in, damaged, or just deleted
                num_left_out += 1
        response = _download("".join(line + "\n" for line in lines), "games.jsonl")
        response.headers["stoneworks-games-left-out"] = str(num_left_out)
        return response


def _nodes(stored: StoredGame, positions: Positions) -> dict[str, Any]:
    """Return the tree as rows of node, parent, action, comment, player and color, parents before children."""
    movers = play.movers_of(stored, positions)
    rows = [
        [node.node, node.parent, node.action, node.comment, *movers.get(node.node, (None, None))]
        for _, node in sorted(stored.nodes.items())
    ]
    return {"nodes": rows, "current": stored.current, "revision": stored.revision}


def _players(given: Any, game: Game, limits: Limits) -> tuple[str | None, str | None]:
    if not isinstance(given, list) or len(given) != 2:
        raise RequestError("players must be a list of two: a bot's name, or null for a person")
    players: list[str | None] = []
    for player in given:
        if player is not None and (not isinstance(player, str) or len(player) > BOT_CHARACTERS):
            raise RequestError("players must hold the name of a bot, or null for a person")
        players.append(None if player is None else check_bot_name(player, game, limits))
    return players[0], players[1]


def _download(text: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/x-ndjson", headers=headers)
