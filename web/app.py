"""The ASGI application: the routes of the JSON API, the page and its static files, and errors as JSON."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from stoneworks.web.errors import RequestError
from stoneworks.web.limits import Limits
from stoneworks.web.routes.games import GameRoutes
from stoneworks.web.routes.positions import PositionRoutes
from stoneworks.web.routes.thinking import ThinkingRoutes
from stoneworks.web.routes.watching import WatchingRoutes
from stoneworks.web.security import Guard
from stoneworks.web.services import Services

STATIC_FOLDER = Path(__file__).parent / "static"
#: Number of handler threads; most of them wait for the disk, where concurrent writes share one commit.
_MAX_THREADS = 24


class Web:
    """The web application.

    Attributes:
        services: the parts of the server that all request handlers use.
    """

    def __init__(
        self,
        data: Path,
        watched: Sequence[Path] = (),
        *,
        hosts: Iterable[str] = ("localhost", "127.0.0.1", "::1"),
        num_workers: int = 2,
        limits: Limits | None = None,
    ) -> None:
        """Open the database and start the worker processes.

        Args:
            data: folder of the database.
            watched: folders and files to watch.
            hosts: allowed values of the ``Host`` header.
            num_workers: number of worker processes for bots.
            limits: resource limits.
        """
        self.services = Services(data, watched, num_workers, limits or Limits())
        self._hosts = hosts

    def application(self) -> ASGIApp:
        """Create the ASGI application."""
        services = self.services
        routes: list[Route | Mount] = [
            *PositionRoutes(services).routes,
            *GameRoutes(services).routes,
            *ThinkingRoutes(services).routes,
            *WatchingRoutes(services).routes,
            Route("/api/{rest:path}", _no_such_route, methods=["GET", "POST"]),
            Mount("/static", StaticFiles(directory=STATIC_FOLDER)),
            Route("/favicon.ico", _icon),
            *(Route(path, _page) for path in ("/", "/play/{id}", "/analyze", "/analyze/{id}", "/watch")),
        ]
        application = Starlette(
            routes=routes,
            lifespan=self._lifespan,
            middleware=[Middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)],
            exception_handlers={RequestError: _request_error, HTTPException: _http_error, Exception: _internal_error},
        )
        return Guard(application, self._hosts, services.limits.body_bytes, services.limits.requests)

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = _MAX_THREADS
        yield
        self.services.close()


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
