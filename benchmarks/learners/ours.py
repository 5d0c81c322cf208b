"""AlphaZero and PPO of stoneworks, with schedules by processor time instead of positions or frames."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.learners import Clock, Learner
from benchmarks.protocol import Track
from stoneworks.envs.rules import Game
from stoneworks.envs.rules.parts import has_heuristic
from stoneworks.models.architecture import Architecture
from stoneworks.models.checkpoint import load_checkpoint, load_training_state, save_checkpoint
from stoneworks.models.machine import keep_freed_memory
from stoneworks.models.network import BoardNetwork, make_network
from stoneworks.training.alphazero.algorithm import AlphaZero
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlayTimings
from stoneworks.training.alphazero.sources import InProcessSelfPlay
from stoneworks.training.ppo.algorithm import PPO
from stoneworks.training.runs.algorithms import Algorithm, RunConfig
from stoneworks.training.runs.config_files import parse_config
from stoneworks.training.runs.run import INITIAL_WEIGHTS
from stoneworks.training.runs.schedule import value_at

#: Positions or frames that no run reaches; the clock ends it.
WITHOUT_END = 10**12


class CountedSelfPlay(InProcessSelfPlay):
    """Self-play that counts the actions of finished games, and simulations."""

    steps = simulations = 0

    def collect(self, num_positions: int, stop: threading.Event) -> tuple[list[PlayedGame], SelfPlayTimings]:
        """See :meth:`GameSource.collect`."""
        played, timings = super().collect(num_positions, stop)
        self.steps += sum(len(game.actions) for game in played)
        self.simulations += timings.num_simulations
        return played, timings


class TimedAlphaZero(AlphaZero):
    """AlphaZero whose progress is that of the clock."""

    clock: Clock
    counted: CountedSelfPlay | None = None

    @property
    def progress(self) -> float:
        """Completed part of the run, in [0, 1]."""
        return self.clock.progress()

    def _open_source(self) -> CountedSelfPlay:
        seed = self.config.seed_sequence(1, self.iterations)
        self.counted = CountedSelfPlay(self.network, self.config, seed, self.progress)
        return self.counted


class TimedPPO(PPO):
    """PPO whose learning rate follows the clock."""

    clock: Clock

    def _learning_rate(self) -> float:
        return value_at(self.config.learning_rate, self.clock.progress())


class Ours(Learner):
    """An algorithm of stoneworks, with checkpoints as in its runs but without their matches and displays."""

    searches = True
    algorithm_class: ClassVar[type[Algorithm[Any]]]

    def __init__(self, game: Game, seed: int, folder: Path, clock: Clock) -> None:
        super().__init__(game, seed, folder, clock)
        keep_freed_memory()
        self.config: RunConfig = parse_config({"game": str(game), "seed": seed, **self.settings()}, "benchmark")
        self.configuration = self.config.model_dump(mode="json")
        timed: Any = type(self.algorithm_class.__name__, (self.algorithm_class,), {"clock": clock})
        self.algorithm: Algorithm[Any] = timed(self.config, self._network(), folder)
        self.checkpoint = folder / "checkpoint"
        if self.checkpoint.exists():
            saved = load_checkpoint(self.checkpoint)
            self.algorithm.done = saved.training[self.config.unit]
            self.algorithm.load(saved, load_training_state(self.checkpoint))

    def settings(self) -> Mapping[str, Any]:
        """Return the configuration, without game and seed."""
        raise NotImplementedError

    def _network(self) -> BoardNetwork:
        seed = int(self.config.seed_sequence(INITIAL_WEIGHTS).generate_state(1)[0])
        return make_network(Architecture.of_game(self.game, self.config.network), seed)

    def iterate(self) -> None:
        """See :meth:`Learner.iterate`."""
        self.algorithm.iterate(threading.Event())

    def save(self) -> str:
        """See :meth:`Learner.save`."""
        algorithm = self.algorithm
        values, tensors = algorithm.state()
        training = {"algorithm": self.config.algorithm, "config": self.configuration, **values}
        save_checkpoint(
            self.checkpoint,
            game=self.game,
            network=algorithm.network,
            play=algorithm.play,
            training={**training, self.config.unit: algorithm.done},
            training_state=tensors,
        )
        return str(self.checkpoint)


class AlphaZeroScratch(Ours):
    """Gumbel AlphaZero from the rules alone."""

    algorithm_class = TimedAlphaZero

    def settings(self) -> Mapping[str, Any]:
        """See :meth:`Ours.settings`."""
        return {
            "algorithm": "alphazero",
            "positions": WITHOUT_END,
            "positions_per_iteration": 1024,
            "processes": 0,
            "device": "cpu",
            "precision": "float32",
            # A discount and random actions against passing while behind, which self-play of Vadus rarely punishes.
            "search": {"leaf_values": "none", "discount": 0.995, **self.search()},
            "self_play": {"random_action_share": 0.005},
            "matches": {"positions": WITHOUT_END, "opponents": [], "search_opponents": []},
        }

    def search(self) -> Mapping[str, Any]:
        """Return settings of the search."""
        return {}

    def iterate(self) -> None:
        """See :meth:`Learner.iterate`."""
        super().iterate()
        assert isinstance(self.algorithm, TimedAlphaZero)
        assert self.algorithm.counted is not None
        self.steps, self.simulations = self.algorithm.counted.steps, self.algorithm.counted.simulations


class AlphaZeroPUCT(AlphaZeroScratch):
    """AlphaZero with PUCT and Dirichlet noise, from the rules alone."""

    def search(self) -> Mapping[str, Any]:
        """See :meth:`AlphaZeroScratch.search`."""
        return {"policy": "puct"}


class AlphaZeroOpen(AlphaZeroScratch):
    """Gumbel AlphaZero with features, leaf values and, where the game has a heuristic, a teacher at the start."""

    track: ClassVar[Track] = "open"

    def settings(self) -> Mapping[str, Any]:
        """See :meth:`Ours.settings`."""
        return {**super().settings(), "network": {"features": True}}

    def search(self) -> Mapping[str, Any]:
        """See :meth:`AlphaZeroScratch.search`."""
        if has_heuristic(self.game):
            return {"leaf_values": "heuristic", "teacher_share": 0.15}
        return {"leaf_values": "playouts", "leaf_value_playouts": 2}


class PPOScratch(Ours):
    """PPO from the rules alone, against itself, its past and random play."""

    algorithm_class = TimedPPO
    features = False

    def settings(self) -> Mapping[str, Any]:
        """See :meth:`Ours.settings`."""
        return {
            "algorithm": "ppo",
            "frames": WITHOUT_END,
            "num_games": 512,
            "steps_per_update": 16,
            "minibatch_size": 1024,
            "epochs": 1,
            "learning_rate": [[0, 3e-3], [1, 3e-4]],
            "entropy_coefficient": 0.003,
            "network": {"channels": 32, "blocks": 0 if self.features else 1, "features": self.features},
            "opponents": {"latest": 0.4, "past": 0.2, "random": 0.4, "greedy": 0.0, "past_selves_at_once": 1},
            "matches": {"frames": WITHOUT_END, "opponents": []},
        }

    def iterate(self) -> None:
        """See :meth:`Learner.iterate`."""
        before = self.algorithm.done
        super().iterate()
        self.steps += self.algorithm.done - before


class PPOOpen(PPOScratch):
    """PPO with features."""

    track: ClassVar[Track] = "open"
    features = True
