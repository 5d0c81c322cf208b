"""Threads that share the games of a batch."""

from __future__ import annotations

import gc
import os
import threading
import time

import pytest

from stoneworks.envs.rules.compiler.thread_team import ThreadTeam


def test_each_call_runs_once_and_the_first_in_the_calling_thread() -> None:
    team = ThreadTeam(3)
    ran: dict[int, int] = {}
    for _ in range(50):
        ran.clear()
        team.run(lambda part: ran.__setitem__(part, threading.get_ident()), [(0,), (1,), (2,)])
        assert sorted(ran) == [0, 1, 2]
        assert ran[0] == threading.get_ident()
        assert len(set(ran.values())) == 3


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_is_raised_after_all_calls_and_the_team_stays_usable(failing: int) -> None:
    team = ThreadTeam(2)
    finished = []

    def work(part: int) -> None:
        if part == failing:
            raise MemoryError(part)
        time.sleep(0.05)
        finished.append(part)

    for _ in range(2):
        with pytest.raises(MemoryError):
            team.run(work, [(0,), (1,)])
    assert finished == [1 - failing] * 2
    team.run(finished.append, [(7,), (7,)])
    assert finished[2:] == [7, 7]


def test_the_threads_end_with_the_team() -> None:
    before = set(threading.enumerate())
    team = ThreadTeam(3)
    team.run(len, [([],), ([],), ([],)])
    started = set(threading.enumerate()) - before
    assert len(started) == 2
    del team
    gc.collect()
    for thread in started:
        thread.join(600)
        assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of what is tested here
def test_a_forked_process_starts_its_own_threads() -> None:
    team = ThreadTeam(2)
    team.run(len, [([],), ([],)])
    child = os.fork()
    if child == 0:
        try:
            team.run(len, [([],), ([],)])
            os._exit(7)
        finally:  # after an error it must not run the rest of the tests
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    team.run(len, [([],), ([],)])


def test_after_a_thread_could_not_be_started_the_next_call_starts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    team = ThreadTeam(3)

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            team.run(len, [([],), ([],), ([],)])
    ran: list[int] = []
    team.run(ran.append, [(0,), (1,), (2,)])
    assert sorted(ran) == [0, 1, 2]
