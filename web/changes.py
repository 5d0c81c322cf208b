"""Notification of waiting requests about changes of a game."""

from __future__ import annotations

import asyncio
from collections import defaultdict


class Changes:
    """Events by game. :meth:`notify` may be called from any thread, the rest from the event loop."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._loop: asyncio.AbstractEventLoop | None = None

    def notify(self, game_id: str) -> None:
        """Set the events of all requests waiting for a game."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, game_id)

    def _wake(self, game_id: str) -> None:
        for event in self._waiting.get(game_id, ()):
            event.set()

    def watch(self, game_id: str) -> asyncio.Event:
        """Return an event that is set at the next change of a game. Release it with :meth:`unwatch`."""
        self._loop = asyncio.get_running_loop()
        event = asyncio.Event()
        self._waiting[game_id].add(event)
        return event

    def unwatch(self, game_id: str, event: asyncio.Event) -> None:
        """Release an event."""
        self._waiting[game_id].discard(event)
        if not self._waiting[game_id]:
            del self._waiting[game_id]
