"""Routes for request handlers, with JSON responses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from stoneworks.web.fields import parse_object

#: Maximum numbers of characters in requests.
GAME_CHARACTERS = 200
ACTION_CHARACTERS = 16
BOT_CHARACTERS = 40
#: Upper bound on the number of actions in a game.
MAX_ACTIONS = 20_000


def get(path: str, handle: Callable[[Request], Any]) -> Route:
    """Return a route for GET; ``handle`` runs in a thread and returns a response or a JSON-serializable value."""

    async def respond(request: Request) -> Response:
        answer = await run_in_threadpool(handle, request)
        return answer if isinstance(answer, Response) else JSONResponse(answer)

    return Route(path, respond, methods=["GET"])


def post(path: str, handle: Callable[[Request, dict[str, Any]], Any]) -> Route:
    """Return a route for POST of a JSON object; a plain function runs in a thread, a coroutine in the event loop."""

    async def respond(request: Request) -> Response:
        fields = parse_object(await request.body())
        if asyncio.iscoroutinefunction(handle):
            return JSONResponse(await handle(request, fields))
        return JSONResponse(await run_in_threadpool(handle, request, fields))

    return Route(path, respond, methods=["POST"])


def long_poll(path: str, handle: Callable[[Request], Awaitable[Response]]) -> Route:
    """Return a route for GET whose handler is a coroutine."""
    return Route(path, handle, methods=["GET"])
