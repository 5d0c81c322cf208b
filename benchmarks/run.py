"""Run the benchmark: train, pause at fixed processor times, rate, and write one JSON file per run (docs/benchmark.md).

``python -m benchmarks.run --algorithm alphazero --task vadus-5 --seed 0 --budget 600 --output results/`` makes one run. All
options may be repeated; without them, all runs of the protocol are made, first all with seed 0. Runs with a finished file are
left out, an interrupted one continues at the last point, and a run of another process with the same folders is left to it.
``--cluster`` makes them on the cores of a Ray cluster.
"""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.benchmark_run import BenchmarkRun, messages
from benchmarks.learners import LEARNERS, load_learner
from benchmarks.protocol import (
    BUDGETS,
    NUM_SEEDS,
    TASKS,
    Games,
)
from stoneworks.cli.main import run
from stoneworks.locks import InUseError
from stoneworks.models.machine import processor_name

app = typer.Typer(add_completion=False)


@app.command()
def main(
    output: Annotated[Path, typer.Option(help="Folder of the result files.")] = Path("results"),
    algorithm: Annotated[
        list[str] | None, typer.Option(help=f"{', '.join(LEARNERS)}, or a Python file; default: all but files.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help=f"{', '.join(TASKS)}; default: all open ones.")] = None,
    seed: Annotated[list[int] | None, typer.Option(min=0, help="Seeds of training; default: 0 to 4.")] = None,
    budget: Annotated[float, typer.Option(min=0.1, help="Processor seconds of training.")] = BUDGETS[0],
    folder: Annotated[Path, typer.Option(help="Folder of unfinished runs.")] = Path("runs/benchmark"),
    cluster: Annotated[str | None, typer.Option(help="Ray cluster: auto, or HOST:PORT of its head node.")] = None,
) -> None:
    """Train and rate the runs that are missing."""
    output.mkdir(parents=True, exist_ok=True)
    if unknown := [name for name in task or () if name not in TASKS]:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, got {unknown[0]!r}")
    algorithms = []
    for name in algorithm or LEARNERS:
        try:
            load_learner(name)
        except ImportError as error:
            if algorithm:
                raise
            messages.print(f"{name} is left out: {error}", soft_wrap=True)
        else:
            algorithms.append(name)
    tasks = task or [name for name in TASKS if TASKS[name].former_ladder is None]
    wanted: Any = itertools.product(seed or range(NUM_SEEDS), tasks, algorithms)
    missing = (BenchmarkRun(by, on, number, budget, Games(), output) for number, on, by in wanted)
    missing = (one for one in missing if not one.finished)
    if cluster is not None:
        from benchmarks.cluster.runs import make_on_cluster

        return make_on_cluster(list(missing), folder, cluster)
    for one in missing:
        if (processor := one.result.hardware.processor) != processor_name():
            messages.print(f"{one.path} is left out: it began on another processor, {processor}", soft_wrap=True)
            continue
        with contextlib.suppress(InUseError):
            one.train(folder / one.path.stem)


if __name__ == "__main__":
    run(app)
