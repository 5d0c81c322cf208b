"""AlphaZero: self-play with tree search, and a network that learns from the search policies and the results.

| in `metrics.jsonl` | meaning |
|---|---|
| `positions` | training positions so far; the horizontal axis |
| `total_positions` | training positions of the whole run |
| `games` | games so far |
| `iterations` | iterations so far |
| `seconds` | time over all sessions |
| `games_per_second` | games finished per second |
| `positions_per_second` | training positions per second |
| `simulations_per_second` | simulations of all searches, including those that a proven root saves |
| `mean_length` | actions per game, including random openings |
| `draw_share` | share of draws |
| `first_player_score` | mean score of player 0 |
| `network_share` | share of process time: evaluating positions for searches |
| `search_share` | trees, rules, playouts |
| `learning_share` | gradient steps, distributing weights |
| `search_share_of_self_play` | `search_share` without the learner |
| `policy` | cross entropy of search and network policies, in nats |
| `policy_divergence` | the same minus the entropy of the search policy: 0 if both agree |
| `value` | cross entropy of result and prediction, in nats; ln 3 ≈ 1.10 is chance level |
| `ownership` | cross entropy of the owners of cells at the end, in nats; 0 without `learner.ownership_weight` |
| `short_term_values` | cross entropy of the short-term values, in nats; 0 without `learner.short_term_value_weight` |
| `gradient_norm` | norm of the gradient before clipping |
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from stoneworks.documents import Document
from stoneworks.models import Bot
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.bots.search_bot import SearchBot, playing_settings
from stoneworks.models.checkpoint import Checkpoint, CheckpointError
from stoneworks.models.description import PlaySettings
from stoneworks.models.machine import num_processors
from stoneworks.models.network import BoardNetwork
from stoneworks.text import percent
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.device_self_play import make_self_play, num_devices
from stoneworks.training.alphazero.learner import Learner, Losses
from stoneworks.training.alphazero.processes import SelfPlayProcesses
from stoneworks.training.alphazero.replay_buffer import ReplayBuffers
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlayTimings
from stoneworks.training.alphazero.sources import GameSource, device_and_dtype, make_inference
from stoneworks.training.runs.algorithms import Algorithm, Row, TrainingMatch
from stoneworks.training.runs.hardware import find_device, torch_threads
from stoneworks.training.runs.schedule import value_at

if TYPE_CHECKING:
    from torch import Tensor

    from stoneworks.training.alphazero.cluster.status import ClusterStatus

POSITIONS_FOLDER = "positions"

#: Names of the metrics by group; a group and a name are a tag in TensorBoard. The module's docstring says what they mean.
METRICS = {
    "progress": ("games", "iterations"),
    "speed": ("games_per_second", "simulations_per_second"),
    "games": ("mean_length", "draw_share", "first_player_score"),
    "time": ("network_share", "search_share", "learning_share", "search_share_of_self_play"),
    "loss": ("policy", "policy_divergence", "value", "ownership", "short_term_values", "gradient_norm"),
}

# Purposes of random numbers, besides the initial weights; each has its own sequence of seeds.
_SELF_PLAY, _LEARNING, _MATCHES = range(1, 4)


class SavedCounters(Document):
    """What a checkpoint of a run has besides the fields that all algorithms write.

    Attributes:
        games: number of games played.
        positions_by_game: number of positions in the replay buffers so far, by game string.
        iterations: number of iterations of self-play and learning.
        gradient_steps: number of gradient steps.
        samples_due: number of samples still to be trained on, fewer than a batch.
        random_state: state of the random numbers of training batches.
    """

    error: ClassVar[type[ValueError]] = CheckpointError

    games: int = Field(ge=0)
    positions_by_game: dict[str, Annotated[int, Field(ge=0)]]
    iterations: int = Field(ge=0)
    gradient_steps: int = Field(ge=0)
    samples_due: float = Field(0.0, ge=0)
    random_state: dict[str, Any]

    @classmethod
    def of_checkpoint(cls, checkpoint: Checkpoint, config: AlphaZeroConfig) -> SavedCounters:
        """Return the state in a checkpoint of a run with ``config``. Raises ``CheckpointError`` if it is invalid."""
        training = checkpoint.training
        where = f"{checkpoint.folder}: training"
        state: SavedCounters = cls.parse({name: training[name] for name in cls.model_fields if name in training}, where)
        added, total = state.positions_by_game, training["positions"]
        if set(added) != set(config.shares(0)) or sum(added.values()) != total:
            raise CheckpointError(
                f"{where}: positions_by_game must be those of {', '.join(config.shares(0))} with a sum of {total}, got {added}"
            )
        return state


class AlphaZero(Algorithm[AlphaZeroConfig]):
    """Trains by self-play. The folder of a run also contains ``positions/``, the replay buffers."""

    files = (POSITIONS_FOLDER,)

    def __init__(self, config: AlphaZeroConfig, network: BoardNetwork, folder: Path) -> None:
        """See :class:`Algorithm`."""
        super().__init__(config, network, folder)
        if config.self_play.device == "cuda":
            find_device("cuda", "self_play.device")
        if config.cluster:
            import_module("stoneworks.training.alphazero.cluster.source")  # fails without Ray, before a file is written
        self.learner = Learner(network, config.learner, *device_and_dtype(config))
        self.network = self.learner.acting_network
        self.generator = np.random.default_rng(config.seed_sequence(_LEARNING))
        self.games = 0
        self.iterations = 0
        self._samples_due = 0.0
        self.buffers = ReplayBuffers(folder / POSITIONS_FOLDER, config, {})
        self._source: GameSource | None = None
        self._cluster: ClusterStatus | None = None
        self._is_taught = False

    @property
    def play(self) -> PlaySettings:
        """See :attr:`Algorithm.play`."""
        discount = value_at(self.config.search.discount, 1.0)
        return PlaySettings(deterministic_policy=True, discount=discount, **dict(self.config.play))

    @property
    def progress(self) -> float:
        """Completed fraction of the run, in [0, 1]."""
        return self.done / self.config.positions

    def state(self) -> tuple[Row, Mapping[str, Tensor]]:
        """See :meth:`Algorithm.state`."""
        state = SavedCounters(
            games=self.games,
            positions_by_game=self.buffers.num_added,
            iterations=self.iterations,
            gradient_steps=self.learner.num_steps,
            samples_due=self._samples_due,
            random_state=dict(self.generator.bit_generator.state),
        )
        return state.model_dump(), self.learner.state()

    def load(self, checkpoint: Checkpoint, tensors: Mapping[str, Tensor]) -> None:
        """See :meth:`Algorithm.load`."""
        state = SavedCounters.of_checkpoint(checkpoint, self.config)
        self.learner.acting_network.load_playing_state_dict(checkpoint.network.state_dict())
        self.learner.load_state(tensors)
        self.generator.bit_generator.state = state.random_state
        self.games, self.iterations, self._samples_due = state.games, state.iterations, state.samples_due
        self.buffers = ReplayBuffers(self.folder / POSITIONS_FOLDER, self.config, state.positions_by_game)

    # -- Training ----------------------------------------------------------------------------------------------------------

    def iterate(self, stop: threading.Event) -> Row | None:
        """Collect games and train on them."""
        if self._source is None:
            self._source = self._open_source()
        source = self._source
        self._is_taught = self.progress < self.config.search.teacher_share
        begin = time.perf_counter()
        played, timings = source.collect(
            min(self.config.positions_per_iteration, self.config.positions - self.done), stop
        )
        if stop.is_set():
            return None
        self.buffers.add(played)
        done = sum(self.buffers.num_added.values())
        self._samples_due += (done - self.done) * self.config.learner.replay_ratio
        self.done = done
        self.games += len(played)
        self.iterations += 1
        played_by = time.perf_counter()
        losses = self._learn()
        source.update(self.network.playing_state_dict(), self.progress)
        end = time.perf_counter()
        self._cluster = source.status()
        return {
            "games": self.games,
            "iterations": self.iterations,
            **_metrics_of_games(played, end - begin),
            **_metrics_of_time(timings, end - begin, end - played_by),
            **({} if losses is None else losses._asdict()),
            **({} if self._cluster is None else asdict(self._cluster)),
        }

    def _open_source(self) -> GameSource:
        number = self.config.processes
        if number < 0 and self.config.self_play.device != "cpu":
            number = num_devices(self.config)
        if number < 0:
            number = 0 if num_processors() == 1 else num_processors()
        seed = self.config.seed_sequence(_SELF_PLAY, self.iterations)
        if self.config.cluster:
            from stoneworks.training.alphazero.cluster.source import ClusterSelfPlay

            return ClusterSelfPlay(self.network, self.config, seed, self.progress, self.show_message)
        if number == 0:
            return make_self_play(self.network, self.config, seed, self.progress)
        return SelfPlayProcesses(self.network, self.config, seed, number, self.progress)

    def _learn(self) -> Losses | None:
        """Take the gradient steps that are due; return the mean losses, or None without any step."""
        settings, steps = self.config.learner, []
        with torch_threads(self.config.learner_threads or self.config.threads):
            while self._samples_due >= settings.batch_size:
                self._samples_due -= settings.batch_size
                steps.append(self.learner.step(self.buffers.make_batch(self.generator, self.progress), self.progress))
        if not steps:
            return None
        return Losses(*np.mean(steps, axis=0).tolist())

    def close(self) -> None:
        """Stop self-play."""
        if self._source is not None:
            self._source.close()

    # -- Matches and display ---------------------------------------------------------------------------------------------

    def matches(self) -> Iterator[TrainingMatch]:
        """Yield the matches of the policy, then those of the search."""
        settings = self.config.matches
        searcher = f"policy@{settings.simulations}"
        names = [("policy", name) for name in settings.opponents]
        names += [(searcher, name) for name in settings.search_opponents]
        for number, (player, opponent) in enumerate(names):
            seed = self.config.seed_sequence(_MATCHES, self.iterations, number)
            bot: Bot = PolicyBot(self.network, self.game, deterministic=True, name=player)
            if player == searcher:
                inference = make_inference(self.network, self.config)
                search = playing_settings(self.play, self.game, self.config.network.sees_features)
                of_bot = int(seed.generate_state(3)[2])  # the first two are those of the opponent and of the openings
                bot = SearchBot(
                    inference, self.game, of_bot, simulations=settings.simulations, settings=search, name=player
                )
            yield TrainingMatch(player, bot, opponent, seed)

    def lines(self, metrics: Row) -> tuple[str, Sequence[str]]:
        """See :meth:`Algorithm.lines`."""
        lines = _lines_of(metrics)
        if self._is_taught:
            share = percent(self.config.search.teacher_share, digits=0)
            lines.append(f"the teacher plays the first {share} of the run (search.teacher_share)")
        return "", lines if self._cluster is None else [*lines, *self._cluster.lines()]

    def scalars(self, metrics: Row) -> Mapping[str, float]:
        """See :meth:`Algorithm.scalars`."""
        tags = {name: f"{group}/{name}" for group, names in METRICS.items() for name in names}
        scalars = {tag: metrics[name] for name, tag in tags.items() if name in metrics}
        return scalars if self._cluster is None else scalars | self._cluster.scalars()


def _metrics_of_games(played: Sequence[PlayedGame], seconds: float) -> dict[str, float]:
    winners = np.array([game.winner for game in played])
    return {
        "games_per_second": len(played) / seconds,
        "mean_length": float(np.mean([len(game.actions) for game in played])),
        "draw_share": float((winners < 0).mean()),
        "first_player_score": float(np.where(winners < 0, 0.5, winners == 0).mean()),
    }


def _metrics_of_time(timings: SelfPlayTimings, seconds: float, learning_seconds: float) -> dict[str, float]:
    """Return shares of the time of all processes."""
    self_play_seconds = timings.network_seconds + timings.search_seconds + timings.other_seconds
    busy = max(1e-9, self_play_seconds + learning_seconds)
    return {
        "simulations_per_second": timings.num_simulations / seconds,
        "network_share": timings.network_seconds / busy,
        "search_share": timings.search_seconds / busy,
        "learning_share": learning_seconds / busy,
        "search_share_of_self_play": timings.search_seconds / max(1e-9, self_play_seconds),
    }


def _lines_of(metrics: Row) -> list[str]:
    """Return the lines below the progress bar."""
    lines = [
        f"{metrics['games_per_second']:,.1f} games/s, {metrics['simulations_per_second']:,.0f} simulations/s; "
        f"{metrics['games']:,} games, the latest of {metrics['mean_length']:.0f} actions, "
        f"{percent(metrics['draw_share'], digits=0)} drawn"
    ]
    if "policy" in metrics:
        lines.append(
            f"loss: policy {metrics['policy']:.3f} ({metrics['policy_divergence']:.3f} above the search's), "
            f"value {metrics['value']:.3f}"
        )
    shares = {name: metrics[f"{name}_share"] for name in ("network", "search", "learning")}
    shares["other"] = max(0.0, 1 - sum(shares.values()))
    return [*lines, "time: " + ", ".join(f"{name} {percent(share, digits=0)}" for name, share in shares.items())]
