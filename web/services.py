"""``Services``: the parts of the server that all request handlers use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stoneworks.web.changes import Changes
from stoneworks.web.jobs import SharedJobs
from stoneworks.web.limits import Limits
from stoneworks.web.positions import Positions
from stoneworks.web.store import Store
from stoneworks.web.watch import Watch
from stoneworks.web.workers import WorkerPool


class Services:
    """The parts of a running server.

    Attributes:
        limits: resource limits.
        changes: notifies of changed games.
        watch: the watched folders and files.
        store: the database of games.
        positions: games and positions, cached.
        pool: the worker processes of bots.
        jobs: jobs of the workers that several requests wait for.
    """

    def __init__(self, data: Path, watched: Sequence[Path], num_workers: int, limits: Limits) -> None:
        """Open the database in the folder ``data`` and start ``num_workers`` worker processes."""
        self.limits = limits
        self.changes = Changes()
        self.watch = Watch(watched, limits)
        self.store = Store(data, limits.games, limits.nodes, self.changes.notify)
        self.positions = Positions(limits)
        self.pool = WorkerPool(num_workers, limits.thinking_seconds, limits.waiting_requests)
        self.jobs = SharedJobs()

    def close(self) -> None:
        """Stop the worker processes and close the database."""
        self.pool.close()
        self.store.close()
