"""A run of AlphaZero: self-play and learning in a folder; a run that was stopped or killed can be resumed."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stoneworks.envs.rules import load_game
from stoneworks.extras import require_extra
from stoneworks.models import Bot
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.bots.search_bot import SearchBot
from stoneworks.models.checkpoint import METADATA_FILE, Checkpoint, CheckpointError, load_training_state
from stoneworks.models.description import PlaySettings
from stoneworks.models.machine import num_processors
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.models.search.guides import make_guide
from stoneworks.reading import check_shape
from stoneworks.training.alphazero.clocks import Clocks
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.learner import Learner, Losses
from stoneworks.training.alphazero.metrics import tensorboard_scalars
from stoneworks.training.alphazero.replay_buffers import ReplayBuffers
from stoneworks.training.alphazero.sources import (
    GameSource,
    OwnSelfPlay,
    SelfPlayProcesses,
    device_and_dtype,
    make_evaluator,
)
from stoneworks.training.runs.config_files import parse_config
from stoneworks.training.runs.finished_run import read_run
from stoneworks.training.runs.hardware import torch_threads
from stoneworks.training.runs.initial_network import initial_network
from stoneworks.training.runs.run import Run, train_run
from stoneworks.training.runs.status import Report, TrainingResult, TrainingStatus
from stoneworks.training.runs.training_information import runs_before

with require_extra("train", "training runs"):
    import torch

if TYPE_CHECKING:
    from stoneworks.training.alphazero.cluster.status import ClusterStatus

#: Keys of the configuration that may be changed when a run is resumed.
CHANGEABLE = (
    "positions",
    "checkpoint_seconds",
    "processes",
    "cluster",
    "threads",
    "learner_threads",
    "device",
    "precision",
    "matches",
    "search",
    "play",
    "self_play",
    "learner",
)

POSITIONS_FOLDER = "positions"

# Purposes of random numbers; each has its own sequence of seeds.
_INITIAL_WEIGHTS, _SELF_PLAY, _LEARNING, _MATCHES = range(4)


@dataclass(frozen=True)
class AlphaZeroStatus(TrainingStatus):
    """Status of a run. Rates and shares are those of the latest iteration.

    Attributes:
        games: number of games played.
        iterations: number of iterations of self-play and learning.
        games_per_second: games per second.
        simulations_per_second: simulations per second, over all processes.
        mean_length: mean number of actions per game of the iteration.
        draw_share: share of draws among these games.
        first_player_score: mean score of player 0 in these games; a draw is half a win.
        losses: mean losses of the iteration; None if it had no gradient step.
        network_share: share of the time of all processes that is spent in the network.
        search_share: share spent in the search, without the network.
        learning_share: share spent in learning.
        search_share_of_self_play: share of the self-play time that is spent in the search, without the network.
        cluster: status of the cluster; None on one machine.
    """

    games: int = 0
    iterations: int = 0
    games_per_second: float = 0.0
    simulations_per_second: float = 0.0
    mean_length: float = 0.0
    draw_share: float = 0.0
    first_player_score: float = 0.0
    losses: Losses | None = None
    network_share: float = 0.0
    search_share: float = 0.0
    learning_share: float = 0.0
    search_share_of_self_play: float = 0.0
    cluster: ClusterStatus | None = None


@dataclass(frozen=True)
class AlphaZeroResult(TrainingResult):
    """Result of a run, or of one session of it.

    Attributes:
        games: number of games played, in all sessions.
    """

    games: int = 0


def train(
    config: AlphaZeroConfig,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    report: Report | None = None,
    stop: threading.Event | None = None,
) -> TrainingResult:
    """Train until ``config.positions`` or until ``stop`` is set. See :func:`stoneworks.training.runs.run.train_run`.

    The folder also contains ``positions/``, the replay buffers.

    Raises:
        SelfPlayError: a self-play process or actor failed.
        ClusterError: the cluster cannot be used.
        ConfigError, CheckpointError, InUseError, ValueError: see :func:`stoneworks.training.runs.run.train_run`.
    """
    return train_run(AlphaZeroRun, config, folder, resume=resume, report=report, stop=stop)


def _open_buffers(folder: Path, config: AlphaZeroConfig, checkpoint: Checkpoint | None) -> ReplayBuffers:
    """Return the buffers of the run in ``folder``, as of its checkpoint. Raises ``CheckpointError`` if they do not fit it."""
    if checkpoint is None:
        return ReplayBuffers(folder / POSITIONS_FOLDER, config, {})
    training = checkpoint.training
    check_shape(dict(training), {"positions_adopted?": int}, CheckpointError, f"{checkpoint.folder}: training")
    num_added = training["positions"] + training.get("positions_adopted", 0)
    by_game = training.get("positions_by_game") or {str(load_game(config.game)): num_added}
    where = f"{checkpoint.folder}: positions_by_game"
    check_shape(by_game, dict.fromkeys(config.shares(), int), CheckpointError, where)
    if min(by_game.values()) < 0 or sum(by_game.values()) != num_added:
        raise CheckpointError(f"{where} must have a sum of {num_added}, got {by_game}")
    return ReplayBuffers(folder / POSITIONS_FOLDER, config, by_game)


class AlphaZeroRun(Run[AlphaZeroConfig]):
    """One session of a run."""

    changeable: ClassVar[tuple[str, ...]] = CHANGEABLE
    amount = "positions"
    parts = (POSITIONS_FOLDER,)

    def __init__(self, config: AlphaZeroConfig, folder: Path, resume: bool) -> None:
        super().__init__(config, folder, resume)
        self.learner = Learner(self._initial_network(), config.learner, *device_and_dtype(config))
        self.generator = np.random.default_rng(self.seed(_LEARNING))
        self.games = 0
        self.iterations = 0
        self._before_iteration = 0
        self._latest = AlphaZeroStatus(0, config.positions, 0.0)
        if self.earlier is not None:
            self._restore(self.earlier)
        adopted = self._open_adopted() if self.earlier is None and config.positions_from else None
        self.buffers = _open_buffers(folder, config, self.earlier)
        self.num_adopted: int = 0 if self.earlier is None else self.earlier.training.get("positions_adopted", 0)
        if adopted is not None:
            self.buffers.add_from(adopted)
            self.num_adopted = sum(self.buffers.num_added.values())

    def _open_adopted(self) -> ReplayBuffers:
        """Return the buffers of ``positions_from``. Raises ``CheckpointError`` if they do not hold the games of this run."""
        folder = Path(self.config.positions_from)
        checkpoint = read_run(folder).checkpoint
        config = parse_config(checkpoint.training["config"], str(checkpoint.folder))
        if not isinstance(config, AlphaZeroConfig):
            raise CheckpointError(
                f"positions_from must be the folder of a run of AlphaZero, got {str(folder)!r}, one of {config.algorithm}"
            )
        if missing := set(self.config.shares()) - set(config.shares()):
            raise CheckpointError(
                f"positions_from must be the folder of a run with {min(missing)}, got {str(folder)!r}, which has played "
                f"{', '.join(config.shares())}"
            )
        before = runs_before(checkpoint)
        self.earlier_runs = [*before, *(run for run in self.earlier_runs if run not in before)]
        return _open_buffers(folder, config, checkpoint)

    def _restore(self, earlier: Checkpoint) -> None:
        """Restore the state of a checkpoint. Raises ``CheckpointError`` if it does not belong to this run."""
        try:
            check_shape(
                dict(earlier.training), {"games": int, "iterations": int}, CheckpointError, str(self.checkpoint)
            )
            self.learner.acting_network.load_playing_state_dict(earlier.network.state_dict())
            self.learner.load_state(load_training_state(self.checkpoint))
            self.generator.bit_generator.state = earlier.training["random_state"]
            self.games = earlier.training["games"]
            self.iterations = earlier.training["iterations"]
        except CheckpointError:
            raise
        except (ValueError, KeyError, TypeError, RuntimeError, OverflowError) as error:  # raised by torch and NumPy
            raise CheckpointError(f"{self.checkpoint} cannot be continued: {error!r}") from error

    def _initial_network(self) -> BoardNetwork:
        """Return the initial network of a new run; a resumed run replaces its weights."""
        architecture = Architecture.of_game(self.game, self.config.network)
        if self.initial is not None:
            return initial_network(self.initial, architecture)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(self.seed(_INITIAL_WEIGHTS).generate_state(1)[0]))
            return make_network(architecture)

    @staticmethod
    def opponents(config: AlphaZeroConfig) -> Iterable[str]:
        """See :meth:`Run.opponents`."""
        return (*config.matches.opponents, *config.matches.search_opponents)

    @property
    def done(self) -> int:
        """See :attr:`Run.done`."""
        return sum(self.buffers.num_added.values()) - self.num_adopted

    @property
    def play(self) -> PlaySettings:
        """See :attr:`Run.play`."""
        play, discount = self.config.play, self.config.search.discount
        return PlaySettings(
            deterministic_policy=True,
            discount=discount,
            guide=play.guide,
            guide_weight=play.guide_weight,
            guide_playouts=play.guide_playouts,
        )

    @property
    def network(self) -> BoardNetwork:
        """See :attr:`Run.network`."""
        return self.learner.acting_network

    def training(self) -> Mapping[str, Any]:
        """See :meth:`Run.training`."""
        return {
            "games": self.games,
            "positions_by_game": self.buffers.num_added,
            "positions_adopted": self.num_adopted,
            "iterations": self.iterations,
            "gradient_steps": self.learner.num_steps,
            "random_state": self.generator.bit_generator.state,
        }

    def training_state(self) -> dict[str, torch.Tensor]:
        """See :meth:`Run.training_state`."""
        return self.learner.state()

    def train(self, report: Report, stop: threading.Event) -> AlphaZeroResult:
        """See :meth:`Run.train`."""
        config = self.config
        at_start, began, aside = self.done, time.monotonic(), 0.0
        if self.matches_due:
            self._play_matches(AlphaZeroStatus(self.done, config.positions, self.seconds()), report, stop)
            self.save()
            aside = time.monotonic() - began
        self._learn_adopted(report, stop)
        if self.done < config.positions:
            with contextlib.closing(self._source(report)) as source:
                if not (self.checkpoint / METADATA_FILE).exists():
                    self.save()
                while self.done < config.positions:
                    status = self._iterate(source, stop)
                    if status is None:
                        break
                    self._log(status)
                    self._latest = status
                    report(status)
                    interlude = time.monotonic()
                    last = self.done >= config.positions
                    every = config.matches.positions
                    if last or self.done // every > self._before_iteration // every:
                        self._play_matches(status, report, stop)
                    if not last and not stop.is_set():
                        self.save_if_due()
                    aside += time.monotonic() - interlude
            self.save()
        seconds = time.monotonic() - began - aside
        return AlphaZeroResult(
            self.checkpoint,
            self.done,
            self.seconds(),
            (self.done - at_start) / max(1e-9, seconds),
            self.done >= config.positions and not self.matches_due,
            games=self.games,
        )

    @property
    def progress(self) -> float:
        """Completed fraction of the run, in [0, 1]."""
        return self.done / self.config.positions

    def _source(self, report: Report) -> GameSource:
        number = self.config.processes
        if number < 0:
            number = 0 if num_processors() == 1 else num_processors()
        seed = self.seed(_SELF_PLAY, self.iterations)
        network = self.network
        if self.config.cluster:
            from stoneworks.training.alphazero.cluster.source import ClusterSelfPlay

            def tell(message: str) -> None:
                report(replace(self._latest, done=self.done, seconds=self.seconds(), message=message))

            return ClusterSelfPlay(network, self.config, seed, self.progress, tell)
        if number == 0:
            return OwnSelfPlay(network, self.config, seed, self.progress)
        return SelfPlayProcesses(network, self.config, seed, number, self.progress)

    def _iterate(self, source: GameSource, stop: threading.Event) -> AlphaZeroStatus | None:
        """Collect games and train on them; return None, without any change, if ``stop`` is set during self-play."""
        config = self.config
        begin = time.perf_counter()
        source.clocks = clocks = Clocks()
        played = source.collect(config.positions_per_iteration, stop)
        if stop.is_set():
            return None
        self._before_iteration = self.done
        self.buffers.add(played)
        self.games += len(played)
        self.iterations += 1
        played_by = time.perf_counter()
        losses = self._learn(self._num_steps_due(self.done + self.num_adopted))
        source.update(self.learner.acting_network.playing_state_dict(), self.progress)
        end = time.perf_counter()
        self_play_seconds = clocks.network_seconds + clocks.search_seconds + clocks.other_seconds
        busy = max(1e-9, self_play_seconds + end - played_by)
        new = self.done - self._before_iteration
        winners = np.array([game.winner for game in played])
        return AlphaZeroStatus(
            done=self.done,
            total=config.positions,
            seconds=self.seconds(),
            per_second=new / (end - begin),
            games=self.games,
            iterations=self.iterations,
            games_per_second=len(played) / (end - begin),
            simulations_per_second=clocks.num_simulations / (end - begin),
            mean_length=float(np.mean([len(game.actions) for game in played])),
            draw_share=float((winners < 0).mean()),
            first_player_score=float(np.where(winners < 0, 0.5, winners == 0).mean()),
            losses=losses,
            network_share=clocks.network_seconds / busy,
            search_share=clocks.search_seconds / busy,
            learning_share=(end - played_by) / busy,
            search_share_of_self_play=clocks.search_seconds / max(1e-9, self_play_seconds),
            cluster=source.status(),
        )

    def _learn_adopted(self, report: Report, stop: threading.Event) -> None:
        """Train on the adopted positions, as often as on those of self-play."""
        due = self._num_steps_due(self.num_adopted)
        while self.learner.num_steps < due and not stop.is_set():
            losses = self._learn(min(due, self.learner.num_steps + max(10, due // 10)))
            assert losses is not None
            message = (
                f"{self.learner.num_steps:,} of {due:,} gradient steps on the positions of {self.config.positions_from}: "
                f"policy loss {losses.policy:.3f}, value loss {losses.value:.3f}"
            )
            report(replace(self._latest, done=self.done, seconds=self.seconds(), message=message))
            self.save_if_due()

    def _num_steps_due(self, num_positions: int) -> int:
        """Return the number of gradient steps for a number of positions."""
        settings = self.config.learner
        return int(num_positions * settings.samples_per_position / settings.batch_size)

    def _learn(self, due: int) -> Losses | None:
        """Take gradient steps up to the number ``due``; return the mean losses, or None without any step."""
        steps = []
        with torch_threads(self.config.learner_threads or self.config.threads):
            while self.learner.num_steps < due:
                steps.append(self.learner.step(self.buffers.make_batch(self.generator), self.progress))
        if not steps:
            return None
        return Losses(**{name: float(np.mean([asdict(one)[name] for one in steps])) for name in asdict(steps[0])})

    def _log(self, status: AlphaZeroStatus) -> None:
        figures: dict[str, Any] = {
            name: value
            for name, value in {**asdict(status), **(asdict(status.losses) if status.losses else {})}.items()
            if isinstance(value, (int, float))
        }
        names = {"done": "positions", "total": "total_positions", "per_second": "positions_per_second"}
        figures = {names.get(name, name): value for name, value in figures.items()}
        scalars = tensorboard_scalars(figures)
        if status.cluster is not None:
            figures |= status.cluster.figures()
            scalars |= status.cluster.scalars()
        self.log(figures, scalars, status.done)

    def _play_matches(self, status: AlphaZeroStatus, report: Report, stop: threading.Event) -> None:
        settings = self.config.matches
        pairings: list[tuple[str, Bot, str]] = []
        for opponent in settings.opponents:
            policy = PolicyBot(self.network, self.game, deterministic=True, name="policy")
            pairings.append(("policy", policy, opponent))
        evaluator = make_evaluator(self.network, self.config)
        for opponent in settings.search_opponents:
            name = f"policy@{settings.simulations}"
            pairings.append(
                (
                    name,
                    SearchBot(
                        evaluator,
                        self.game,
                        simulations=settings.simulations,
                        discount=self.config.search.discount,
                        guide=make_guide(self.config.play.guide, self.game, self.config.play.guide_playouts),
                        guide_weight=self.config.play.guide_weight,
                        features=self.config.network.sees_features,
                        name=name,
                    ),
                    opponent,
                )
            )
        self.play_matches(
            pairings, settings, lambda number: self.seed(_MATCHES, self.iterations, number), status, report, stop
        )
