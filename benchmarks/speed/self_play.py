"""Workloads of AlphaZero: self-play with learning as in a configuration, and self-play of Hex to compare with other libraries."""

from __future__ import annotations

import math
import time

import numpy as np

from benchmarks.speed.example_games import HEX, load_measured_game
from benchmarks.speed.workload import Measured, Play, Workload
from stoneworks.envs.rules import Batch, Game

#: Number of channels and residual blocks of the network of Hex.
CHANNELS, BLOCKS = 32, 4
#: Number of concurrent games of Hex, and of actions at random before them.
NUM_GAMES, NUM_RANDOM_ACTIONS = 128, 20

#: Parts of the time of a run.
PARTS = ("network", "search", "learning")


class SelfPlayAndLearning(Workload):
    """Training positions of a configuration, with the gradient steps for them, all in one process on one core.

    The configuration is measured as it is after the leaf values and the teacher. Only full searches make training positions. Their
    number is that of simulations divided by the mean number per training position, so that the rate does not depend on how many
    of the few searches of a measurement are full ones.

    Attributes:
        seconds_of: time spent in each of ``PARTS``, and in ``"all"``, in the last measurement.
    """

    def __init__(self, config_name: str, *overrides: str) -> None:
        given = "".join(f" --set {override}" for override in overrides)
        super().__init__(
            f"stoneworks train {config_name}{given}, one core",
            lambda: self._load(config_name, overrides),
            requires=("torch",),
        )
        self.seconds_of: dict[str, float] = {}

    def _load(self, config_name: str, overrides: tuple[str, ...]) -> Play:
        import torch

        from stoneworks.models.network import Architecture, make_network
        from stoneworks.training.alphazero.config import AlphaZeroConfig
        from stoneworks.training.alphazero.learner import Learner
        from stoneworks.training.alphazero.positions import BatchMaker, make_positions
        from stoneworks.training.alphazero.self_play import SelfPlay
        from stoneworks.training.alphazero.sources import device_and_dtype, make_inference
        from stoneworks.training.runs.config_files import load_config

        config = load_config(config_name, overrides)
        assert isinstance(config, AlphaZeroConfig)
        config = config.replace(device="cpu")
        torch.set_num_threads(1)
        game = load_measured_game(config.game)
        network = make_network(Architecture.of_game(game, config.network))
        self_play = SelfPlay(game, make_inference(network, config), config, np.random.SeedSequence(0))
        self_play.set_progress(1.0)
        learner = Learner(network, config.learner, *device_and_dtype(config))
        search, generator = self_play.search, np.random.default_rng(0)
        records = random_positions(game, config.learner.batch_size)
        policies = np.full((len(records), game.num_actions), 1 / game.num_actions, np.float32)
        positions = make_positions(game, records, policies, np.zeros(len(records), np.float32))
        maker = BatchMaker(game, config.learner.search_value_share, features=config.network.sees_features)
        settings = config.search
        simulations_per_position = self_play.simulations + self_play.capped_simulations * (
            1 / settings.full_search_share - 1
        )
        steps_per_position = config.learner.replay_ratio / config.learner.batch_size
        steps_due = 0.0

        def play(units: int) -> int:
            nonlocal steps_due
            begin, learning = time.perf_counter(), 0.0
            search.network_seconds = search.search_seconds = 0.0
            before = search.num_simulations_done
            units = max(units, math.ceil(1 / steps_per_position))  # enough for a gradient step
            while (done := (search.num_simulations_done - before) / simulations_per_position) < units:
                simulations = search.num_simulations_done
                self_play.step()
                simulations = search.num_simulations_done - simulations
                steps_due += simulations / simulations_per_position * steps_per_position
                start = time.perf_counter()
                while steps_due >= 1:
                    learner.step(maker.make(positions, generator), 0.5)
                    steps_due -= 1
                learning += time.perf_counter() - start
            everything = time.perf_counter() - begin
            parts = (search.network_seconds, search.search_seconds, learning)
            self.seconds_of = dict(zip(PARTS, parts, strict=True)) | {"all": everything}
            return round(done)

        return play


class ShareOfTime(Measured):
    """Percentage of the time of self-play and learning that one of ``PARTS`` takes."""

    def __init__(self, run: SelfPlayAndLearning, part: str) -> None:
        super().__init__(run.name, requires=run.requires)
        self._run = run
        self._part = part
        self._last = run.seconds_of

    def measure(self, seconds: float) -> None:
        """See :meth:`Measured.measure`; refers to the latest measurement of the run, or makes one if it was used before."""
        if self._run.seconds_of is self._last:
            self._run.measure(seconds)
        parts = self._last = self._run.seconds_of
        self.rates_per_second.append(100 * parts[self._part] / parts["all"])


def random_positions(game: Game, number: int) -> np.ndarray:
    """Return ``number`` positions after ``NUM_RANDOM_ACTIONS`` random actions in games that restart when they are over."""
    batch = Batch(game, number, auto_reset=True, seed=0)
    for _ in range(NUM_RANDOM_ACTIONS):
        batch.step(batch.random_actions())
    return np.array(batch.states)


def self_play_simulations(game_name: str, num_simulations: int) -> Workload:
    """Return the workload: simulations of self-play with a small network, searches for ``NUM_GAMES`` games at once."""

    def prepare() -> Play:
        import torch

        from stoneworks.models.network import Architecture, make_network
        from stoneworks.training.alphazero.config import AlphaZeroConfig
        from stoneworks.training.alphazero.self_play import SelfPlay
        from stoneworks.training.alphazero.sources import make_inference
        from stoneworks.training.runs.config_files import parse_config

        torch.set_num_threads(1)
        game = load_measured_game(game_name)
        values = {"algorithm": "alphazero", "game": game_name, "positions": 1, "device": "cpu"}
        values |= {"network": {"channels": CHANNELS, "blocks": BLOCKS}, "self_play": {"num_games": NUM_GAMES}}
        values |= {
            "search": {"leaf_values": "none", "simulations": num_simulations, "capped_simulations": num_simulations}
        }
        config = parse_config(values, "bench")
        assert isinstance(config, AlphaZeroConfig)
        network = make_network(Architecture.of_game(game, config.network))
        self_play = SelfPlay(game, make_inference(network, config), config, np.random.SeedSequence(0))

        def play(units: int) -> int:
            before = self_play.search.num_simulations_done
            while self_play.search.num_simulations_done - before < units:
                self_play.step()
            return self_play.search.num_simulations_done - before

        return play

    name = f"self-play of {game_name}, {BLOCKS} x {CHANNELS}, {NUM_GAMES} games of {num_simulations} simulations"
    return Workload(name, prepare, requires=("torch", *([HEX] if game_name.startswith("hex") else [])))
