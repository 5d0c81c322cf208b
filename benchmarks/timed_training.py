"""Training for a budget of processor time, with pauses from which it can be continued."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks.learners import Clock, Learner
from stoneworks.documents import Document
from stoneworks.envs.rules import Game

STATE_FILE = "state.json"


class TrainingState(Document):
    """State of a training run, as saved with the learner.

    Attributes:
        saved: whether saving is complete; if not, the run begins again.
        player: name of the player of the latest pause.
        points: number of pauses so far.
        steps: environment steps.
        simulations: simulations of searches.
        processor_seconds: processor time.
        wall_seconds: time.
    """

    saved: bool
    player: str
    points: int
    steps: int
    simulations: int
    processor_seconds: float
    wall_seconds: float


NEW = TrainingState(saved=True, player="", points=0, steps=0, simulations=0, processor_seconds=0.0, wall_seconds=0.0)


def read_state(folder: Path) -> TrainingState:
    """Return the state of a training run in a folder, which is ``NEW`` if there is none."""
    file = folder / STATE_FILE
    state = TrainingState.from_file(file) if file.exists() else NEW
    return state if state.saved else NEW


class TimedTraining:
    """A training run, which is started or continued. Compiling does not count: another learner trains shortly before.

    Attributes:
        learner: the learner.
        state: its state.
    """

    def __init__(self, learner_class: type[Learner], game: Game, seed: int, budget: float, folder: Path) -> None:
        self.state = read_state(folder)
        self._file = folder / STATE_FILE
        if self.state == NEW:
            shutil.rmtree(folder, ignore_errors=True)
        _warm_up(learner_class, game, seed)
        folder.mkdir(parents=True, exist_ok=True)
        clock = Clock(budget, self.state.processor_seconds, self.state.wall_seconds)
        self.learner = learner_class(game, seed, folder, clock)

    def advance(self, until_seconds: float) -> None:
        """Train until the processor time is ``until_seconds``, and save."""
        learner, clock = self.learner, self.learner.clock
        steps, simulations = learner.steps, learner.simulations
        clock.due_at = until_seconds
        clock.start()
        learner.train()
        clock.stop()
        state = self.state.replace(
            saved=False,
            points=self.state.points + 1,
            steps=self.state.steps + learner.steps - steps,
            simulations=self.state.simulations + learner.simulations - simulations,
            processor_seconds=clock.processor_seconds,
            wall_seconds=clock.wall_seconds,
        )
        state.save(self._file)
        self.state = state.replace(player=learner.save(), saved=True)
        self.state.save(self._file)


def _warm_up(learner_class: type[Learner], game: Game, seed: int) -> None:
    """Train another learner for an iteration as at the start and one as at the end, which compiles or loads the kernels."""
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock(budget=1.0)
        learner = learner_class(game, seed, Path(folder), clock)
        for clock.processor_seconds in (0.0, 1.0):
            clock.due_at = 0.0
            learner.train()
