"""A measured model of one learner: how many self-play cores it serves for each official board size, and what limits it first.

All times are CPU times of one core, so that other load on the machine hardly affects them. ``python -m
benchmarks.cluster.capacity`` prints the model.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.cluster.local import local_cluster
from benchmarks.speed.__main__ import WIDTH_OF_FILES
from stoneworks.cli.main import run
from stoneworks.envs.rules import load_game
from stoneworks.extras import require_extra
from stoneworks.models.machine import processor_name
from stoneworks.models.network import Architecture, make_network
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.training.alphazero.cluster.actors import BATCH_SECONDS, PlayedBatch
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.learner import Learner
from stoneworks.training.alphazero.positions import position_dtype
from stoneworks.training.alphazero.replay_buffer import ReplayBuffers
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlay
from stoneworks.training.alphazero.sources import device_and_dtype, make_inference
from stoneworks.training.runs.config_files import load_config

with require_extra("train", "training runs"):
    import torch
with require_extra("cluster", "clusters"):
    import ray

#: Configuration and overrides by official game.
OFFICIAL = {
    game: (
        "vadus-5",
        (
            f"game={game}",
            "games={}",
            "positions_per_iteration=8192",
            "network.channels=64",
            "network.blocks=6",
            "learner.batch_size=512",
            "search.simulations=64",
            "search.capped_simulations=16",
            "search.teacher_share=0",
        ),
    )
    for game in ("vadus(size=9)", "laido(size=9)", "taugo(size=16)", "taigo(radius=12)", "trugo(tiles=36)")
}
#: Concurrent games and positions per gradient step of the measurements; costs are per position, and nearly linear from here on.
NUM_GAMES, BATCH_SIZE = 8, 32
#: Batches of positions of which the network's speed is measured.
EVALUATION_BATCHES = (1, 16, 64)
#: Assumed speed of the network interface of the learner's node, and cores per self-play node.
NETWORK_BYTES_PER_SECOND, CORES_PER_NODE = 1.25e9, 64


@dataclass(frozen=True)
class Transport:
    """Costs of the way from an actor to the learner, on one machine.

    Attributes:
        seconds_per_batch: CPU time of the learner's process per small batch.
        bytes_per_second: bytes of large batches per second of CPU time of the learner's process, through the object store.
        weights_bytes_per_second: bytes of weights per second of CPU time that enter the object store.
    """

    seconds_per_batch: float
    bytes_per_second: float
    weights_bytes_per_second: float


@dataclass(frozen=True)
class Capacity:
    """The measured costs of one game, and the model.

    Attributes:
        game: the game string.
        bytes_per_position: bytes of a training position in a batch.
        self_play_per_core: training positions per second that one core plays.
        learner_per_core: training positions per second that the learner takes on one core, with its gradient steps.
        evaluations: positions per second that the network evaluates on one core, by batch size.
        cores_by_limit: number of self-play cores at which each part of the learner's side is fully used.
    """

    game: str
    bytes_per_position: float
    self_play_per_core: float
    learner_per_core: float
    evaluations: dict[int, float]
    cores_by_limit: dict[str, float]

    @property
    def bottleneck(self) -> str:
        """The part that limits the number of cores first."""
        return min(self.cores_by_limit, key=lambda name: self.cores_by_limit[name])


def measure_capacity(
    games: dict[str, tuple[str, tuple[str, ...]]] | None = None,
    *,
    progress: Callable[[str], None] = lambda message: None,
) -> tuple[Transport, list[Capacity]]:
    """Measure the transport on a Ray instance of its own, then each game.

    Args:
        games: configuration name and overrides by game string; None for ``OFFICIAL``.
        progress: called with a description of the current measurement.
    """
    progress("Ray")
    transport = measure_transport()
    results = []
    for game, (name, overrides) in (OFFICIAL if games is None else games).items():
        progress(game)
        config = load_config(name, [*overrides, "device=cpu", f"self_play.num_games={NUM_GAMES}"])
        assert isinstance(config, AlphaZeroConfig)
        results.append(_measure_game(config, transport))
    return transport, results


def measure_transport(num_batches: int = 200, large_bytes: int = 8_000_000, num_large: int = 20) -> Transport:
    """Measure the costs of batches and weights on a Ray instance with one node, which is stopped afterwards."""
    with local_cluster(num_cores=1, object_store_bytes=400_000_000):
        sender = ray.remote(_Sender).options(num_cpus=1).remote()
        ray.get(sender.send.remote(1))

        def receive(number: int, size: int) -> float:
            begin = time.process_time()
            for _ in range(number):
                (ready,), _ = ray.wait([sender.send.remote(size)])
                np.concatenate([game.positions for game in ray.get(ready).games])
            return (time.process_time() - begin) / number

        small = receive(num_batches, 1)
        large = receive(num_large, large_bytes)
        weights = {"weights": np.zeros(large_bytes, np.uint8)}
        begin = time.process_time()
        for _ in range(num_large):
            ray.put(weights)
        put = (time.process_time() - begin) / num_large
        return Transport(small, large_bytes / max(1e-9, large - small), large_bytes / put)


class _Sender:
    """Actor that sends batches of a given size."""

    def send(self, num_bytes: int) -> PlayedBatch:
        positions = np.zeros(num_bytes, np.dtype([("state", np.uint8)]))
        return PlayedBatch(0, [PlayedGame("", positions, (), 0, 0)])


def _measure_game(config: AlphaZeroConfig, transport: Transport) -> Capacity:
    torch.set_num_threads(1)
    network = make_network(Architecture.of_game(load_game(config.game), config.network))
    inference = make_inference(network, config)
    weights = sum(array.nbytes for array in (t.numpy() for t in network.playing_state_dict().values()))
    played = _self_play_per_core(config, inference)
    learned = _learner_per_core(config)
    size = _bytes_per_position(config)
    updates_per_position = 1 / config.positions_per_iteration
    limits = {
        "gradient steps on one core": learned / played,
        "batches handled by one process": BATCH_SECONDS / transport.seconds_per_batch,
        "object store": transport.bytes_per_second / (size * played),
        "network, games": NETWORK_BYTES_PER_SECOND / (size * played),
        # Each node fetches the weights once per update: weights * (cores / cores per node) * updates per second.
        "network, weights": (NETWORK_BYTES_PER_SECOND * CORES_PER_NODE / (weights * played * updates_per_position))
        ** 0.5,
    }
    evaluations = {number: _evaluations_per_second(config, inference, number) for number in EVALUATION_BATCHES}
    return Capacity(str(load_game(config.game)), size, played, learned, evaluations, limits)


def _self_play_per_core(config: AlphaZeroConfig, inference: Any) -> float:
    """Return the training positions per second: those of full searches, among full and capped ones."""
    seconds = []
    for full_search_share in (1.0, 1e-9):
        search = config.search.replace(full_search_share=full_search_share)
        self_play = SelfPlay(
            load_game(config.game), inference, config.replace(search=search), np.random.SeedSequence(0)
        )
        self_play.search.run(self_play._states, 2, self_play.generator)  # compiles
        begin = time.process_time()
        self_play.step()
        seconds.append(time.process_time() - begin)
    share = config.search.full_search_share
    return NUM_GAMES * share / (share * seconds[0] + (1 - share) * seconds[1])


def _learner_per_core(config: AlphaZeroConfig) -> float:
    """Return the positions per second with their gradient steps: adding to the buffer, drawing batches, training."""
    config = config.replace(learner=config.learner.replace(batch_size=BATCH_SIZE))
    game = load_game(config.game)
    learner = Learner(
        make_network(Architecture.of_game(game, config.network)), config.learner, *device_and_dtype(config)
    )
    states = np.zeros(4 * BATCH_SIZE, game.state_dtype)
    states[:] = game.new_initial_state().record
    positions = np.zeros(len(states), position_dtype(game))
    positions["state"] = states
    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        buffers = ReplayBuffers(Path(folder), config, {})
        begin = time.process_time()
        buffers.add([PlayedGame(str(game), positions, (), 0, 0)])
        adding = (time.process_time() - begin) / len(positions)
        learner.step(buffers.make_batch(generator, 0.0), 0.0)
        begin = time.process_time()
        learner.step(buffers.make_batch(generator, 0.0), 0.0)
        step = time.process_time() - begin
    return 1 / (adding + config.learner.replay_ratio * step / BATCH_SIZE)


def _bytes_per_position(config: AlphaZeroConfig, num_positions: int = 32) -> float:
    game = load_game(config.game)
    positions = np.zeros(num_positions, position_dtype(game))
    actions = tuple(range(int(num_positions / config.search.full_search_share)))
    played = PlayedGame(str(game), positions, actions, 0, 0)
    return len(pickle.dumps(PlayedBatch(0, [played]), protocol=5)) / num_positions


def _evaluations_per_second(config: AlphaZeroConfig, inference: Any, number: int) -> float:
    inputs = NetworkInputs(load_game(config.game), config.network.sees_features)
    planes = np.zeros((number, *inputs.shape), np.float32)
    inference(planes)
    rounds = max(1, 32 // number)
    begin = time.process_time()
    for _ in range(rounds):
        inference(planes)
    return rounds * number / (time.process_time() - begin)


def table_of(results: list[Capacity]) -> Table:
    """Return the model as a table."""
    table = Table(title=f"Self-play cores that one learner serves ({processor_name()}, CPU time of one core)")
    limits = list(results[0].cores_by_limit) if results else []
    headings = ["game", "bytes/position", "self-play positions/s per core", "learner positions/s per core"]
    headings += [f"evaluations/s, batches of {number}" for number in EVALUATION_BATCHES]
    for heading in (*headings, *(f"cores: {limit}" for limit in limits), "first limit"):
        table.add_column(heading, justify="left" if heading in ("game", "first limit") else "right")
    for result in results:
        table.add_row(
            result.game,
            f"{result.bytes_per_position:,.0f}",
            f"{result.self_play_per_core:.2f}",
            f"{result.learner_per_core:.1f}",
            *(f"{rate:,.0f}" for rate in result.evaluations.values()),
            *(f"{cores:,.0f}" for cores in result.cores_by_limit.values()),
            result.bottleneck,
        )
    return table


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def capacity() -> None:
    """Measure how many self-play cores of a cluster one learner serves."""
    with Console(stderr=True).status("measuring") as status:
        transport, results = measure_capacity(progress=status.update)
    console = Console(width=None if sys.stdout.isatty() else WIDTH_OF_FILES, markup=False, highlight=False)
    console.print(table_of(results))
    console.print(
        f"learner's process: {transport.seconds_per_batch * 1e3:.2f} ms per batch, "
        f"{transport.bytes_per_second / 1e6:,.0f} MB/s of games, {transport.weights_bytes_per_second / 1e6:,.0f} MB/s of weights"
    )


if __name__ == "__main__":
    run(app)
