"""The protocol of the benchmark, version 1: tasks, budgets, games of a rating, and the file of one run (docs/benchmark.md).

Anything here that changes what a number means is a new version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from stoneworks.documents import Document, DocumentError, Tuple
from stoneworks.evaluation import Ladder, load_ladder

VERSION: Literal["1"] = "1"

#: Training of one core, in processor seconds.
BUDGETS = (600.0, 3600.0)
#: Number of seeds of a row of the table.
NUM_SEEDS = 5
#: Parts of the budget after which the agent is rated.
POINTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
#: Simulations of the search that is rated beside the policy.
SIMULATIONS = 64
#: The last iteration may end after the budget by this part of it.
TOLERANCE = 0.1

Track = Literal["scratch", "open"]


class ResultError(DocumentError):
    """Raised for a result file that is invalid or not of the protocol. The message names the file and the field."""


@dataclass(frozen=True)
class Task:
    """A game and its ladder.

    Attributes:
        game: the game string.
        ladder: SHA-256 hash of the ladder that agents are rated on (see :func:`ladder_hash`).
        former_ladder: file of the ladder if players on it have changed: the task has results, but no new runs.
    """

    game: str
    ladder: str
    former_ladder: Path | None = None

    def stored_ladder(self) -> Ladder:
        """Return the ladder of the results."""
        return load_ladder(self.game, self.former_ladder)

    def load_ladder(self) -> Ladder:
        """Return the ladder to rate on. Raises ``ResultError`` if it, or a player on it, is not that of this protocol's version."""
        if self.former_ladder is not None:
            raise ResultError(
                f"the ladder {self.former_ladder.name} must have the players of today, got players that have changed"
            )
        ladder = load_ladder(self.game)
        if (present := ladder_hash(ladder)) != self.ladder:
            raise ResultError(f"the ladder of {self.game} must have the hash {self.ladder}, got {present}")
        if changed := ladder.changed_players():
            raise ResultError(f"the ladder of {self.game}: the checkpoint {changed[0]} has changed since it was made")
        return ladder


def ladder_hash(ladder: Ladder) -> str:
    """Return the SHA-256 hash of a ladder's contents, which include the hashes of checkpoints among its players."""
    return hashlib.sha256(json.dumps(ladder.to_fields(), sort_keys=True).encode()).hexdigest()


#: The tasks: each game on its small board, and two official boards.
TASKS = {
    "vadus-5": Task("vadus(size=5)", "d508af41ac16d6a26983ee3ae2656a2157cd08e15275103b90505c7ff3fe8286"),
    "laido-5": Task("laido(size=5)", "e261f6548de8f451008fc3eceecf3f4dcec3023fda5efe550e6d3b7b2f0a2c5b"),
    "taugo-8": Task("taugo(size=8)", "4ed25870680796b851c670dfd2d8afbac119948e311d9ce95cdbd148d53ec299"),
    "taigo-5": Task(
        "taigo(radius=5)",
        "78d4c044abde0e96f0d9ff46f9378f3608a5368a598671dd914953b1b48f2e84",
        Path(__file__).parent / "ladders" / "taigo-5.json",
    ),
    "taigo-5b": Task("taigo(radius=5)", "a8145e81ce929d2aa4616c61cb7d7221c00eddc83cd78e161715d8dcbf83b035"),
    "trugo-18": Task(
        "trugo(max_turns=100,radius=5,tiles=18)",
        "48c06ceede96e556dff3dd9f960317461fdc0ace5dbf3b70df8b4644a346e70b",
        Path(__file__).parent / "ladders" / "trugo-18.json",
    ),
    "trugo-18b": Task(
        "trugo(max_turns=100,radius=5,tiles=18)", "eb16dbe7d1c057bbe305eca66362acb99d8c86eb36241c197f7517605fd0405b"
    ),
    "vadus-9": Task("vadus(size=9)", "d6da8bde3b0eecfd6f966e0cb27054604e3340329a2f3db580d6780fbe1a72bb"),
    "taigo-12": Task("taigo(radius=12)", "b0220c1e08ecbfe2c858e65b53a55239e2425b778ae39ae293fa2eb922548cc2"),
}


class Games(Document):
    """The games of a rating, in pairs with swapped seats.

    Attributes:
        scout_pairs: pairs with each player of the ladder.
        anchors: number of the nearest players.
        pairs: pairs with each of these.
    """

    scout_pairs: int = Field(1, ge=1)
    anchors: int = Field(4, ge=1)
    pairs: int = Field(10, ge=1)


class Rating(Document):
    """A rating on the ladder of the task: Elo, with 0 for random play, its standard error, and the number of games."""

    elo: float
    standard_error: float = Field(ge=0)
    games: int = Field(ge=1)


class Point(Document):
    """A point of the curve.

    Attributes:
        steps: environment steps: actions in training games, in all seats that the learner learns from; of AlphaZero, all
            actions of finished games, with their random openings.
        simulations: simulations of searches in training.
        processor_seconds: processor time of training so far.
        wall_seconds: time of training so far.
        policy: rating of the agent without search.
        search: rating with a search of ``SIMULATIONS``; None if the agent cannot search.
    """

    steps: int = Field(ge=0)
    simulations: int = Field(ge=0)
    processor_seconds: float = Field(gt=0)
    wall_seconds: float = Field(gt=0)
    policy: Rating
    search: Rating | None = None


class Hardware(Document):
    """The machine."""

    processor: str
    cores: int = Field(ge=1)


_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Result(Document):
    """The file of one run. It is written after each point, so the last ones are missing in that of an unfinished run.

    Attributes:
        protocol: version of the protocol.
        algorithm: name of the algorithm.
        track: what it may know: ``scratch`` or ``open``.
        task: name of the task.
        seed: seed of training.
        budget: training in processor seconds.
        games: games of each rating.
        ladder: hash of the ladder.
        configuration: the algorithm's settings.
        hardware: the machine.
        libraries: versions of libraries.
        commit: commit of this repository, followed by ``+`` if files were changed.
        curve: a point for each of ``POINTS``.
    """

    error: ClassVar[type[ValueError]] = ResultError

    protocol: Literal["1"]
    algorithm: Annotated[str, Field(pattern=r"^[\w.-]{1,40}$")]
    track: Track
    task: str
    seed: int = Field(ge=0)
    budget: float = Field(gt=0)
    games: Games
    ladder: _Sha256
    configuration: dict[str, Any]
    hardware: Hardware
    libraries: dict[str, str]
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}\+?$")]
    curve: Tuple[Point] = Field((), max_length=len(POINTS))

    @field_validator("task")
    @classmethod
    def _check_task(cls, task: str) -> str:
        if task not in TASKS:
            raise ValueError(f"must be one of {', '.join(TASKS)}, got {task!r}")
        return task

    @model_validator(mode="after")
    def _check_curve(self) -> Result:
        for name in ("steps", "simulations", "processor_seconds", "wall_seconds"):
            values = [getattr(point, name) for point in self.curve]
            if any(later < earlier for earlier, later in pairwise(values)):
                raise ValueError(f"curve.{name} must not decrease, got {values}")
        if len({point.search is None for point in self.curve}) > 1:
            raise ValueError("curve.search must be in all points or in none")
        return self

    @property
    def file_name(self) -> str:
        """Name of the file."""
        return f"{self.task}-{self.algorithm}-{self.seed}-{self.budget:g}.json"


def check_result(result: Result, source: str, budgets: Sequence[float] = BUDGETS) -> None:
    """Check what types and bounds cannot say: that a finished run kept to the protocol.

    Raises:
        ResultError: it did not; the message is one line that names the source and the field.
    """
    due = [point * result.budget for point in POINTS]
    spent = [point.processor_seconds for point in result.curve]
    most = (1 + TOLERANCE) * result.budget
    for field, value, is_valid, allowed in (
        ("budget", f"{result.budget:g}", result.budget in budgets, f"one of {', '.join(f'{b:g}' for b in budgets)}"),
        ("seed", result.seed, result.seed < NUM_SEEDS, f"from 0 to {NUM_SEEDS - 1}"),
        ("ladder", result.ladder, result.ladder == TASKS[result.task].ladder, TASKS[result.task].ladder),
        ("games", result.games, result.games == Games(), str(Games())),
        ("curve", f"{len(spent)} (not finished)", len(spent) == len(due), f"{len(due)} points"),
        (
            "curve.processor_seconds",
            spent,
            all(one >= other for one, other in zip(spent, due, strict=False)) and (not spent or spent[-1] <= most),
            f"at least {', '.join(f'{point:g}' for point in due)}, and at most {most:g}",
        ),
    ):
        if not is_valid:
            raise ResultError(f"{source}: {field} must be {allowed}, got {value}")


def read_results(folder: Path, budgets: Sequence[float] = BUDGETS) -> tuple[list[Result], list[str]]:
    """Return the valid results in a folder, by file name, and the problems of the other files, one line each."""
    results: dict[str, Result] = {}
    problems = []
    for path in sorted(folder.glob("*.json")):
        try:
            result = Result.from_file(path)
            check_result(result, str(path), budgets)
            if result.file_name in results:
                raise ResultError(f"{path}: seed {result.seed} of {result.algorithm} on {result.task} is there twice")
        except ResultError as error:
            problems.append(str(error))
        else:
            results[result.file_name] = result
    return list(results.values()), problems
