"""Requests of the page and their answers: the routes that parse and send them, and what the typed documents share.

Requests are documents, which pydantic checks. Answers are typed dictionaries, which mypy checks where they are made.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from stoneworks.documents import Document, Tuple
from stoneworks.reading import parse_json

#: Maximum size of a request's body.
MAX_BODY_BYTES = 1_000_000
#: Maximum number of actions in a request; games are shorter.
MAX_ACTIONS = 20_000
#: Maximum number of characters of a comment.
MAX_COMMENT_CHARACTERS = 4000

#: Message of a response to a request that failed unexpectedly.
INTERNAL_ERROR = "internal error; the server's log has the details"

_WITHOUT_NULL = r"^[^\x00]*$"
GameString = Annotated[str, Field(max_length=200, pattern=_WITHOUT_NULL)]
BotName = Annotated[str, Field(max_length=200, pattern=_WITHOUT_NULL)]
ActionText = Annotated[str, Field(max_length=16, pattern=_WITHOUT_NULL)]
Actions = Annotated[Tuple[ActionText], Field(max_length=MAX_ACTIONS)]
Title = Annotated[str, Field(max_length=100, pattern=_WITHOUT_NULL)]
Comment = Annotated[str, Field(max_length=MAX_COMMENT_CHARACTERS, pattern=_WITHOUT_NULL)]


class RequestError(ValueError):
    """Raised when a request is invalid or cannot be served. The message is shown to the user.

    Attributes:
        status: the HTTP status code of the response.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Body(Document):
    """Base class of the JSON objects that are posted; itself the empty object."""

    error: ClassVar[type[ValueError]] = RequestError


class Query(Body):
    """Base class of query strings, whose values are texts that pydantic converts; itself the empty query."""

    model_config = ConfigDict(strict=False)


class PageQuery(Query):
    """A page of a table."""

    first: int = Field(0, ge=0, le=10**9)
    count: int = Field(50, ge=1, le=200)


#: What a handler returns: a response, or a typed dictionary or a document, which are sent as JSON.
Answer = Response | Mapping[str, Any] | Document
#: Called with the request and its document; a plain function runs in a thread, a coroutine in the event loop.
Handler = Callable[[Request, Any], Answer | Awaitable[Answer]]


def get(path: str, handle: Handler, query: type[Query] = Query) -> Route:
    """Return a route for GET, whose query string is parsed as ``query``."""

    async def respond(request: Request) -> Response:
        return await _answer(handle, request, query.parse(dict(request.query_params), "the address"))

    return Route(path, respond, methods=["GET"])


def post(path: str, handle: Handler, body: type[Body] = Body) -> Route:
    """Return a route for POST of a JSON object, which is parsed as ``body``."""

    async def respond(request: Request) -> Response:
        try:
            text = (await request.body()).decode("utf-8")
        except UnicodeDecodeError:
            raise RequestError("the body must be a JSON object in UTF-8") from None
        except ClientDisconnect:
            raise RequestError("the upload was aborted", 499) from None
        return await _answer(handle, request, body.parse(parse_json(text, RequestError, "the body"), "the body"))

    return Route(path, respond, methods=["POST"])


async def _answer(handle: Handler, request: Request, document: Body) -> Response:
    if inspect.iscoroutinefunction(handle):
        answer = await handle(request, document)
    else:
        answer = await run_in_threadpool(handle, request, document)
    if isinstance(answer, Document):
        answer = answer.to_fields()
    return answer if isinstance(answer, Response) else _AsciiJSONResponse(answer)


class _AsciiJSONResponse(JSONResponse):
    """JSON in ASCII: names of files and players may have characters that UTF-8 cannot encode."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def error_answer(error: RequestError) -> JSONResponse:
    """Return the response that says what is wrong, as JSON."""
    return _AsciiJSONResponse({"error": {"status": error.status, "message": str(error)}}, error.status)
