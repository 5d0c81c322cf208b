"""One run of the benchmark: train, pause at fixed processor times, rate, and write the file of its results."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.learners import Learner, load_learner
from benchmarks.protocol import POINTS, SIMULATIONS, TASKS, VERSION, Games, Hardware, Point, Rating, Result, ResultError
from benchmarks.timed_training import NEW, TimedTraining, TrainingState, read_state
from stoneworks.cli.console import console
from stoneworks.envs.rules import load_game
from stoneworks.evaluation import Ladder, RateSettings, rate
from stoneworks.locks import lock_folder
from stoneworks.models.checkpoint import library_versions
from stoneworks.models.machine import processor_name
from stoneworks.training.runs.hardware import torch_threads

messages = console(stderr=True)

_COMPARED_LIBRARIES = ("open_spiel", "ray")


class BenchmarkRun:
    """One run.

    Attributes:
        arguments: the arguments that it was made with, without ``output``.
        result: the result so far; see :meth:`train`.
        path: its file.
    """

    def __init__(self, algorithm: str, task: str, seed: int, budget: float, games: Games, output: Path) -> None:
        self.arguments = {"algorithm": algorithm, "task": task, "seed": seed, "budget": budget, "games": games}
        name, self._learner_class = load_learner(algorithm)
        self._ladder = TASKS[task].load_ladder()
        self._game = load_game(TASKS[task].game)
        self.result = Result(
            protocol=VERSION,
            algorithm=name,
            track=self._learner_class.track,
            task=task,
            seed=seed,
            budget=budget,
            games=games,
            ladder=TASKS[task].ladder,
            configuration={},
            hardware=Hardware(processor=processor_name(), cores=os.cpu_count() or 1),
            libraries=library_versions(*_COMPARED_LIBRARIES),
            commit=commit(),
        )
        self.path = output / self.result.file_name
        self._new_result = self.result
        self._read()

    def _read(self) -> None:
        """Read the file. Raises ``ResultError`` if it began with another ladder, track or number of games."""
        if self.path.exists():
            self.result = Result.from_file(self.path)
            for name in ("ladder", "track", "games"):
                began, now = getattr(self.result, name), getattr(self._new_result, name)
                if began != now:
                    raise ResultError(f"{self.path}: {name} must be {now}, got {began}; delete the file to begin anew")

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
        if not self.path.exists() or read_state(training) == NEW:
            shutil.rmtree(training, ignore_errors=True)
            shutil.rmtree(games, ignore_errors=True)
            self.result = self._new_result
        elif self.result.commit != self._new_result.commit:
            self.result = self.result.replace(commit=self.result.commit.rstrip("+") + "+")
        with _with_traceback(self.path.stem):
            run = TimedTraining(self._learner_class, self._game, self.result.seed, self.result.budget, training)
        if run.state == NEW:
            self.result = self.result.replace(configuration=dict(run.learner.configuration))
            self.result.save(self.path)
        while not self.finished:
            if run.state.points == len(self.result.curve):
                with _with_traceback(self.path.stem):
                    run.advance(POINTS[run.state.points] * self.result.budget)
            self._rate(run.learner, run.state, games / str(run.state.points))

    def _rate(self, learner: Learner, state: TrainingState, folder: Path) -> None:
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
        messages.print(
            f"{self.path.stem}: {point.processor_seconds:.0f} s, {point.steps:,} steps, {words}", soft_wrap=True
        )


@contextlib.contextmanager
def _with_traceback(name: str) -> Iterator[None]:
    """Raise an error of an algorithm as a ``RuntimeError``, which is shown with its traceback."""
    try:
        yield
    except Exception as error:
        raise RuntimeError(f"{name} failed") from error


def rated(player: str, ladder: Ladder, games: Games, seed: int, folder: Path) -> Rating:
    """Return the rating of a player."""
    settings = RateSettings(
        name="agent", num_pairs=games.pairs, num_anchors=games.anchors, scout_pairs=games.scout_pairs, seed=seed
    )
    result = rate(player, ladder, folder, settings)
    return Rating(elo=round(result.elo, 1), standard_error=round(result.standard_error, 1), games=result.num_games)


@functools.cache  # a later commit of the clone does not change the code that runs
def commit() -> str:
    """Return the commit of this repository, followed by ``+`` if files were changed; zeros outside a clone."""
    root = Path(__file__).resolve().parents[1]

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return 40 * "0"
