"""Speed of two self-play actors relative to two local self-play processes, in alternation.

Run it as a module: ``python -m benchmarks.cluster.overhead``. All workers stay alive; those of the source that is not
measured are suspended.
"""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.cluster.local import local_cluster
from stoneworks.envs.rules import load_game
from stoneworks.extras import require_extra
from stoneworks.models.network import Architecture, make_network
from stoneworks.training.alphazero.cluster.source import ClusterSelfPlay
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.processes import SelfPlayProcesses
from stoneworks.training.alphazero.sources import GameSource
from stoneworks.training.runs.config_files import load_config

with require_extra("cluster", "clusters"):
    import ray

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass
class _Side:
    """A source and its measurements.

    Attributes:
        source: the source.
        workers: process ids of its workers.
        positions_per_second: positions per second of wall-clock time, per round.
        positions_per_worker_second: positions per second of CPU time of the workers, per round.
        simulations_per_worker_second: the same with simulations, which vary less than positions of finished games.
        other_cores: cores that this process and Ray's own processes use, per round.
    """

    source: GameSource
    workers: list[int]
    positions_per_second: list[float] = field(default_factory=list)
    positions_per_worker_second: list[float] = field(default_factory=list)
    simulations_per_worker_second: list[float] = field(default_factory=list)
    other_cores: list[float] = field(default_factory=list)


def measure(config: AlphaZeroConfig, rounds: int, seconds: float) -> tuple[_Side, _Side]:
    """Return the measurements of two local processes and of two Ray actors, ``rounds`` rounds of ``seconds`` each."""
    with local_cluster(num_cores=2, object_store_bytes=200_000_000):
        config = config.replace(processes=2, cluster="auto")
        network = make_network(Architecture.of_game(load_game(config.game), config.network))
        seed = np.random.SeedSequence(0)
        with ExitStack() as stack:
            actors = stack.enter_context(closing(ClusterSelfPlay(network, config, seed, 0.0, print)))
            processes = stack.enter_context(closing(SelfPlayProcesses(network, config, seed, 2, 0.0)))
            pids = ray.get(
                [one.handle.__ray_call__.remote(lambda actor: os.getpid()) for one in actors._actors._actors]
            )
            local = _Side(processes, [process.pid or 0 for process in processes.processes])
            remote = _Side(actors, pids)
            stack.callback(_resume, (*local.workers, *remote.workers))
            for side in (local, remote):
                _resume(side.workers)
                side.source.collect(config.positions_per_iteration, threading.Event())
                _suspend(side.workers)
            for number in range(rounds):
                for side in (local, remote) if number % 2 == 0 else (remote, local):
                    counted = _descendants() - set(remote.workers if side is local else local.workers)
                    _measure_round(side, counted - _ray_processes(counted) if side is local else counted, seconds)
                print(f"round {number + 1}: {_summary(local, remote)}", flush=True)
            return local, remote


def _measure_round(side: _Side, counted: Iterable[int], seconds: float) -> None:
    counted = [os.getpid(), *counted]
    _resume(side.workers)
    begin, cpu, of_workers, positions = time.perf_counter(), _cpu_seconds(counted), _cpu_seconds(side.workers), 0
    simulations = 0
    while time.perf_counter() - begin < seconds:
        played, timings = side.source.collect(1, threading.Event())
        positions += sum(len(game.positions) for game in played)
        simulations += timings.num_simulations
    elapsed, used = time.perf_counter() - begin, _cpu_seconds(counted) - cpu
    by_workers = _cpu_seconds(side.workers) - of_workers
    _suspend(side.workers)
    side.positions_per_second.append(positions / elapsed)
    side.positions_per_worker_second.append(positions / by_workers)
    side.simulations_per_worker_second.append(simulations / by_workers)
    side.other_cores.append((used - by_workers) / elapsed)


def _suspend(pids: Iterable[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


def _resume(pids: Iterable[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def _cpu_seconds(pids: Iterable[int]) -> float:
    total = 0.0
    for pid in pids:
        try:
            total += sum(map(int, _stat(pid)[11:13]))
        except OSError:
            continue
    return total / _TICKS_PER_SECOND


def _descendants() -> set[int]:
    """Return the ids of all processes that this process has started, directly or not."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int(_stat(int(entry.name))[1])
            except OSError:
                continue
    found = {os.getpid()}
    while new := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= new
    return found - {os.getpid()}


def _ray_processes(pids: Iterable[int]) -> set[int]:
    def is_ray(pid: int) -> bool:
        try:
            return b"ray" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False

    return {pid for pid in pids if is_ray(pid)}


def _summary(local: _Side, remote: _Side) -> str:
    """Return the ratios of actors to processes: of the sums over the rounds, the median, and the range."""
    parts = []
    for name in ("positions_per_second", "positions_per_worker_second", "simulations_per_worker_second"):
        ones, others = getattr(remote, name), getattr(local, name)
        if not any(others):  # no game of the local processes has ended yet
            parts.append(f"{name.replace('_', ' ')} not known yet")
            continue
        ratios = sorted(one / other for one, other in zip(ones, others, strict=True) if other > 0)
        parts.append(
            f"{name.replace('_', ' ')} {sum(ones) / sum(others):.3f} of sums, median {statistics.median(ratios):.3f}, "
            f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
        )
    cores = [f"{statistics.mean(side.other_cores):.3f}" for side in (remote, local)]
    return "; ".join([*parts, f"cores beside the workers: {cores[0]} with actors, {cores[1]} with processes"])


if __name__ == "__main__":
    settings = load_config("vadus-5", ["self_play.num_games=16", "positions_per_iteration=1024", "device=cpu"])
    assert isinstance(settings, AlphaZeroConfig)
    measure(settings, rounds=10, seconds=20)
