"""A local Ray cluster of several nodes, each with its own Ray processes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from processes import wait_until
from stoneworks.training.alphazero.config import AlphaZeroConfig

#: A killed node counts as lost after 5 seconds without an answer, instead of 15. Ray runs workers with niceness 15, which
#: starves them on a machine that is busy with other tests.
SETTINGS = {"health_check_period_ms": 1000, "health_check_failure_threshold": 5, "worker_niceness": 0}
SMALL = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_log_monitor": False}


class LocalCluster:
    """A head node with one core and more nodes on this machine."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {**SMALL, "include_dashboard": False, "_system_config": SETTINGS}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address: str = self.cluster.address
        self._nodes: list[Any] = []

    def add(self, **arguments: Any) -> Any:
        """Start another node with one core."""
        self._nodes.append(self.cluster.add_node(**SMALL, **arguments))
        return self._nodes[-1]

    def kill(self, node: Any) -> None:
        """Kill all Ray processes of a node with SIGKILL; its workers end with them."""
        self._nodes.remove(node)
        for processes in node.all_processes.values():
            for one in processes:
                os.kill(one.process.pid, signal.SIGKILL)

    def remove_added(self) -> None:
        """Stop all nodes but the head."""
        from stoneworks.cluster import alive_nodes, connected

        while self._nodes:
            self.cluster.remove_node(self._nodes.pop())
        with connected(self.address):  # a killed node counts as alive for some seconds
            assert wait_until(lambda: len(alive_nodes()) == 1)


@pytest.fixture(scope="module")
def _local_cluster() -> Iterator[LocalCluster]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    pytest.importorskip("ray", reason="Ray is not installed (extra cluster)")
    made = LocalCluster()
    yield made
    made.cluster.shutdown()


@pytest.fixture
def cluster(_local_cluster: LocalCluster) -> Iterator[LocalCluster]:
    """A cluster with a head node of one core; nodes that a test adds are stopped after it."""
    before = signal.getsignal(signal.SIGTERM)
    yield _local_cluster
    _local_cluster.remove_added()
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def tiny(cluster: LocalCluster) -> Callable[..., AlphaZeroConfig]:
    """A function that returns the configuration of a tiny run on the cluster, with changes."""
    pytest.importorskip("torch")
    from tiny_runs import alphazero

    def make(**changes: Any) -> AlphaZeroConfig:
        return alphazero(**{"positions": 600, "processes": -1, "cluster": cluster.address, **changes})

    return make


@pytest.fixture
def source(cluster: LocalCluster, tiny: Callable[..., AlphaZeroConfig]) -> Iterator[Callable[..., Any]]:
    """A function that starts self-play on the cluster, which ends with the test."""
    import numpy as np

    from stoneworks.envs.rules import load_game
    from stoneworks.models.network import Architecture, make_network
    from stoneworks.training.alphazero.cluster.source import ClusterSelfPlay

    started: list[Any] = []

    def start(progress: Callable[[str], None] = print, **changes: Any) -> Any:
        config = tiny(**changes)
        network = make_network(Architecture.of_game(load_game(config.game), config.network))
        started.append(ClusterSelfPlay(network, config, np.random.SeedSequence(0), 0.0, progress))
        started[-1].collect(10, threading.Event())
        return started[-1]

    yield start
    for one in started:
        one.close()
    assert wait_until(lambda: all_cores_free(cluster.address))


def all_cores_free(address: str) -> bool:
    """Return whether no actor or task holds a core of the cluster."""
    import ray

    from stoneworks.cluster import connected

    with connected(address):
        return bool(ray.available_resources().get("CPU", 0.0) == ray.cluster_resources()["CPU"])
