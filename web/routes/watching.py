"""Watched arenas and training runs, and the records in watched folders."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from stoneworks.web.fields import query_integer
from stoneworks.web.positions import turns_of
from stoneworks.web.routes.handlers import get
from stoneworks.web.services import Services


class WatchingRoutes:
    """Handlers for watched folders and files."""

    def __init__(self, services: Services) -> None:
        self._watch = services.watch
        self._positions = services.positions
        self._limits = services.limits
        self.routes = [
            get("/api/watch", self._sources),
            get("/api/watch/records", self._records),
            get("/api/watch/record", self._record),
            get("/api/watch/arena", self._arena),
            get("/api/watch/run", self._run),
        ]

    def _sources(self, _: Request) -> dict[str, Any]:
        return {"sources": self._watch.sources()}

    def _records(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        first = query_integer(query, "first", 0, 10**9, 0)
        count = query_integer(query, "count", 1, self._limits.rows, 50)
        return self._watch.records(query.get("source", ""), query, first, count)

    def _record(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        fields = self._watch.record(query.get("source", ""), query_integer(query, "index", 0, 10**9, 0))
        line = self._positions.line(self._positions.game(fields["game"]), fields["actions"])
        return fields | {"turns": turns_of(line)}

    def _arena(self, request: Request) -> dict[str, Any]:
        return self._watch.arena(request.query_params.get("source", ""))

    def _run(self, request: Request) -> dict[str, Any]:
        return self._watch.run(request.query_params.get("source", ""))
