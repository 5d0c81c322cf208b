"""Run the benchmark: train, pause at fixed processor times, rate, and write one JSON file per run (docs/benchmark.md).

``python -m benchmarks.run --algorithm alphazero --task vadus-5 --seed 0 --budget 600 --output results/`` makes one run. All
options may be repeated; without them, all runs of the protocol are made, first all with seed 0. Runs with a finished file are
left out, an interrupted one continues at the last point, and a run of another process with the same folders is left to it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from benchmarks.learners import LEARNERS, Clock, Learner, load_learner
from benchmarks.protocol import BUDGETS, NUM_SEEDS, POINTS, SIMULATIONS, TASKS, Games, Hardware, Point, Rating, Result
from stoneworks.cli.main import run
from stoneworks.documents import Document
from stoneworks.envs.rules import load_game
from stoneworks.evaluation import Ladder, RateSettings, rate
from stoneworks.locks import InUseError, lock_folder
from stoneworks.models.checkpoint import library_versions
from stoneworks.models.machine import processor_name
from stoneworks.training.runs.hardware import torch_threads

STATE_FILE = "state.json"

app = typer.Typer(add_completion=False)
console = Console(stderr=True)


class State(Document):
    """Where the training of a run stands, as saved with the learner.

    Attributes:
        saved: whether saving is complete; if not, the run begins again.
        player: name of the player, which has not been rated yet if the curve has fewer points than ``points``.
        points: number of pauses so far.
    """

    saved: bool
    player: str
    points: int
    steps: int
    simulations: int
    processor_seconds: float
    wall_seconds: float


NEW = State(saved=True, player="", points=0, steps=0, simulations=0, processor_seconds=0.0, wall_seconds=0.0)


class BenchmarkRun:
    """One run.

    Attributes:
        result: the result so far; see :meth:`train`.
        path: its file.
    """

    def __init__(self, algorithm: str, task: str, seed: int, budget: float, games: Games, output: Path) -> None:
        name, self._learner_class = load_learner(algorithm)
        self._ladder = TASKS[task].load_ladder()
        self._game = load_game(TASKS[task].game)
        self.result = Result(
            algorithm=name,
            track=self._learner_class.track,
            task=task,
            seed=seed,
            budget=budget,
            games=games,
            ladder=TASKS[task].ladder,
            configuration={},
            hardware=Hardware(processor=processor_name(), cores=os.cpu_count() or 1),
            libraries=library_versions(),
            commit=commit(),
        )
        self.path = output / self.result.file_name
        self._read()

    def _read(self) -> None:
        if self.path.exists():
            self.result = Result.from_file(self.path)

    @property
    def finished(self) -> bool:
        """Whether all points are there."""
        return len(self.result.curve) == len(POINTS)

    def train(self, folder: Path) -> None:
        """Train and rate what is missing; what is needed to continue is in ``folder``, until the end."""
        training, games = folder / "training", folder / "games"
        with lock_folder(folder), torch_threads(1):
            self._read()
            if not self.finished:  # by another process, before the lock
                self._train(training, games)
            for part in (training, games):
                shutil.rmtree(part, ignore_errors=True)

    def _train(self, training: Path, games: Path) -> None:
        state = State.from_file(training / STATE_FILE) if (training / STATE_FILE).exists() else NEW
        if not state.saved or not self.path.exists() or not state.points:
            shutil.rmtree(training, ignore_errors=True)
            shutil.rmtree(games, ignore_errors=True)
            state = NEW
            self.result = self.result.replace(curve=())
        self._warm_up()
        training.mkdir(parents=True, exist_ok=True)
        clock = Clock(self.result.budget, state.processor_seconds, state.wall_seconds)
        learner = self._learner_class(self._game, self.result.seed, training, clock)
        if not state.points:
            self.result = self.result.replace(configuration=dict(learner.configuration))
            self.result.save(self.path)
        while not self.finished:
            if state.points == len(self.result.curve):
                state = self._next_state(learner, state, training / STATE_FILE)
            self._rate(learner, state, games / str(state.points))

    def _warm_up(self) -> None:
        """Train another learner for an iteration as at the start and one as at the end, which compiles or loads the kernels."""
        with tempfile.TemporaryDirectory() as folder:
            clock = Clock(budget=1.0)
            learner = self._learner_class(self._game, self.result.seed, Path(folder), clock)
            for clock.processor_seconds in (0.0, 1.0):
                clock.due_at = 0.0
                learner.train()

    def _next_state(self, learner: Learner, state: State, file: Path) -> State:
        """Train up to the next pause, save, and return the new state."""
        clock, steps, simulations = learner.clock, learner.steps, learner.simulations
        clock.due_at = POINTS[state.points] * self.result.budget
        clock.start()
        learner.train()
        clock.stop()
        state = state.replace(
            saved=False,
            points=state.points + 1,
            steps=state.steps + learner.steps - steps,
            simulations=state.simulations + learner.simulations - simulations,
            processor_seconds=clock.processor_seconds,
            wall_seconds=clock.wall_seconds,
        )
        state.save(file)
        state = state.replace(player=learner.save(), saved=True)
        state.save(file)
        return state

    def _rate(self, learner: Learner, state: State, folder: Path) -> None:
        """Rate the player of a pause and add the point to the file."""
        players = {"policy": state.player, "search": f"{state.player}@{SIMULATIONS}" if learner.searches else None}
        seed = len(POINTS) * self.result.seed + state.points
        ratings = {
            part: None if player is None else rated(player, self._ladder, self.result.games, seed, folder / part)
            for part, player in players.items()
        }
        point = Point(
            steps=state.steps,
            simulations=state.simulations,
            processor_seconds=state.processor_seconds,
            wall_seconds=state.wall_seconds,
            **ratings,
        )
        self.result = self.result.replace(curve=(*self.result.curve, point))
        self.result.save(self.path)
        words = ", ".join(f"{part} {one.elo:.0f} ± {one.standard_error:.0f}" for part, one in ratings.items() if one)
        console.print(
            f"{self.path.stem}: {point.processor_seconds:.0f} s, {point.steps:,} steps, {words}", soft_wrap=True
        )


def rated(player: str, ladder: Ladder, games: Games, seed: int, folder: Path) -> Rating:
    """Return the rating of a player."""
    settings = RateSettings(
        name="agent", num_pairs=games.pairs, num_anchors=games.anchors, scout_pairs=games.scout_pairs, seed=seed
    )
    result = rate(player, ladder, folder, settings)
    return Rating(elo=round(result.elo, 1), standard_error=round(result.error, 1), games=result.num_games)


def commit() -> str:
    """Return the commit of this repository, followed by ``+`` if files were changed; zeros outside a clone."""
    root = Path(__file__).resolve().parents[1]

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return 40 * "0"


@app.command()
def main(
    output: Annotated[Path, typer.Option(help="Folder of the result files.")] = Path("results"),
    algorithm: Annotated[
        list[str] | None, typer.Option(help=f"{', '.join(LEARNERS)}, or a Python file; default: all but files.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help=f"{', '.join(TASKS)}; default: all.")] = None,
    seed: Annotated[list[int] | None, typer.Option(min=0, help="Seeds of training; default: 0 to 4.")] = None,
    budget: Annotated[float, typer.Option(min=0.1, help="Processor seconds of training.")] = BUDGETS[0],
    folder: Annotated[Path, typer.Option(help="Folder of unfinished runs.")] = Path("runs/benchmark"),
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
            console.print(f"{name} is left out: {error}", soft_wrap=True)
        else:
            algorithms.append(name)
    wanted: Any = itertools.product(seed or range(NUM_SEEDS), task or TASKS, algorithms)
    for number, on, by in wanted:
        one = BenchmarkRun(by, on, number, budget, Games(), output)
        if one.finished:
            continue
        with contextlib.suppress(InUseError):
            one.train(folder / one.path.stem)


if __name__ == "__main__":
    run(app)
