"""Security middleware: request validation, size limits and response headers."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stoneworks.web.requests import MAX_BODY_BYTES, RequestError, error_answer

_LOG = logging.getLogger(__name__)

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
)
#: A Host header: a name, or an address of IPv6 in brackets, and a port.
_HOST = re.compile(r"(?:\[(?P<ip>[0-9a-f.:]+)\]|(?P<name>[0-9a-z._-]+))(?::[0-9]{1,5})?", re.ASCII)
_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """ASGI middleware that validates requests, adds security headers, and converts errors to JSON.

    Removes the root path, and checks the Host header (against DNS rebinding), Origin and content type (against cross-site
    request forgery), and the size and number of requests.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], max_requests: int, root_path: str = "") -> None:
        self._app = app
        self._root_path = root_path
        self._hosts = {host.lower() for host in hosts}
        self._max_requests = max_requests
        self._num_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            elif scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        self._num_requests += 1
        try:
            if self._num_requests > self._max_requests:
                raise RequestError(f"the server is answering {self._max_requests} requests; try again later", 503)
            if self._root_path and scope["path"].startswith(f"{self._root_path}/"):
                scope = {**scope, "path": scope["path"].removeprefix(self._root_path)}
            self._check(scope)
            await self._app(scope, self._bounded(receive), send_with_headers)
        except RequestError as error:
            if not started:
                answer = error_answer(error)
                answer.headers["connection"] = "close"
                await answer(scope, receive, send_with_headers)
        except Exception:  # the application has answered
            _LOG.exception("the request %s %s failed", scope["method"], scope["path"])
        finally:
            self._num_requests -= 1

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        for name in ("host", "origin", "content-type", "content-length"):
            if len(headers.getlist(name)) > 1:
                raise RequestError(f"duplicate header {name}")
        host = headers.get("host", "")
        named = _HOST.fullmatch(host.lower())
        # The address of the connection itself, of IPv4 also on a socket of IPv6, is safe: DNS rebinding needs a name.
        own = scope["server"][0].removeprefix("::ffff:")
        if named is None or (named["ip"] or named["name"]) not in {*self._hosts, own}:
            raise RequestError(f"host {host[:80]!r} is not served here", 403)
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            raise RequestError(f"requests from {origin[:80]!r} are not allowed", 403)
        is_api = scope["path"].startswith("/api/")
        if is_api and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise RequestError("requests from other sites are not allowed", 403)
        content_type = headers.get("content-type", "").partition(";")[0].strip()
        if scope["method"] == "POST" and content_type != "application/json":
            raise RequestError("the content type must be application/json", 415)

    def _bounded(self, receive: Receive) -> Receive:
        received = 0

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MAX_BODY_BYTES:
                raise RequestError(f"the body must have at most {MAX_BODY_BYTES} bytes", 413)
            return message

        return bounded
