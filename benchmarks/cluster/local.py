"""A cluster of one node on this machine, for measurements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stoneworks.extras import require_extra

with require_extra("cluster", "clusters"):
    import ray


@contextmanager
def local_cluster(num_cores: int, object_store_bytes: int) -> Iterator[None]:
    """Start a cluster of one node on this machine for the duration of the context. Its workers run at normal priority."""
    ray.init(
        address="local",
        num_cpus=num_cores,
        object_store_memory=object_store_bytes,
        include_dashboard=False,
        log_to_driver=False,
        _system_config={"worker_niceness": 0},
    )
    try:
        yield
    finally:
        ray.shutdown()
