"""Equal requests share a job, which is canceled once nobody waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stoneworks.models import register_bot
from stoneworks.web.bot_processes import BotProcesses, SharedJobs, wait_for
from stoneworks.web.requests import RequestError

QUITTER = """
from stoneworks.models import Bot, BotForfeit

class Quitter(Bot):
    def __init__(self, game, seed):
        pass
    def step_with_policy(self, state):
        raise BotForfeit("quitter", "late", "no answer")
"""


class Client:
    """The part of a request that a job listens to."""

    def __init__(self) -> None:
        self._gone = asyncio.Event()
        self.leave = self._gone.set

    async def receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}


class Work:
    """Counts how often a job begins and how often it is canceled; it ends with ``finish``."""

    def __init__(self) -> None:
        self.num_begun = self.num_canceled = 0
        self._finished = asyncio.Event()
        self.finish = self._finished.set

    async def __call__(self) -> dict[str, Any]:
        self.num_begun += 1
        number = self.num_begun
        try:
            await self._finished.wait()
        except asyncio.CancelledError:
            self.num_canceled += 1
            raise
        return {"number": number}


def ask(jobs: SharedJobs, client: Client, work: Work) -> asyncio.Task[dict[str, Any]]:
    return asyncio.create_task(jobs.run(client, "key", work))  # type: ignore[arg-type]


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_equal_requests_share_a_job_until_the_last_leaves_and_its_end_does_not_remove_the_next_job() -> None:
    async def check() -> None:
        jobs, work, clients = SharedJobs(), Work(), [Client(), Client()]
        first, second = (ask(jobs, client, work) for client in clients)
        await settle()
        clients[0].leave()
        with pytest.raises(RequestError, match="canceled"):
            await first
        assert (work.num_begun, work.num_canceled) == (1, 0)
        work.finish()
        assert await second == {"number": 1}

        jobs, work, client = SharedJobs(), Work(), Client()
        first = ask(jobs, client, work)
        await settle()
        client.leave()
        # The next request comes before the event loop runs the callbacks of the canceled job.
        first.add_done_callback(lambda _: later.append(ask(jobs, Client(), work)))
        later: list[asyncio.Task[dict[str, Any]]] = []
        with pytest.raises(RequestError, match="canceled"):
            await first
        await settle()
        later.append(ask(jobs, Client(), work))
        await settle()
        assert (work.num_begun, work.num_canceled) == (2, 1)
        work.finish()
        assert [await task for task in later] == [{"number": 2}] * 2

    asyncio.run(check())


def test_a_wait_ends_with_the_future_the_time_or_the_client_and_cancels_nothing_else() -> None:
    async def check() -> None:
        client, future = Client(), asyncio.get_running_loop().create_future()
        await wait_for(client, future, 0.01)  # type: ignore[arg-type]
        client.leave()
        with pytest.raises(RequestError, match="canceled") as refused:
            await wait_for(client, future)  # type: ignore[arg-type]
        assert (refused.value.status, future.cancelled()) == (499, False)
        future.set_result(None)
        await wait_for(client, future)  # type: ignore[arg-type]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(check())


def test_a_forfeit_is_an_error_of_the_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "quitting.py").write_text(QUITTER, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    register_bot("quitter", "quitting:Quitter")

    async def check() -> None:
        pool = BotProcesses(1, 600)
        with pytest.raises(RequestError, match=r"quitter forfeits the game \(late\)") as refused:
            await pool.run({"kind": "turn", "game": "vadus(size=3)", "actions": (), "bot": "quitter"})
        assert refused.value.status == 502
        with pytest.raises(RequestError, match="positions"):
            await pool.run({"kind": "turn", "game": "vadus(size=5)", "actions": (), "bot": "perfect:seconds=0.01"})
        pool.close()

    asyncio.run(check())


def test_a_job_that_is_canceled_while_its_process_starts_frees_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    started, canceling = threading.Event(), threading.Event()

    @contextlib.contextmanager
    def starting_slowly() -> Iterator[None]:
        started.set()
        assert canceling.wait(600)
        yield

    async def check() -> None:
        pool = BotProcesses(1, 600)
        job = {"kind": "turn", "game": "vadus(size=3)", "actions": (), "bot": "random"}
        canceled = asyncio.create_task(pool.run(job))
        assert await asyncio.to_thread(started.wait, 600)
        canceled.cancel()
        canceling.set()
        assert (await asyncio.wait_for(pool.run(job), 600))["actions"]
        pool.close()

    monkeypatch.setattr("stoneworks.web.bot_processes.interrupts_blocked", starting_slowly)
    asyncio.run(check())


def test_jobs_that_fail_at_the_end_of_the_server_log_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        pool = BotProcesses(1, 600)
        job = {"kind": "turn", "game": "vadus(size=3)", "actions": (), "bot": "random"}
        pool.end()
        canceled = asyncio.create_task(pool.run(job))
        await asyncio.sleep(0)
        while canceled.cancel():  # as the end of a loop does, with what the job leaves behind too
            await asyncio.sleep(0)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        pool.close()

    asyncio.run(check())
    gc.collect()
    assert "never retrieved" not in caplog.text
