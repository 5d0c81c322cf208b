"""Jobs of worker processes that equal requests share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stoneworks.web.errors import RequestError

if TYPE_CHECKING:
    from starlette.requests import Request

_Result = dict[str, Any]


@dataclass
class _Job:
    """A running job and the number of requests waiting for it."""

    task: asyncio.Future[_Result]
    num_waiting: int = 0


class SharedJobs:
    """The running jobs, by key. A job is canceled once no request waits for it."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, _Job] = {}

    async def run(self, request: Request, key: Hashable, make: Callable[[], Awaitable[_Result]]) -> _Result:
        """Return the result of the running job with this key, or else of ``make``.

        Raises:
            RequestError: the client disconnected, or the job was canceled.
        """
        job = self._jobs.get(key)
        if job is None:
            job = self._jobs[key] = _Job(asyncio.ensure_future(make()))
            job.task.add_done_callback(lambda task: self._forget(key, task))
        job.num_waiting += 1
        gone = asyncio.ensure_future(disconnected(request))
        waiting: list[asyncio.Future[Any]] = [job.task, gone]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not job.task.done():
                raise RequestError("the request was canceled", 499)
            if job.task.cancelled():
                raise RequestError("the request was canceled", 503)
            return job.task.result()
        finally:
            gone.cancel()
            job.num_waiting -= 1
            if not job.num_waiting and not job.task.done():
                job.task.cancel()
                self._forget(key, job.task)

    def _forget(self, key: Hashable, task: asyncio.Future[_Result]) -> None:
        """Remove a job, unless a later one has taken its place."""
        if key in self._jobs and self._jobs[key].task is task:
            del self._jobs[key]


async def disconnected(request: Request) -> None:
    """Wait until the client disconnects. The request body must have been read."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return
