"""``Run``: the training loop of all algorithms, with folder, checkpoints, metrics and matches.

A run that was stopped or killed is resumed from the checkpoint in its folder (see
:mod:`stoneworks.training.runs.run_folder`); anything that was written after the checkpoint is deleted, or hidden by TensorBoard.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import MatchResult, play_match, summarize
from stoneworks.evaluation.records import write_records
from stoneworks.extras import require_extra
from stoneworks.files import append_json_line, remove_temporary_files, write_whole
from stoneworks.locks import lock_folder
from stoneworks.models import load_bot
from stoneworks.models.architecture import Architecture
from stoneworks.models.checkpoint import (
    METADATA_FILE,
    Checkpoint,
    CheckpointError,
    check_finite,
    load_checkpoint,
    load_training_state,
    recover,
    save_checkpoint,
)
from stoneworks.models.machine import keep_freed_memory
from stoneworks.models.network import BoardNetwork, make_network
from stoneworks.models.shipped import find
from stoneworks.processes import check_main_guard
from stoneworks.reading import read_text
from stoneworks.training.runs.algorithms import ALGORITHMS, Algorithm, ConfigError, RunConfig, TrainingMatch
from stoneworks.training.runs.config_files import MAX_BYTES, check_unchanged, dump_config
from stoneworks.training.runs.hardware import describe_hardware, own_settings
from stoneworks.training.runs.run_folder import (
    CHECKPOINT_FOLDER,
    CONFIG_FILE,
    CONFIG_HEADER,
    MATCHES_FOLDER,
    METRICS_FILE,
    TENSORBOARD_FOLDER,
    add_metrics,
    algorithm_of,
    check_training,
    runs_before,
    truncate_metrics,
)

with require_extra("train", "training runs"):
    from torch.utils.tensorboard import SummaryWriter

#: Purpose of the random numbers of the initial weights (see ``RunConfig.seed_sequence``).
INITIAL_WEIGHTS = 0


@dataclass(frozen=True)
class TrainingStatus:
    """Status of a run.

    Attributes:
        done: completed amount of training, in the unit of the configuration.
        total: total amount of training.
        seconds: elapsed time, in all sessions.
        per_second: amount per second of the latest iteration.
        metrics: the algorithm's metrics of the latest iteration.
        beside: text beside the progress bar.
        below: lines below the progress bar.
        message: message to keep on the display, such as the result of a match; usually empty.
    """

    done: int
    total: int
    seconds: float
    per_second: float = 0.0
    metrics: Mapping[str, Any] = field(default_factory=dict)
    beside: str = ""
    below: Sequence[str] = ()
    message: str = ""


@dataclass(frozen=True)
class TrainingResult:
    """Result of a run, or of one session of it.

    Attributes:
        checkpoint: the folder of the checkpoint.
        done: completed amount of training, in all sessions.
        seconds: elapsed time, in all sessions.
        finished: whether the run is complete.
        match_results: results of the matches in all sessions, in order: ``player``, ``opponent``, ``score``, ``interval`` and
            others, and the amount of training, such as ``positions``.
    """

    checkpoint: Path
    done: int
    seconds: float
    finished: bool
    match_results: Sequence[Mapping[str, Any]] = ()

    @property
    def scores(self) -> dict[tuple[str, str], float]:
        """Latest score by player and opponent, such as ``scores["policy", "greedy"]``: 1 for a win, 0.5 for a draw."""
        return {(row["player"], row["opponent"]): row["score"] for row in self.match_results}


OnStatus: TypeAlias = Callable[[TrainingStatus], None]
#: Called with numbers by name and the completed amount of training.
OnMetrics: TypeAlias = Callable[[dict[str, float], int], None]


def train_run(
    config: RunConfig,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    on_status: OnStatus | None = None,
    on_metrics: OnMetrics | None = None,
    stop: threading.Event | None = None,
) -> TrainingResult:
    """Train until the run is complete or until ``stop`` is set.

    Args:
        config: the configuration.
        folder: the folder of the run (see :mod:`stoneworks.training.runs.run_folder`).
        resume: whether to resume from the checkpoint in ``folder``; if there is none, a new run starts.
        on_status: called periodically with the status, from the training loop.
        on_metrics: called with the numbers that are added to ``metrics.jsonl``, after each iteration and each match, and with the
            completed amount of training.
        stop: when set, training saves a checkpoint and returns soon afterwards.

    Raises:
        ConfigError: the configuration differs from that of the checkpoint in keys other than ``config.changeable``.
        CheckpointError: the checkpoint is damaged or does not match, or there is one and ``resume`` is False.
        InUseError: another process uses the folder.
        MainGuardError: self-play processes would start the program again, which lacks ``if __name__ == "__main__":``.
        SelfPlayError: a self-play process or actor failed.
        ClusterError: the cluster cannot be used.
        ValueError: an opponent's name is unknown, or the folder holds files of something else.
    """
    check_main_guard()
    algorithm_class = ALGORITHMS[config.algorithm].load_class("algorithm", Algorithm)  # type: ignore[type-abstract]
    game = load_game(config.game)
    for name in config.bot_names():
        load_bot(name, game).close()
    _check_folder(Path(folder), algorithm_class.files)
    with own_settings(config.threads), lock_folder(Path(folder)):
        run = Run(algorithm_class, config, Path(folder), resume)
        run.on_status = on_status or run.on_status
        run.on_metrics = on_metrics or run.on_metrics
        return run.train(stop or threading.Event())


class _MatchStopped(Exception):  # noqa: N818 - not an error
    """Raised to abandon a match."""


class Run:
    """One session of a run. Use it through :func:`train_run`, which holds the lock of the folder.

    Attributes:
        config: the configuration.
        folder: the folder of the run.
        checkpoint: the folder of its checkpoint.
        algorithm: the algorithm.
        match_results: results of the matches so far.
        matches_due: whether matches at this point of the run are still to be played; a resumed session plays them first.
        on_status: called with the status.
        on_metrics: called with new metrics (see :func:`train_run`).
    """

    def __init__(self, algorithm_class: type[Algorithm[Any]], config: RunConfig, folder: Path, resume: bool) -> None:
        keep_freed_memory()
        self.config = config
        self.folder = folder
        self.checkpoint = folder / CHECKPOINT_FOLDER
        self.on_status: OnStatus = lambda status: None
        self.on_metrics: OnMetrics = lambda metrics, done: None
        self._unit, self._total = config.unit, config.total
        self._began = time.monotonic()
        self._status = TrainingStatus(0, self._total, 0.0)
        earlier = self._read_earlier(resume)
        training: Mapping[str, Any] = {} if earlier is None else earlier.training
        self.match_results: list[dict[str, Any]] = list(training.get("match_results", ()))
        self.matches_due = bool(training.get("matches_due", False))
        self._seconds_before: float = training.get("seconds", 0.0)
        initial = None
        if earlier is None and config.init_from:
            initial = load_checkpoint(find(config.init_from) or config.init_from, load_game(config.game))
        self.algorithm = algorithm_class(config, self._network(initial), folder)
        self.algorithm.show_message = lambda message: self.on_status(
            replace(self._status, done=self.algorithm.done, seconds=self.seconds(), message=message)
        )
        if earlier is None:
            if initial is not None:
                self.algorithm.earlier_runs += runs_before(initial.training, initial.folder)
        else:
            self.algorithm.earlier_runs += training.get("earlier_runs", ())
            self._load(earlier)
        self._begin()
        self._status = TrainingStatus(self.algorithm.done, self._total, self.seconds())

    def train(self, stop: threading.Event) -> TrainingResult:
        """Train until the run is complete or ``stop`` is set, then save a checkpoint."""
        algorithm = self.algorithm
        # TensorBoard hides the events after the checkpoint, which this session writes again.
        events = SummaryWriter(str(self.folder / TENSORBOARD_FOLDER), purge_step=algorithm.done + 1)
        with contextlib.closing(algorithm), events as self._board:
            if self.matches_due:
                self._play_matches(stop)
                self._save()
            if algorithm.done < self._total:
                while algorithm.done < self._total and not stop.is_set():
                    before, began = algorithm.done, time.monotonic()
                    metrics = algorithm.iterate(stop)
                    if metrics is None:
                        break
                    check_finite(algorithm.network.playing_state_dict(), "the training diverged: ")
                    if metrics:
                        self._log(metrics, (algorithm.done - before) / max(1e-9, time.monotonic() - began))
                    self._play_matches_if_due(before, stop)
                    is_due = time.monotonic() - self._saved > self.config.checkpoint_seconds
                    if is_due and algorithm.done < self._total and not stop.is_set():
                        self._save()
                self._save()
        finished = algorithm.done >= self._total and not self.matches_due
        return TrainingResult(self.checkpoint, algorithm.done, self.seconds(), finished, tuple(self.match_results))

    def seconds(self) -> float:
        """Return the elapsed time in seconds, over all sessions."""
        return self._seconds_before + time.monotonic() - self._began

    # -- The beginning of a session --------------------------------------------------------------------------------------

    def _read_earlier(self, resume: bool) -> Checkpoint | None:
        recover(self.checkpoint)
        if not self.checkpoint.exists() or (self.checkpoint.is_dir() and not any(self.checkpoint.iterdir())):
            return None
        if not resume:
            raise CheckpointError(f"{self.checkpoint} already exists; resume the run, or choose another folder")
        checkpoint = load_checkpoint(self.checkpoint)
        check_training(checkpoint.training, algorithm_of(checkpoint.training, self.checkpoint).unit, self.checkpoint)
        check_unchanged(checkpoint.training["config"], self.config, str(self.checkpoint))
        return checkpoint

    def _network(self, initial: Checkpoint | None) -> BoardNetwork:
        """Return the initial network: that of ``initial``, or one with random weights."""
        architecture = Architecture.of_game(load_game(self.config.game), self.config.network)
        if initial is None:
            return make_network(architecture, int(self.config.seed_sequence(INITIAL_WEIGHTS).generate_state(1)[0]))
        if initial.network.architecture != architecture:
            raise CheckpointError(
                f"init_from must be a checkpoint of the network {architecture}, got {initial.network.architecture}"
            )
        return initial.network

    def _load(self, earlier: Checkpoint) -> None:
        """Restore a checkpoint. Raises ``CheckpointError`` if it does not belong to this run."""
        try:
            self.algorithm.done = earlier.training[self._unit]
            self.algorithm.load(earlier, load_training_state(self.checkpoint))
        except CheckpointError:
            raise
        except (ValueError, KeyError, TypeError, RuntimeError, OverflowError) as error:  # raised by torch and NumPy
            raise CheckpointError(f"{self.checkpoint} cannot be continued: {error!r}") from error

    def _begin(self) -> None:
        """Write the configuration and delete anything that was written after the checkpoint, or not completely."""
        done = self.algorithm.done
        remove_temporary_files(self.folder)
        write_whole(self.folder / CONFIG_FILE, CONFIG_HEADER + dump_config(self.config))
        truncate_metrics(self.folder / METRICS_FILE, self._unit, done)
        for file in (self.folder / MATCHES_FOLDER).glob("*-*.jsonl"):
            number = file.name.partition("-")[0]
            if number.isdecimal() and int(number) > done:
                file.unlink()
        self._began = time.monotonic()
        # The first checkpoint of a run is written after its first iteration.
        self._saved = self._began if (self.checkpoint / METADATA_FILE).exists() else -float("inf")

    # -- What follows an iteration ---------------------------------------------------------------------------------------

    def _log(self, metrics: Mapping[str, Any], per_second: float) -> None:
        """Write the metrics of an iteration to ``metrics.jsonl`` and TensorBoard, and report the status."""
        done, unit = self.algorithm.done, self._unit
        beside, below = self.algorithm.lines(metrics)
        self._status = TrainingStatus(done, self._total, self.seconds(), per_second, metrics, beside, below)
        own = {unit: done, f"total_{unit}": self._total, "seconds": self._status.seconds}
        row = {**own, f"{unit}_per_second": per_second, **metrics}
        append_json_line(self.folder / METRICS_FILE, row)
        scalars = {"progress/seconds": self._status.seconds, f"speed/{unit}_per_second": per_second}
        for tag, value in {**scalars, **self.algorithm.scalars(metrics)}.items():
            self._board.add_scalar(tag, value, done)
        self.on_metrics({name: value for name, value in row.items() if isinstance(value, (int, float))}, done)
        self.on_status(self._status)

    def _save(self) -> None:
        self._board.flush()
        values, tensors = self.algorithm.state()
        save_checkpoint(
            self.checkpoint,
            game=self.algorithm.game,
            network=self.algorithm.network,
            play=self.algorithm.play,
            training={
                "algorithm": self.config.algorithm,
                "config": self.config.model_dump(mode="json"),
                self._unit: self.algorithm.done,
                "seconds": round(self.seconds(), 1),
                "hardware": describe_hardware(),
                "match_results": self.match_results,
                "matches_due": self.matches_due,
                "earlier_runs": self.algorithm.earlier_runs,
                **values,
            },
            training_state=tensors,
        )
        self._saved = time.monotonic()

    # -- Matches -----------------------------------------------------------------------------------------------------------

    def _play_matches_if_due(self, before: int, stop: threading.Event) -> None:
        """Play matches if training from ``before`` to now has reached a multiple of their interval, or the end."""
        done, matches = self.algorithm.done, self.config.match_settings
        if matches is not None and done > before:
            every = getattr(matches, self._unit)
            if done >= self._total or done // every > before // every:
                self.matches_due = True
                if any(self.config.bot_names()):
                    self._save()  # matches may take long, or fail
                self._play_matches(stop)

    def _play_matches(self, stop: threading.Event) -> None:
        """Play the matches of this time that have not been played, until ``stop`` is set."""
        done = self.algorithm.done
        played = {(row[self._unit], row["player"], row["opponent"]) for row in self.match_results}
        number = sum(row[self._unit] == done for row in self.match_results)
        for match in self.algorithm.matches():
            if (done, match.player, match.opponent) in played:
                continue
            try:
                result = self._play(match, stop)
            except _MatchStopped:
                return
            place = {self._unit: done, "seconds": self._status.seconds, "player": match.player}
            self.match_results.append(place | summarize(result, match.opponent))
            folder = self.folder / MATCHES_FOLDER
            folder.mkdir(exist_ok=True)
            write_records(folder / f"{done:010d}-{number}.jsonl", result.records)
            number += 1
            scores = {f"matches/{match.player}_{match.opponent}": result.score}
            add_metrics(self.folder / METRICS_FILE, self._unit, done, scores)
            self.on_metrics(dict(scores), done)
            self._board.add_scalar(*scores.popitem(), done)
            self.on_status(replace(self._status, message=f"after {done:,} {self._unit}: {result}"))
        self.matches_due = False

    def _play(self, match: TrainingMatch, stop: threading.Event) -> MatchResult:
        """Play a match. Raises ``_MatchStopped`` if ``stop`` is set before its end."""

        def check_stop(over: int, games: int) -> None:
            if stop.is_set():
                raise _MatchStopped

        game, settings = self.algorithm.game, self.config.match_settings
        assert settings is not None
        of_bot, of_openings = map(int, match.seed.generate_state(2))
        with contextlib.closing(load_bot(match.opponent, game, seed=of_bot)) as other:
            return play_match(
                game,
                match.bot,
                other,
                num_pairs=settings.num_pairs,
                opening_actions=settings.opening_actions,
                seed=of_openings,
                progress=check_stop,
            )


def _check_folder(folder: Path, files: Sequence[str]) -> None:
    """Raise ``ValueError`` if a folder exists and contains something other than a run.

    A run that was killed before its first checkpoint has left its configuration, which begins with ``CONFIG_HEADER``.
    """
    if not folder.is_dir() or (folder / CHECKPOINT_FOLDER / METADATA_FILE).exists():
        return
    with contextlib.suppress(ConfigError):  # there is no configuration, or none that can be read
        if read_text(folder / CONFIG_FILE, ConfigError, MAX_BYTES).startswith(CONFIG_HEADER):
            return
    own = {METRICS_FILE, MATCHES_FOLDER, TENSORBOARD_FOLDER, *files}
    for file in sorted(folder.iterdir()):
        if file.name not in own and not file.name.startswith("."):
            raise ValueError(
                f"folder must be a new or empty folder, or that of a run, got {str(folder)!r}, which holds {file.name!r}"
            )
