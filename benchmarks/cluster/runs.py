"""Runs of the benchmark on a Ray cluster, one core each.

All nodes must have a clone at the same path with the same commit. A run that is lost with its node begins again on another one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.benchmark_run import BenchmarkRun, commit
from benchmarks.protocol import Result
from stoneworks.cluster import ClusterError, Identity, check_identity, connected, identity_of
from stoneworks.extras import require_extra
from stoneworks.locks import InUseError
from stoneworks.models.machine import processor_name

with require_extra("cluster", "clusters"):
    import ray

#: Times that a run begins again after the loss of its node.
MAX_RETRIES = 3


def make_on_cluster(runs: Sequence[BenchmarkRun], folder: Path, address: str) -> None:
    """Make the runs, and write their files as they finish; print a line for each.

    Args:
        runs: the runs, which are not finished.
        folder: folder of unfinished runs on each node; a relative one counts from the folder of this process.
        address: address of the cluster (see :func:`stoneworks.cluster.connected`).

    Raises:
        ClusterError: the cluster cannot be used, or a run was lost too often.
        RuntimeError: an algorithm failed.
    """
    with connected(address):
        # Workers import this module.
        path = os.pathsep.join(filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH"))))
        environment = {"env_vars": {"PYTHONPATH": path}}
        task = ray.remote(_make).options(num_cpus=1, max_retries=MAX_RETRIES, runtime_env=environment)
        shared = folder.absolute(), os.getcwd(), _identity()
        pending = {task.remote(one.arguments, *shared): one for one in runs}
        try:
            while pending:
                (reference,), _ = ray.wait(list(pending))
                one = pending.pop(reference)
                if (result := _result_of(reference, one)) is not None:
                    result.save(one.path)
                    print(f"{one.path} is finished; {len(pending)} are left")
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)


def _identity() -> Identity:
    return {**identity_of(("envs", "models", "evaluation", "training"), ()), "commit": commit()}


def _result_of(reference: Any, one: BenchmarkRun) -> Result | None:
    """Return the result of a finished task, None if another process makes the run, or raise the error of the task."""
    try:
        return Result.parse(ray.get(reference), one.path.name)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ClusterError):
            raise error.cause from None
        if isinstance(error.cause, InUseError):
            print(f"{one.path} is left out: {error.cause}")
            return None
        raise RuntimeError(f"{one.path.stem} failed on a node") from error
    except ray.exceptions.RayError as error:
        reason = str(error).partition("\n")[0]
        raise ClusterError(f"{one.path.stem} was lost {MAX_RETRIES + 1} times: {reason}") from None


def _make(arguments: dict[str, Any], folder: Path, current: str, identity: Identity) -> dict[str, Any]:
    """Make a run on a node and return its result."""
    if os.path.isdir(current):
        os.chdir(current)  # the file of an algorithm may be relative to the folder of the driver
    check_identity(identity, _identity())
    output = folder / "cluster" / "results"
    output.mkdir(parents=True, exist_ok=True)
    one = BenchmarkRun(**arguments, output=output)
    if one.result.hardware.processor != processor_name():  # it began on a node that is gone
        one.path.unlink()
        one = BenchmarkRun(**arguments, output=output)
    one.train(folder / "cluster" / one.path.stem)
    one.path.unlink()
    return one.result.to_fields()
