"""The web server: its parts, its routes, and ``serve``, which runs it with uvicorn."""

from __future__ import annotations

import contextlib
import html
import ipaddress
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from stoneworks.models.machine import num_processors
from stoneworks.web.agents import Agents
from stoneworks.web.analyzing import AnalysisRoutes
from stoneworks.web.board import ENGINE_FOLDER, STATIC_FOLDER, Positions
from stoneworks.web.bot_processes import BotProcesses
from stoneworks.web.playing import Changes, GameRoutes
from stoneworks.web.requests import INTERNAL_ERROR, RequestError, error_answer
from stoneworks.web.security import Guard
from stoneworks.web.store import Store
from stoneworks.web.watching import Watch

#: Addresses of the page; the last one answers with status 404.
_PAGES = ("/", "/play/{id}", "/learn/{name}", "/rules/{name}", "/analyze", "/analyze/{id}", "/watch", "/{rest:path}")
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
#: Number of concurrent requests, including those that wait for changes of a game.
_MAX_REQUESTS = 1000
#: Number of handler threads; most of them wait for the disk, where concurrent writes share one flush.
_MAX_THREADS = 24


@dataclass(frozen=True)
class Address:
    """Where a server is reached.

    Attributes:
        host: the address to listen on.
        port: the port to listen on; 0 for any that is free.
        allowed_hosts: additional allowed values of the Host header.
        root_path: prefix of all addresses behind a proxy, such as ``"/games"``; the proxy may remove it or not.

    Raises:
        ValueError: ``root_path`` is not a path.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    allowed_hosts: tuple[str, ...] = ()
    root_path: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"((/[\w.~-]+)+/?)?", self.root_path, re.ASCII):
            raise ValueError(f"root_path must be a path such as /games, got {self.root_path!r}")


class Web:
    """The web application."""

    def __init__(
        self,
        data: Path,
        watched: Sequence[Path] = (),
        *,
        hosts: Iterable[str] = _LOOPBACK_NAMES,
        num_workers: int = 2,
        agents: Agents | None = None,
        root_path: str = "",
    ) -> None:
        """Open the database; the processes of bots start when they are needed.

        Args:
            data: folder of the database.
            watched: folders and files to watch, in addition to those of the agents.
            hosts: allowed values of the ``Host`` header.
            num_workers: number of worker processes for bots.
            agents: the bots that may be named; by default those that start no programs and read no files.
            root_path: prefix of all addresses behind a proxy, such as ``"/games"``.

        Raises:
            ValueError: a watched path does not exist, or the file in ``data`` is not a database of games.
            OSError: the data folder cannot be written to.
        """
        self._changes, positions = Changes(), Positions()
        agents = agents or Agents()
        watch = Watch([*watched, *(folder for folder in agents.folders if folder not in watched)], agents)
        self._store = Store(data, changed=self._changes.notify)
        self._processes = BotProcesses(num_workers, agents.thinking_seconds)
        self._routes = [
            *AnalysisRoutes(positions, agents, self._processes, watching=bool(watch.roots)).routes,
            *GameRoutes(self._store, self._changes, positions, agents, self._processes).routes,
            *watch.routes(positions),
            Route("/api/{rest:path}", _no_such_route, methods=["GET", "POST"]),
            Mount("/static", _UpToDateFiles(directory=STATIC_FOLDER)),
            Mount("/engine", _UpToDateFiles(directory=ENGINE_FOLDER)),
            *(Route(path, self._page) for path in _PAGES),
        ]
        self._hosts = hosts
        self._root_path = root_path.rstrip("/")
        page = (STATIC_FOLDER / "index.html").read_text(encoding="utf-8")
        self._html = page.replace('<base href="/">', f'<base href="{html.escape(self._root_path)}/">')

    def application(self) -> ASGIApp:
        """Create the ASGI application."""
        application = Starlette(
            routes=self._routes,
            lifespan=self._lifespan,
            middleware=[Middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)],
            exception_handlers=dict.fromkeys((RequestError, HTTPException, Exception), _answer_error),
        )
        return Guard(application, self._hosts, _MAX_REQUESTS, self._root_path)

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = _MAX_THREADS
        self._processes.start()
        yield
        self.close()

    async def _page(self, request: Request) -> Response:
        status = 404 if "rest" in request.path_params else 200
        return HTMLResponse(self._html, status, headers={"cache-control": "no-cache"})

    def end_requests(self) -> None:
        """Answer the requests that wait for a change of a game or for a bot."""
        self._changes.end()
        self._processes.end()

    def close(self) -> None:
        """Stop the processes of bots and close the database."""
        self._processes.close()
        self._store.close()


async def _no_such_route(request: Request) -> Response:
    raise RequestError(f"there is no {request.method} {request.url.path[:80]}", 404)


async def _answer_error(_: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        error = RequestError(error.detail, error.status_code)
    elif not isinstance(error, RequestError):
        error = RequestError(INTERNAL_ERROR, 500)
    return error_answer(error)


class _UpToDateFiles(StaticFiles):
    """Files that browsers compare with the server's at each use: after an upgrade, old and new ones do not fit."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, or that it has not changed."""
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        return response


def serve(
    data: Path,
    watched: Sequence[Path] = (),
    *,
    address: Address | None = None,
    num_workers: int | None = None,
    agents: Agents | None = None,
    started: Callable[[str], None] = lambda _: None,
) -> None:
    """Run the web server until the process is interrupted.

    Args:
        data: folder of the stored games.
        watched: folders and files to watch. Only these and the data folder can be read.
        address: where to listen; by default port 8000 of the loopback address.
        num_workers: number of worker processes for bots; by default the number of processors minus one, at most 4.
        agents: the bots that may play and analyze; by default those that start no programs and read no files. Their folders
            are watched as well.
        started: called with a URL that the server accepts, once it is listening.

    Raises:
        ValueError: a watched path does not exist, or the file in ``data`` is not a database of games.
        OSError: the address is in use, or the data folder cannot be written to.
    """
    address = address or Address()
    web = Web(
        data,
        watched,
        hosts={*_LOOPBACK_NAMES, *_names_of(address.host), *address.allowed_hosts},
        num_workers=num_workers or max(1, min(4, num_processors() - 1)),
        agents=agents,
        root_path=address.root_path,
    )
    config = uvicorn.Config(
        web.application(),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=75,
        limit_concurrency=2 * _MAX_REQUESTS,  # connections; the application limits requests, and answers in JSON
        h11_max_incomplete_event_size=65536,
    )
    with _listen(address.host, address.port) as listening:
        name = next(iter(_names_of(address.host)), "::1" if ":" in address.host else "127.0.0.1")
        name = f"[{name}]" if ":" in name else name
        started(f"http://{name}:{listening.getsockname()[1]}{address.root_path.rstrip('/')}/")
        _Server(config, web.end_requests).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that calls ``end_requests`` before it waits for the requests under way."""

    def __init__(self, config: uvicorn.Config, end_requests: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_requests = end_requests

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_requests()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, asyncio disables Nagle's algorithm, which would delay every response by 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(512)
    except OSError as error:
        listening.close()
        raise OSError(error.errno, f"{error.strerror}: {host} port {port}") from None
    return listening


def _names_of(host: str) -> tuple[str, ...]:
    """Return the allowed host names of a listening address: the address itself, unless it is a wildcard address."""
    try:
        return () if ipaddress.ip_address(host).is_unspecified else (host,)
    except ValueError:
        return (host,)
