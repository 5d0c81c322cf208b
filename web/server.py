"""Web server based on uvicorn."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from stoneworks.models.processors import num_processors
from stoneworks.web.limits import Limits

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


def serve(
    data: Path,
    watched: Sequence[Path] = (),
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    allowed_hosts: Sequence[str] = (),
    num_workers: int | None = None,
    limits: Limits | None = None,
    started: Callable[[str], None] = lambda _: None,
) -> None:
    """Run the web server until the process is interrupted.

    Args:
        data: folder of the stored games.
        watched: folders and files to watch. Only these and the data folder can be read.
        host: the address to listen on.
        port: the port to listen on; 0 for any that is free.
        allowed_hosts: additional allowed values of the Host header.
        num_workers: number of worker processes for bots; by default the number of processors minus one, at most 4.
        limits: resource limits.
        started: called with the server's URL once it is listening.

    Raises:
        ValueError: an argument is invalid, or a library of the extra ``web`` is missing.
        OSError: the address is in use, or the data folder cannot be written to.
    """
    try:
        import uvicorn

        from stoneworks.web.app import Web
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "starlette", "anyio", "h11"):
            raise
        raise ValueError(f'the page needs {error.name}: pip install "stoneworks[web]"') from None
    if not 0 <= port <= 65535:
        raise ValueError(f"port must be an integer from 0 to 65535, got {port}")
    if num_workers is not None and num_workers < 1:
        raise ValueError(f"workers must be an integer >= 1, got {num_workers}")
    limits = limits or Limits()
    web = Web(
        data,
        watched,
        hosts={*_LOOPBACK_NAMES, *_names_of(host), *allowed_hosts},
        num_workers=num_workers or max(1, min(4, num_processors() - 1)),
        limits=limits,
    )
    listening = _listen(host, port)
    config = uvicorn.Config(
        web.application(),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=75,
        limit_concurrency=2 * limits.requests,  # connections; the application limits requests, and answers in JSON
        h11_max_incomplete_event_size=65536,
    )
    name = f"[{host}]" if ":" in host else host
    started(f"http://{name}:{listening.getsockname()[1]}/")
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


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
