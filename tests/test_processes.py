"""Pools of worker processes end with their context."""

from __future__ import annotations

import time

from stoneworks.processes import exit_with_parent, process_pool


def test_a_pool_ends_all_its_processes_even_if_they_are_busy() -> None:
    with process_pool(2, exit_with_parent) as pool:
        busy = [pool.submit(time.sleep, 3600) for _ in range(2)]
        while not all(job.running() for job in busy) or len(pool._processes) < 2:
            time.sleep(0.01)
        processes = list(pool._processes.values())
    assert not any(process.is_alive() for process in processes)


def test_a_pool_ends_while_a_process_sends_a_result() -> None:
    with process_pool(2, exit_with_parent) as pool:
        assert list(pool.map(abs, range(6))) == list(range(6))
        pool.submit(bytes, 300_000_000)
        while not pool._result_queue._reader.poll():
            pass
