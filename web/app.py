"""ASGI application: routes of the JSON API and static files."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from stoneworks.envs.rules import IllegalActionError
from stoneworks.web import play, records
from stoneworks.web.agents import adviser_for, bot_for, bots_for, check_bot_name
from stoneworks.web.changes import Changes
from stoneworks.web.errors import RequestError
from stoneworks.web.fields import Fields, parse_object, query_integer
from stoneworks.web.jobs import SharedJobs, disconnected
from stoneworks.web.limits import Limits
from stoneworks.web.positions import Line, Positions, describe, game_descriptions
from stoneworks.web.security import Guard
from stoneworks.web.store import Store, StoredGame
from stoneworks.web.watch import Watch
from stoneworks.web.workers import WorkerPool

STATIC_FOLDER = Path(__file__).parent / "static"
#: Timeout of a long-polling request for changes of a game.
_WAIT_SECONDS = 25.0
#: Number of handler threads; most of them wait for the disk, where concurrent writes share one commit.
_MOST_THREADS = 24
_MOST_ANALYSES = 1000
#: Upper bound on the number of actions in a game.
_MOST_ACTIONS = 20_000
_GAME_CHARACTERS = 200
_ACTION_CHARACTERS = 16
_TITLE_CHARACTERS = 100
_NAME_CHARACTERS = 40

_Handler = Callable[[Request], Awaitable[Response]]


@dataclass
class Web:
    """State and request handlers of the web application.

    Attributes:
        data: folder of the database.
        watched: folders and files to watch.
        hosts: allowed values of the ``Host`` header.
        num_workers: number of worker processes for bots.
        limits: resource limits.
    """

    data: Path
    watched: Sequence[Path] = ()
    hosts: Iterable[str] = ("localhost", "127.0.0.1", "::1")
    num_workers: int = 2
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.changes = Changes()
        self.watch = Watch(self.watched, self.limits)
        self.store = Store(self.data, self.limits.games, self.limits.nodes, self.changes.notify)
        self.positions = Positions(self.limits)
        self.pool = WorkerPool(self.num_workers, self.limits.thinking_seconds, self.limits.waiting_requests)
        self._jobs = SharedJobs()
        self._analyses: OrderedDict[Any, dict[str, Any]] = OrderedDict()

    def application(self) -> ASGIApp:
        """Create the ASGI application."""
        routes: list[Route | Mount] = [
            Route("/api/info", _get(self._info)),
            Route("/api/bots", _get(self._bots)),
            Route("/api/bot", _get(self._bot)),
            Route("/api/position", self._post(self._position), methods=["POST"]),
            Route("/api/analyze", self._post(self._analyze), methods=["POST"]),
            Route("/api/values", self._post(self._values), methods=["POST"]),
            Route("/api/games", _get(self._games), methods=["GET"]),
            Route("/api/games", self._post(self._new_game), methods=["POST"]),
            Route("/api/import", self._post(self._import), methods=["POST"]),
            Route("/api/export", _get(self._export_all)),
            Route("/api/games/{id}", _get(self._game), methods=["GET"]),
            Route("/api/games/{id}/tree", _get(self._tree)),
            Route("/api/games/{id}/wait", _plain(self._wait)),
            Route("/api/games/{id}/record", _get(self._record)),
            Route("/api/games/{id}/delete", self._post(self._delete), methods=["POST"]),
            Route("/api/games/{id}/bot", self._post(self._bot_turn), methods=["POST"]),
            Route("/api/games/{id}/hint", self._post(self._hint), methods=["POST"]),
            Route("/api/games/{id}/variation", self._post(self._variation), methods=["POST"]),
            *(
                Route(f"/api/games/{{id}}/{name}", self._post(change), methods=["POST"])
                for name, change in self._changes_of_games().items()
            ),
            Route("/api/watch", _get(self._sources)),
            Route("/api/watch/records", _get(self._watched_records)),
            Route("/api/watch/record", _get(self._watched_record)),
            Route("/api/watch/arena", _get(lambda request: self.watch.arena(request.query_params.get("source", "")))),
            Route("/api/watch/run", _get(lambda request: self.watch.run(request.query_params.get("source", "")))),
            Route("/api/{rest:path}", _plain(_no_such_route), methods=["GET", "POST"]),
            Mount("/static", StaticFiles(directory=STATIC_FOLDER)),
            Route("/favicon.ico", _plain(_icon)),
            *(Route(path, _plain(_page)) for path in ("/", "/play/{id}", "/analyze", "/analyze/{id}", "/watch")),
        ]
        application = Starlette(
            routes=routes,
            lifespan=self._lifespan,
            middleware=[Middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)],
            exception_handlers={RequestError: _request_error, HTTPException: _http_error, Exception: _internal_error},
        )
        return Guard(application, self.hosts, self.limits.body_bytes, self.limits.requests)

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = _MOST_THREADS
        yield
        self.pool.close()
        self.store.close()

    def _post(self, handle: Callable[[Request, dict[str, Any]], Any]) -> _Handler:
        """Return a route that reads a JSON object; a plain function runs in a thread, a coroutine in the event loop."""

        async def route(request: Request) -> Response:
            fields = parse_object(await request.body())
            if asyncio.iscoroutinefunction(handle):
                return JSONResponse(await handle(request, fields))
            return JSONResponse(await run_in_threadpool(handle, request, fields))

        return route

    # -- Games and bots ----------------------------------------------------------------------------------------------------

    def _info(self, _: Request) -> dict[str, Any]:
        return {
            "games": game_descriptions(),
            "limits": {
                "thinking_seconds": self.limits.thinking_seconds,
                "comment_characters": self.limits.comment_characters,
                "curve_positions": self.limits.curve_positions,
            },
            "watching": bool(self.watched),
        }

    def _bots(self, request: Request) -> dict[str, Any]:
        game = self.positions.game(request.query_params.get("game", ""))
        return {"game": str(game), "bots": bots_for(game)}

    def _bot(self, request: Request) -> dict[str, Any]:
        """Return a bot that was typed by name."""
        game = self.positions.game(request.query_params.get("game", ""))
        return bot_for(request.query_params.get("name", ""), game, self.limits)

    def _position(self, _: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Describe a position, optionally with a policy as a heat map and a line as numbered stones."""
        given = Fields(fields, ("game", "actions", "heat", "line"))
        line = self._line(given)
        game = line.state.get_game()
        policy = None
        if "heat" in given:
            policy = np.zeros(game.num_distinct_actions())
            for text, value in given.object("heat", _MOST_ACTIONS).items():
                if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
                    raise RequestError(f"heat must hold numbers from 0 to 1, got {value!r}")
                policy[_action_index(game, text)] = value
        return describe(line, policy=policy, shown_line=given.texts("line", 64, _ACTION_CHARACTERS))

    def _line(self, fields: Fields) -> Line:
        game = self.positions.game(fields.text("game", _GAME_CHARACTERS))
        return self.positions.line(game, fields.texts("actions", _MOST_ACTIONS, _ACTION_CHARACTERS))

    # -- Stored games ------------------------------------------------------------------------------------------------------

    def _games(self, request: Request) -> dict[str, Any]:
        first = query_integer(request.query_params, "first", 0, 10**9, 0)
        count = query_integer(request.query_params, "count", 1, self.limits.rows, 50)
        stored, number = self.store.recent(first, count)
        return {"games": [_summary(game) for game in stored], "total": number}

    def _new_game(self, _: Request, fields: dict[str, Any]) -> dict[str, Any]:
        given = Fields(fields, ("game", "options", "players", "confirm", "actions", "title", "tree"))
        game = self.positions.game(given.text("game", _GAME_CHARACTERS), given.object("options"))
        line = self.positions.line(game, given.texts("actions", _MOST_ACTIONS, _ACTION_CHARACTERS))
        tree = given.raw("tree")
        new = play.new_game(
            game,
            line,
            self._players(given.raw("players"), game),
            confirm=given.boolean("confirm", False),
            title=given.text("title", _TITLE_CHARACTERS, ""),
            nodes=() if tree is None else records.nodes_of(tree, game, line.actions, self.positions, self.limits),
        )
        return self._view(self.store.create([new])[0])

    def _players(self, given: Any, game: Any) -> tuple[str | None, str | None]:
        if not isinstance(given, list) or len(given) != 2:
            raise RequestError("players must be a list of two: a bot's name, or null for a person")
        players: list[str | None] = []
        for player in given:
            if player is not None and (not isinstance(player, str) or len(player) > _NAME_CHARACTERS):
                raise RequestError("players must hold the name of a bot, or null for a person")
            players.append(None if player is None else check_bot_name(player, game, self.limits))
        return players[0], players[1]

    def _game(self, request: Request) -> dict[str, Any]:
        return self._view(self.store.load(request.path_params["id"]))

    def _tree(self, request: Request) -> dict[str, Any]:
        stored = self.store.load(request.path_params["id"])
        return _summary(stored) | self._nodes(stored)

    def _nodes(self, stored: StoredGame) -> dict[str, Any]:
        """Return the tree as rows of node, parent, action, comment, player and color, parents before children."""
        movers = play.movers_of(stored, self.positions)
        rows = [
            [node.node, node.parent, node.action, node.comment, *movers.get(node.node, (None, None))]
            for _, node in sorted(stored.nodes.items())
        ]
        return {"nodes": rows, "current": stored.current, "revision": stored.revision}

    def _changes_of_games(self) -> dict[str, Callable[[Request, dict[str, Any]], Any]]:
        """Return the handlers of user actions that change a game, by name."""
        positions = self.positions

        def route(
            known: tuple[str, ...], make: Callable[[StoredGame, Fields], StoredGame]
        ) -> Callable[[Request, dict[str, Any]], Any]:
            def handle(request: Request, fields: dict[str, Any]) -> dict[str, Any]:
                given = Fields(fields, known)
                return self._view(self.store.change(request.path_params["id"], lambda stored: make(stored, given)))

            return handle

        def node(given: Fields) -> int:
            return given.integer("node", 0, 10**9)

        def players(stored: StoredGame, given: Fields) -> StoredGame:
            return play.seat(stored, self._players(given.raw("players"), positions.game(stored.game)))

        return {
            "act": route(
                ("node", "action"),
                lambda stored, given: play.act(
                    stored, positions, node(given), given.text("action", _ACTION_CHARACTERS)
                ),
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
                    stored, node(given), given.text("text", self.limits.comment_characters)
                ),
            ),
            "prune": route(("node",), lambda stored, given: play.prune(stored, node(given))),
        }

    def _variation(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        given = Fields(fields, ("node", "actions"))
        parent = given.integer("node", 0, 10**9)
        actions = given.texts("actions", 1000, _ACTION_CHARACTERS)
        stored = self.store.change(
            request.path_params["id"],
            lambda stored: play.add_variation(stored, self.positions, parent, actions),
        )
        return self._nodes(stored) | {"node": play.node_after(stored, parent, actions)}

    def _delete(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        Fields(fields, ())
        self.store.delete(request.path_params["id"])
        return {"deleted": request.path_params["id"]}

    def _view(self, stored: StoredGame) -> dict[str, Any]:
        """Return a game as JSON for the game page."""
        line = play.line_of(stored, self.positions)
        view = _summary(stored) | {
            "revision": stored.revision,
            "current": stored.current,
            "committed": stored.committed,
            "line": [0, *(node.node for node in stored.path(stored.current))],
            "num_committed": len(stored.path(stored.committed)),
            "confirm": stored.confirm,
            "complete_turn": play.turn_is_complete(stored, line),
            "turns": _turns(line),
        }
        position = describe(line)
        over = stored.reason is not None
        bot_to_move = not over and position["player"] is not None and stored.players[position["player"]] is not None
        if over or bot_to_move or view["complete_turn"]:
            position |= {"legal": [], "buttons": [], "places": {}, "icons": {}}
        view["position"] = position
        view["bot_to_move"] = bot_to_move and stored.current == stored.committed
        return view

    async def _wait(self, request: Request) -> Response:
        """Respond with the game once its revision differs from the given one, or without it after a timeout."""
        game_id = request.path_params["id"]
        known = query_integer(request.query_params, "revision", 0, 10**12, 0)
        event = self.changes.watch(game_id)
        try:
            if await run_in_threadpool(self.store.revision, game_id) == known:
                gone = asyncio.ensure_future(disconnected(request))
                changed = asyncio.ensure_future(event.wait())
                try:
                    await asyncio.wait([gone, changed], timeout=_WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    gone.cancel()
                    changed.cancel()
        finally:
            self.changes.unwatch(game_id, event)
        if await run_in_threadpool(self.store.revision, game_id) == known:
            return JSONResponse({"revision": known, "changed": False})
        stored = await run_in_threadpool(self.store.load, game_id)
        return JSONResponse(await run_in_threadpool(self._view, stored) | {"changed": True})

    # -- Records -----------------------------------------------------------------------------------------------------------

    def _import(self, _: Request, fields: dict[str, Any]) -> dict[str, Any]:
        text = Fields(fields, ("text",)).text("text", self.limits.body_bytes)
        created = self.store.create(records.games_of(text, self.positions, self.limits))
        return {"games": [_summary(game) for game in created]}

    def _record(self, request: Request) -> Response:
        record = records.record_of(self.store.load(request.path_params["id"]), self.positions)
        return _download(record.to_json() + "\n", f"{record.game.partition('(')[0]}-{request.path_params['id']}.jsonl")

    def _export_all(self, _: Request) -> Response:
        lines = [
            records.record_of(self.store.load(game_id), self.positions).to_json() for game_id in self.store.all_ids()
        ]
        return _download("".join(line + "\n" for line in lines), "games.jsonl")

    # -- Thinking ----------------------------------------------------------------------------------------------------------

    async def _bot_turn(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Play the turn of the bot to move."""
        game_id = request.path_params["id"]
        node = Fields(fields, ("node",)).integer("node", 0, 10**9)

        def prepare() -> dict[str, Any]:
            stored = self.store.load(game_id)
            play.check_current(stored, node)
            if stored.current != stored.committed:
                raise RequestError("a turn is in progress", 409)
            line = play.line_of(stored, self.positions)
            bot = stored.players[play.player_to_move(stored, line)]
            if bot is None:
                raise RequestError("a person is to move", 409)
            return {"kind": "turn", "game": stored.game, "actions": list(line.actions), "bot": bot}

        async def make() -> dict[str, Any]:
            answer = await self.pool.run(await run_in_threadpool(prepare))
            stored = await run_in_threadpool(
                self.store.change,
                game_id,
                lambda stored: play.play_turn(stored, self.positions, node, answer["actions"]),
            )
            return await run_in_threadpool(self._view, stored)

        return await self._jobs.run(request, ("turn", game_id, node), make)

    async def _hint(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the actions that a bot suggests for the rest of the turn."""
        node = Fields(fields, ("node",)).integer("node", 0, 10**9)

        def prepare() -> dict[str, Any]:
            stored = self.store.load(request.path_params["id"])
            play.check_current(stored, node)
            line = play.line_of(stored, self.positions)
            play.player_to_move(stored, line)
            bot = adviser_for(line.state.get_game())
            return {"kind": "turn", "game": stored.game, "actions": list(line.actions), "bot": bot}

        job = await run_in_threadpool(prepare)
        answer = await self._jobs.run(request, ("hint", job["game"], tuple(job["actions"])), lambda: self.pool.run(job))
        return {"bot": job["bot"], "actions": answer["actions"]}

    async def _analyze(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Return a bot's analysis of a position (see :func:`stoneworks.web.thinking.analyze`)."""
        given = Fields(fields, ("game", "actions", "bot"))

        def prepare() -> dict[str, Any]:
            line = self._line(given)
            game = line.state.get_game()
            bot = check_bot_name(given.text("bot", _NAME_CHARACTERS), game, self.limits)
            if line.state.is_terminal():
                raise RequestError("the game is over", 409)
            return {"kind": "analyze", "game": str(game), "actions": list(line.actions), "bot": bot}

        return await self._remembered(request, await run_in_threadpool(prepare))

    async def _values(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the values, for player 0, of a range of positions, for the value curve."""
        given = Fields(fields, ("game", "actions", "bot", "first", "count"))

        def prepare() -> dict[str, Any]:
            line = self._line(given)
            game = line.state.get_game()
            first = given.integer("first", 0, len(line.actions), 0)
            most = min(self.limits.curve_positions, len(line.actions) + 1 - first)
            return {
                "kind": "values",
                "game": str(game),
                "actions": list(line.actions),
                "bot": check_bot_name(given.text("bot", _NAME_CHARACTERS), game, self.limits),
                "first": first,
                "count": given.integer("count", 1, most, most),
            }

        return await self._remembered(request, await run_in_threadpool(prepare))

    async def _remembered(self, request: Request, job: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a job, from the cache if an equal job has been run."""
        key = tuple(tuple(value) if isinstance(value, list) else value for value in job.values())
        if key not in self._analyses:
            self._analyses[key] = await self._jobs.run(request, key, lambda: self.pool.run(job))
            while len(self._analyses) > _MOST_ANALYSES:
                self._analyses.popitem(last=False)
        return self._analyses[key]

    # -- Watching ----------------------------------------------------------------------------------------------------------

    def _sources(self, _: Request) -> dict[str, Any]:
        return {"sources": self.watch.sources()}

    def _watched_records(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        first = query_integer(query, "first", 0, 10**9, 0)
        count = query_integer(query, "count", 1, self.limits.rows, 50)
        return self.watch.records(query.get("source", ""), query, first, count)

    def _watched_record(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        fields = self.watch.record(query.get("source", ""), query_integer(query, "index", 0, 10**9, 0))
        line = self.positions.line(self.positions.game(fields["game"]), fields["actions"])
        return fields | {"turns": _turns(line)}


def _get(handle: Callable[[Request], Any]) -> _Handler:
    """Return a route that runs a plain function in a thread."""

    async def route(request: Request) -> Response:
        answer = await run_in_threadpool(handle, request)
        return answer if isinstance(answer, Response) else JSONResponse(answer)

    return route


def _plain(handle: _Handler) -> _Handler:
    return handle


def _action_index(game: Any, text: str) -> int:
    try:
        return int(game.string_to_action(text))
    except IllegalActionError as error:
        raise RequestError(str(error)) from None


def _summary(stored: StoredGame) -> dict[str, Any]:
    return {
        "id": stored.id,
        "game": stored.game,
        "title": stored.title,
        "players": list(stored.players),
        "result": None if stored.reason is None else {"winner": stored.winner, "reason": stored.reason},
        "created": stored.created,
        "updated": stored.updated,
    }


def _turns(line: Line) -> list[list[Any]]:
    """Return the turns of a line, each with its player, the texts of its actions and the player's color."""
    colors = line.state.get_game().colors
    turns: list[list[Any]] = []
    for action, player, color in zip(line.actions, line.movers, line.mover_colors, strict=True):
        if turns and turns[-1][0] == player:
            turns[-1][1].append(action)
        else:
            turns.append([player, [action], colors[color]])
    return turns


def _download(text: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/x-ndjson", headers=headers)


async def _page(_: Request) -> Response:
    return FileResponse(STATIC_FOLDER / "index.html", headers={"cache-control": "no-cache"})


async def _icon(_: Request) -> Response:
    return FileResponse(STATIC_FOLDER / "icon.svg")


async def _no_such_route(request: Request) -> Response:
    raise RequestError(f"there is no {request.method} {request.url.path[:80]}", 404)


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error": {"status": status, "message": message}}, status)


async def _request_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return _error(error.status, str(error))


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(error.status_code, error.detail)


async def _internal_error(_: Request, __: Exception) -> Response:
    return _error(500, "internal error; the server's log has the details")
