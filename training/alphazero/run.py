"""A run of AlphaZero: self-play and learning in a folder, which can be stopped or killed at any time and then goes on."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stoneworks.envs.rules import load_game
from stoneworks.extras import require_extra
from stoneworks.files import write_whole
from stoneworks.models import Bot, load_bot
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.bots.search_bot import SearchBot
from stoneworks.models.checkpoint import (
    METADATA_FILE,
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    load_training_state,
    recover,
    save_checkpoint,
)
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.models.processors import num_processors
from stoneworks.models.shipped import find
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.learner import Learner, Losses
from stoneworks.training.alphazero.metrics import tensorboard_scalars
from stoneworks.training.alphazero.positions import BatchMaker, position_dtype
from stoneworks.training.alphazero.replay_buffer import ReplayBuffer
from stoneworks.training.alphazero.sources import (
    Clocks,
    GameSource,
    OwnSelfPlay,
    SelfPlayProcesses,
    device_and_dtype,
    make_evaluator,
)
from stoneworks.training.arena.match import play_match, summarize
from stoneworks.training.arena.records import write_records
from stoneworks.training.runs.config import check_unchanged, config_as_dict, dump_config
from stoneworks.training.runs.hardware import describe_hardware, torch_threads

with require_extra("train", "training runs"):
    import torch
    from torch.utils.tensorboard import SummaryWriter

#: Keys of a configuration that may change when training goes on.
CHANGEABLE = (
    "positions",
    "checkpoint_seconds",
    "processes",
    "threads",
    "device",
    "precision",
    "matches",
    "search",
    "self_play",
    "learner",
)

# What random numbers are for; each purpose has its own sequence of seeds.
_INITIAL_WEIGHTS, _SELF_PLAY, _LEARNING, _MATCHES = range(4)


@dataclass(frozen=True)
class TrainingStatus:
    """Where a run is. Rates and shares are those of the latest iteration.

    Attributes:
        positions: positions learned from.
        total_positions: positions to learn from in all.
        games: games played.
        iterations: rounds of playing and learning.
        seconds: in all sessions.
        games_per_second: games.
        positions_per_second: positions that are learned from.
        simulations_per_second: simulations, over all processes.
        mean_length: mean number of actions of the games of the iteration.
        draw_share: their share of draws.
        first_player_score: their mean score of player 0, a draw being half a win.
        losses: means over the iteration.
        network_share: the network's share of the time of all processes.
        search_share: the search's own.
        learning_share: the learner's.
        search_share_of_self_play: the search's own share of the time that self-play took.
        message: news worth keeping, such as the result of a match; empty mostly.
    """

    positions: int
    total_positions: int
    games: int
    iterations: int
    seconds: float
    games_per_second: float = 0.0
    positions_per_second: float = 0.0
    simulations_per_second: float = 0.0
    mean_length: float = 0.0
    draw_share: float = 0.0
    first_player_score: float = 0.0
    losses: Losses | None = None
    network_share: float = 0.0
    search_share: float = 0.0
    learning_share: float = 0.0
    search_share_of_self_play: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class TrainingResult:
    """How a run, or a part of one, ended.

    Attributes:
        checkpoint: the folder of the checkpoint.
        positions: positions learned from, in all.
        games: games played, in all.
        seconds: time taken, in all sessions.
        finished: whether all positions have been learned from.
    """

    checkpoint: Path
    positions: int
    games: int
    seconds: float
    finished: bool


def train(
    config: AlphaZeroConfig,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    report: Callable[[TrainingStatus], None] | None = None,
    stop: threading.Event | None = None,
) -> TrainingResult:
    """Train until ``config.positions``, or until ``stop`` is set.

    Args:
        config: what to train.
        folder: where the run lives: ``checkpoint/`` is its latest checkpoint, ``positions/`` the replay buffer, ``matches/``
            the records of its matches, ``metrics.jsonl`` and ``tensorboard/`` its figures, ``config.yaml`` what it is.
        resume: whether to go on from the checkpoint in ``folder``; without one, training starts.
        report: called after each iteration and each match.
        stop: when set, a checkpoint is written, and training returns.

    Raises:
        ConfigError: the configuration differs from the one that training began with in more than ``CHANGEABLE``.
        CheckpointError: the checkpoint is damaged or does not fit, or there is one and ``resume`` is False.
        SelfPlayError: a self-play process failed.
        ValueError: ``matches`` has an unknown bot.
    """
    with torch_threads(config.threads):
        run = Run(config, Path(folder), resume)
        return run.train(report or (lambda status: None), stop or threading.Event())


class Run:
    """One session of a run."""

    def __init__(self, config: AlphaZeroConfig, folder: Path, resume: bool) -> None:
        self.config = config
        self.folder = folder
        self.checkpoint = folder / "checkpoint"
        self.game = load_game(config.game)
        recover(self.checkpoint)
        earlier = self._read_earlier(resume)
        for name in (*config.matches.opponents, *config.matches.search_opponents):
            load_bot(name, self.game)
        network = earlier.network if earlier is not None else self._initial_network()
        self.learner = Learner(network, config.learner, *device_and_dtype(config))
        self.batches = BatchMaker(self.game, config.learner.search_value_share, config.search.discount)
        self.generator = np.random.default_rng(self._seed(_LEARNING))
        self.games = 0
        self.iterations = 0
        self.seconds_before = 0.0
        self.evaluations: list[dict[str, Any]] = []
        if earlier is not None:
            self._restore(earlier)
        positions = earlier.training["positions"] if earlier is not None else 0
        self.buffer = ReplayBuffer(
            folder / "positions", position_dtype(self.game), config.learner.buffer_bytes, positions
        )
        write_whole(folder / "config.yaml", dump_config(config))

    def _initial_network(self) -> BoardNetwork:
        """Return the network that a new run starts with."""
        config = self.config
        architecture = Architecture.of_game(
            self.game, channels=config.network.channels, blocks=config.network.blocks, kind="win_draw_loss_network"
        )
        if config.init_from:
            network = load_checkpoint(find(config.init_from) or config.init_from, self.game).network
            if network.architecture != architecture:
                raise CheckpointError(
                    f"init_from must be a checkpoint of the network {architecture}, got {network.architecture}"
                )
            return network
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(self._seed(_INITIAL_WEIGHTS).generate_state(1)[0]))
            return make_network(architecture)

    def train(self, report: Callable[[TrainingStatus], None], stop: threading.Event) -> TrainingResult:
        """See :func:`train`."""
        config = self.config
        began = saved = time.monotonic()
        if self.buffer.num_added >= config.positions:
            return self._result(0.0)
        if not (self.checkpoint / METADATA_FILE).exists():
            self.save(0.0)
        source = self._source()
        with contextlib.closing(source), SummaryWriter(str(self.folder / "tensorboard")) as board:
            while self.buffer.num_added < config.positions:
                status = self._iterate(source, stop, self.seconds_before + time.monotonic() - began)
                if status is None:
                    break
                self._log(status, board)
                report(status)
                now = status.positions
                last = now >= config.positions
                every, step = config.matches.positions, now - self._before_iteration
                if last or now // every > (now - step) // every:
                    self._evaluate(report, status, board)
                if not last and time.monotonic() - saved > config.checkpoint_seconds:
                    saved = time.monotonic()
                    self.save(saved - began)
        self.save(time.monotonic() - began)
        return self._result(time.monotonic() - began)

    @property
    def progress(self) -> float:
        """The share of the run that is done."""
        return self.buffer.num_added / self.config.positions

    def _result(self, seconds: float) -> TrainingResult:
        positions = self.buffer.num_added
        return TrainingResult(
            self.checkpoint, positions, self.games, self.seconds_before + seconds, positions >= self.config.positions
        )

    def _source(self) -> GameSource:
        number = self.config.processes
        if number < 0:
            number = 0 if num_processors() == 1 else num_processors()
        seed = self._seed(_SELF_PLAY, self.iterations)
        network = self.learner.acting_network
        if number == 0:
            return OwnSelfPlay(network, self.config, seed, self.progress)
        return SelfPlayProcesses(network, self.config, seed, number, self.progress)

    def _iterate(self, source: GameSource, stop: threading.Event, seconds: float) -> TrainingStatus | None:
        """Collect games and learn from them; return None, and change nothing, where ``stop`` is set meanwhile."""
        config = self.config
        begin = time.perf_counter()
        source.clocks = clocks = Clocks()
        played = source.collect(config.positions_per_iteration, stop)
        if stop.is_set():
            return None
        self._before_iteration = self.buffer.num_added
        self.buffer.add(np.concatenate([game.positions for game in played]))
        self.games += len(played)
        self.iterations += 1
        played_by = time.perf_counter()
        losses = self._learn()
        source.update(self.learner.acting_network.playing_state_dict(), self.progress)
        end = time.perf_counter()
        self_play_seconds = clocks.network_seconds + clocks.search_seconds + clocks.other_seconds
        busy = max(1e-9, self_play_seconds + end - played_by)
        new = self.buffer.num_added - self._before_iteration
        winners = np.array([game.winner for game in played])
        return TrainingStatus(
            positions=self.buffer.num_added,
            total_positions=config.positions,
            games=self.games,
            iterations=self.iterations,
            seconds=seconds + end - begin,
            games_per_second=len(played) / (end - begin),
            positions_per_second=new / (end - begin),
            simulations_per_second=clocks.num_simulations / (end - begin),
            mean_length=float(np.mean([len(game.actions) for game in played])),
            draw_share=float((winners < 0).mean()),
            first_player_score=float(np.where(winners < 0, 0.5, winners == 0).mean()),
            losses=losses,
            network_share=clocks.network_seconds / busy,
            search_share=clocks.search_seconds / busy,
            learning_share=(end - played_by) / busy,
            search_share_of_self_play=clocks.search_seconds / max(1e-9, self_play_seconds),
        )

    def _learn(self) -> Losses | None:
        """Take the gradient steps that are due, so that their number is in proportion to the positions."""
        settings = self.config.learner
        due = int(self.buffer.num_added * settings.samples_per_position / settings.batch_size)
        window = max(settings.min_window, int(settings.window_share * self.buffer.num_added))
        steps = []
        while self.learner.num_steps < due:
            positions = self.buffer.sample(settings.batch_size, window, self.generator)
            batch = self.batches.make(positions, self.generator)
            steps.append(self.learner.step(batch, self.progress))
        if not steps:
            return None
        return Losses(**{name: float(np.mean([asdict(one)[name] for one in steps])) for name in asdict(steps[0])})

    def _log(self, status: TrainingStatus, board: SummaryWriter) -> None:
        figures = {
            name: value
            for name, value in {**asdict(status), **(asdict(status.losses) if status.losses else {})}.items()
            if isinstance(value, (int, float))
        }
        self._write_metrics(figures)
        for tag, value in tensorboard_scalars(figures).items():
            board.add_scalar(tag, value, status.positions)

    def _write_metrics(self, figures: Mapping[str, Any]) -> None:
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")

    # -- Matches -----------------------------------------------------------------------------------------------------

    def _evaluate(self, report: Callable[[TrainingStatus], None], status: TrainingStatus, board: SummaryWriter) -> None:
        """Play the matches that ``config.matches`` says."""
        settings = self.config.matches
        network = self.learner.acting_network
        evaluator = make_evaluator(network, self.config)
        pairings: list[tuple[str, Bot, str]] = []
        for opponent in settings.opponents:
            policy = PolicyBot(network, self.game, deterministic=True, name="policy")
            pairings.append(("policy", policy, opponent))
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
                        name=name,
                    ),
                    opponent,
                )
            )
        for number, (kind, bot, opponent) in enumerate(pairings):
            of_bot, of_openings = map(int, self._seed(_MATCHES, self.iterations, number).generate_state(2))
            result = play_match(
                self.game,
                bot,
                load_bot(opponent, self.game, seed=of_bot),
                num_pairs=settings.num_pairs,
                opening_actions=settings.opening_actions,
                seed=of_openings,
            )
            figures = {"positions": status.positions, "seconds": status.seconds, "player": kind}
            self.evaluations.append(figures | summarize(result, opponent))
            folder = self.folder / "matches"
            folder.mkdir(exist_ok=True)
            write_records(folder / f"{status.positions:010d}-{number}.jsonl", result.records)
            board.add_scalar(f"matches/{kind}_{opponent}", result.score, status.positions)
            message = f"after {status.positions:,} positions: {result}"
            report(TrainingStatus(**{**vars(status), "message": message}))

    # -- Checkpoints -------------------------------------------------------------------------------------------------

    def save(self, seconds: float) -> None:
        """Write the checkpoint; ``seconds`` is the length of this session."""
        save_checkpoint(
            self.checkpoint,
            game=self.game,
            network=self.learner.acting_network,
            training={
                "algorithm": self.config.algorithm,
                "config": config_as_dict(self.config),
                "positions": self.buffer.num_added,
                "games": self.games,
                "iterations": self.iterations,
                "gradient_steps": self.learner.num_steps,
                "seconds": round(self.seconds_before + seconds, 1),
                "hardware": describe_hardware(),
                "random_state": self.generator.bit_generator.state,
                "evaluations": self.evaluations,
            },
            training_state=self.learner.state(),
        )

    def _read_earlier(self, resume: bool) -> Checkpoint | None:
        if not (self.checkpoint / METADATA_FILE).exists():
            return None
        if not resume:
            raise CheckpointError(
                f"{self.checkpoint} is a checkpoint already; go on from it with resume, or choose another folder"
            )
        checkpoint = load_checkpoint(self.checkpoint)
        check_unchanged(checkpoint.training.get("config"), self.config, CHANGEABLE, str(self.checkpoint))
        return checkpoint

    def _restore(self, checkpoint: Checkpoint) -> None:
        training = checkpoint.training
        self.learner.acting_network.load_playing_state_dict(checkpoint.network.state_dict())
        self.learner.load_state(load_training_state(self.checkpoint))
        self.generator.bit_generator.state = training["random_state"]
        self.games = training["games"]
        self.iterations = training["iterations"]
        self.seconds_before = training["seconds"]
        self.evaluations = list(training["evaluations"])

    def _seed(self, *purpose: int) -> np.random.SeedSequence:
        return np.random.SeedSequence((self.config.seed, *purpose))
