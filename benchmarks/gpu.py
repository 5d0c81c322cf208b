"""Check and measure games on a GPU (docs/gpu.md): ``python -m benchmarks.gpu --output gpu.jsonl``.

Needs nothing but numpy, numba, lazy_loader, typer, torch and cuda-bindings; ``ppo`` and ``self_play`` also the extra ``train``.
Each part is a process with its own time limit, which appends its row to the file at once. All parts together take ``--minutes`` at
most. A part that fails has a row with its error.

The rates per second are those of all games together. ``bound`` is the rate at which the bytes that an action must move would fill
the card's memory bandwidth, which is measured by copying: records are read and written, masks are written and read, and of
observations the entries that change. Of PPO it is what the bare network would do at its best batch, if a training step takes as
long as three evaluations; of self-play it is the bare network at its best batch, and the shares are those of the time of both
halves: walking trees, waiting for the device (also while it has the other half), and the rest.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.speed.example_games import load_measured_game
from stoneworks.envs.rules import Batch, Game

GAMES = (
    "vadus(size=9)",
    "laido(size=9)",
    "taugo(size=16)",
    "taigo(radius=12)",
    "trugo(tiles=36)",
    "hex(size=11,swap=False)",
)
#: The parts in order, with the seconds of 8 minutes that each may take for a game, which most do not need; the first is for all
#: games at once.
PARTS = {"compile": 120.0, "card": 20.0, "check": 20.0, "playouts": 15.0, "steps": 15.0, "ppo": 40.0, "self_play": 80.0}
#: Parts that are for the first game alone.
FOR_ONE_GAME = ("card", "ppo", "self_play")
#: Concurrent games of self-play, at most.
MAX_SELF_PLAY_GAMES = 8192
ARRAYS = ("observations", "action_masks", "current_players", "rewards", "terminated", "truncated", "returns")

Row = dict[str, Any]
app = typer.Typer(add_completion=False)


@app.command()
def main(
    output: Annotated[Path, typer.Option(help="File of the results, one JSON object per line.")] = Path("gpu.jsonl"),
    device: Annotated[str, typer.Option(help="cuda, cuda:1, ..., or emulated.")] = "cuda",
    game: Annotated[list[str] | None, typer.Option(help="Game strings; default: Hex and the five games.")] = None,
    games: Annotated[int, typer.Option(min=1, help="Number of games at a time.")] = 1 << 18,
    seconds: Annotated[float, typer.Option(min=0.01, help="Seconds of each measurement.")] = 2.0,
    minutes: Annotated[float, typer.Option(min=0.1, help="Limit of all parts together.")] = 8.0,
    part: Annotated[str | None, typer.Option(hidden=True, help="Run one part in this process.")] = None,
) -> None:
    """Run all parts, each in a process of its own."""
    chosen = game or list(GAMES)
    if part is not None:
        row = _PARTS[part](chosen[0], device, games, seconds)
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"part": part, "game": chosen[0], **row}) + "\n")
        return
    output.write_text("", encoding="utf-8")
    end = time.monotonic() + 60 * minutes
    common = ["--output", str(output), "--device", device, "--games", str(games), "--seconds", str(seconds)]
    for name, limit in PARTS.items():
        for together in (
            [chosen] if name == "compile" else [[one] for one in (chosen[:1] if name in FOR_ONE_GAME else chosen)]
        ):
            processes = {
                one: subprocess.Popen(
                    [sys.executable, "-m", "benchmarks.gpu", *common, "--part", name, "--game", one],
                    stderr=subprocess.PIPE,
                    text=True,
                )
                for one in together
            }
            deadline = min(time.monotonic() + limit * minutes / 8, end)
            for one, process in processes.items():
                _wait(process, max(0.0, deadline - time.monotonic()), {"part": name, "game": one}, output)
    rows = list(read_rows(output))
    for row in rows:
        typer.echo(
            "  ".join(f"{key} {value:,}" if isinstance(value, int) else f"{key} {value}" for key, value in row.items())
        )
    if any(row.get("error") or row.get("differing") for row in rows):
        raise typer.Exit(1)


def _wait(process: subprocess.Popen[str], limit: float, row: Row, output: Path) -> None:
    """Wait for the process of a part, and write what went wrong in it."""
    try:
        _, messages = process.communicate(timeout=limit)
        error = []
        if process.returncode:  # without a message if a signal ended it
            error = messages.strip().splitlines()[-1:] or [f"ended with status {process.returncode}"]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        error = [f"stopped after {limit:.0f} s"]
    if error:
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**row, "error": error[0]}) + "\n")


def read_rows(file: Path) -> Iterator[Row]:
    """Yield the rows of a file of results."""
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


# -- Parts -------------------------------------------------------------------------------------------------------------


def compile_game(game: str, device: str, games: int, seconds: float) -> Row:
    """Compile a game for the processor and the device."""
    start = time.perf_counter()
    loaded = load_measured_game(game)
    batch = Batch(loaded, 1)
    batch.step(batch.random_actions())
    batch.random_playouts()
    processor = time.perf_counter() - start
    start = time.perf_counter()
    Batch(loaded, 1, device=device)
    return {"processor_s": round(processor, 1), "device_s": round(time.perf_counter() - start, 1)}


def describe_card(game: str, device: str, games: int, seconds: float) -> Row:
    """Say what the device is, and measure how fast it copies memory."""
    import torch

    found = {"name": "this processor", "memory_gib": 0}
    if device != "emulated":
        properties = torch.cuda.get_device_properties(device)
        found = {"name": properties.name, "memory_gib": round(properties.total_memory / 2**30)}
    versions = {name: importlib.metadata.version(name) for name in ("torch", "numba", "llvmlite", "stoneworks")}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    date = time.strftime("%Y-%m-%d")
    return {**found, **versions, "commit": commit, "date": date, "bytes_per_s": round(bandwidth(device, seconds))}


def check(game: str, device: str, games: int, seconds: float) -> Row:
    """Play the same games on the processor and the device, and count the actions and the arrays that differ."""
    loaded = load_measured_game(game)
    num = min(games, 4096)
    pair = [Batch(loaded, num, auto_reset=True, seed=1, num_threads=os.cpu_count() or 1)]
    pair.append(Batch(loaded, num, auto_reset=True, seed=1, device=device))
    stepped = played = differing = 0
    end = time.perf_counter() + 5 * seconds
    while not stepped or time.perf_counter() < end:
        for _ in range(16):
            actions = [_host(batch.random_actions()) for batch in pair]
            differing += _differ(*actions)
            for batch in pair:
                batch.step(actions[0])
            stepped += num
        differing += _differ(*(batch.records() for batch in pair))
        differing += sum(_differ(*(_host(getattr(batch, name)) for batch in pair)) for name in ARRAYS)
        results = [[_host(array) for array in batch.random_playouts()] for batch in pair]
        differing += sum(map(_differ, *results))
        played += int(results[0][1].sum())
    return {"differing": differing, "steps": stepped, "playout_actions": played}


def playouts(game: str, device: str, games: int, seconds: float) -> Row:
    """Measure actions of random playouts from the start, on the device and on all cores of the processor."""
    loaded = load_measured_game(game)

    def rate(batch: Batch, where: str) -> float:
        lengths = _host(batch.random_playouts()[1])
        return float(lengths.mean()) * batch.num_games * calls_per_second(batch.random_playouts, where, seconds)

    cores = os.cpu_count() or 1
    on_device = rate(Batch(loaded, games, seed=0, device=device), device)
    processor = rate(Batch(loaded, min(games, 256 * cores), seed=0, num_threads=cores), "cpu")
    bound = bandwidth(device, seconds) / (2 * loaded.state_dtype.itemsize + 2 * loaded.num_actions)
    return {"games": games, **_rates(on_device, bound), "processor_per_s": round(processor), "cores": cores}


def steps(game: str, device: str, games: int, seconds: float) -> Row:
    """Measure steps of a batch with random actions and masks, with and without observations."""
    loaded = load_measured_game(game)
    room = free_bytes(device) // 2
    games = max(
        1, min(games, room // (4 * loaded.observation_size + 4 * loaded.state_dtype.itemsize + loaded.num_actions))
    )
    batch = Batch(loaded, games, auto_reset=True, seed=0, device=device)
    choose = calls_per_second(batch.random_actions, device, seconds / 4)
    both = calls_per_second(lambda: batch.step(batch.random_actions(), trusted=True), device, seconds)
    bound = bandwidth(device, seconds) / bytes_per_step(loaded)
    without = Batch(loaded, games, auto_reset=True, seed=0, device=device, observations=None)
    bare = calls_per_second(lambda: without.step(without.random_actions(), trusted=True), device, seconds / 2)
    others = {"without_observations_per_s": games * bare, "random_actions_per_s": games * choose}
    return {
        "games": games,
        **_rates(games * both, bound),
        **{name: round(rate) for name, rate in others.items()},
    }


def ppo(game: str, device: str, games: int, seconds: float) -> Row:
    """Measure frames of PPO against itself and past selves, with updates, where games and network are on the device."""
    import torch

    from stoneworks.models.network import Architecture, make_network
    from stoneworks.training.ppo.algorithm import PPO
    from stoneworks.training.ppo.config import PPOConfig
    from stoneworks.training.runs.config_files import parse_config

    loaded, steps_per_update, epochs = load_measured_game(game), 16, 1
    of_frame = 4 * loaded.observation_size + loaded.num_actions
    games = max(1, min(games, free_bytes(device) // (8 * steps_per_update * of_frame)))
    settings = {
        "algorithm": "ppo",
        "game": str(loaded),
        "frames": 10**12,
        "num_games": games,
        "steps_per_update": steps_per_update,
        "minibatch_size": steps_per_update * games // 4,
        "epochs": epochs,
        "device": "cpu" if device == "emulated" else device,
        "games_device": device,
        "opponents": {"latest": 0.7, "past": 0.3, "random": 0, "greedy": 0, "past_selves_at_once": 1},
    }
    config = parse_config(settings, "benchmark")
    assert isinstance(config, PPOConfig)
    network = make_network(Architecture.of_game(loaded, config.network), seed=0)
    algorithm = PPO(config, network, Path())
    updates = calls_per_second(lambda: algorithm.iterate(threading.Event()), device, seconds)
    with torch.inference_mode():
        best = evaluations_per_second(
            network, algorithm.games.observations[:1].to(algorithm.device), games, device, seconds
        )
    bound = best / (2 + 3 * epochs)  # the learner, its opponent, and training
    return {"games": games, **_rates(updates * games * steps_per_update, bound)}


def self_play(game: str, device: str, games: int, seconds: float) -> Row:
    """Measure simulations of self-play with features and the default network, whose leaves the device evaluates, and without."""
    from stoneworks.envs.rules.parts import has_features
    from stoneworks.models.inference.device_inference import DeviceEvaluator
    from stoneworks.models.network import Architecture, make_network
    from stoneworks.models.network_inputs import NetworkInputs
    from stoneworks.training.alphazero.config import AlphaZeroConfig
    from stoneworks.training.alphazero.device_self_play import DeviceSelfPlay, Place
    from stoneworks.training.alphazero.self_play import SelfPlayTimings
    from stoneworks.training.runs.config_files import parse_config

    loaded, games = load_measured_game(game), max(2, min(games, MAX_SELF_PLAY_GAMES))
    row: Row = {"games": games}
    for features in (True, False) if has_features(loaded) else (False,):
        settings = {
            "algorithm": "alphazero",
            "game": str(loaded),
            "positions": 10**12,
            "network": {"features": features},
            "search": {"leaf_values": "none"},
            "self_play": {"num_games": games, "device": device.partition(":")[0]},
        }
        config = parse_config(settings, "benchmark")
        assert isinstance(config, AlphaZeroConfig)
        network = make_network(Architecture.of_game(loaded, config.network), seed=0)
        source = DeviceSelfPlay(network, config, np.random.SeedSequence(0), place=Place(0, 1))
        for _ in range(4):  # compiles, and lets the halves get out of step
            source.step()
        steps, start = [], time.perf_counter()
        while (taken := time.perf_counter() - start) < 4 * seconds:
            steps.append(source.step()[1])
        source.close()
        found = SelfPlayTimings.sum(steps)
        rate = found.num_simulations / taken
        if row.get("per_s"):
            return {**row, "without_features_per_s": round(rate)}
        evaluator = DeviceEvaluator(source.inference, NetworkInputs(loaded, features), 1)
        evaluator.records[0] = Batch(loaded, 1).records().view(np.uint8)
        with source.inference.in_turn():
            bound = evaluations_per_second(source.inference.infer, evaluator.planes_of(1), games, device, seconds)
        row |= _rates(rate, bound)
        parts = {"tree": found.search_seconds, "device": found.network_seconds, "rest": found.other_seconds}
        row |= {f"{name}_share": round(part / sum(parts.values()), 3) for name, part in parts.items()}
    return row


_PARTS: dict[str, Callable[[str, str, int, float], Row]] = {
    "compile": compile_game,
    "card": describe_card,
    "check": check,
    "playouts": playouts,
    "steps": steps,
    "ppo": ppo,
    "self_play": self_play,
}


# -- Measuring ---------------------------------------------------------------------------------------------------------


def bytes_per_step(game: Game) -> int:
    """Return the bytes that an action must move: records, mask, action, results, and entries of the observation that change."""
    batch = Batch(game, 64, auto_reset=True, seed=0)
    changed, num_steps = 0, 64
    for _ in range(num_steps):
        before = batch.observations.copy()
        batch.step(batch.random_actions())
        changed += int((batch.observations != before).sum())
    of_results = 8 + 8 + 8 + 1 + 2  # action, seed, rewards, player, flags
    of_planes = 4 * changed // (num_steps * batch.num_games)
    return 2 * game.state_dtype.itemsize + 2 * game.num_actions + of_results + of_planes


def bandwidth(device: str, seconds: float) -> float:
    """Return the bytes per second, read or written, of copies within the device's memory."""
    import torch

    where = "cpu" if device == "emulated" else device
    source = torch.zeros(1 << (22 if where == "cpu" else 30), dtype=torch.uint8, device=where)
    target = torch.empty_like(source)
    return 2 * len(source) * calls_per_second(lambda: target.copy_(source), device, seconds / 4)


def evaluations_per_second(
    network: Callable[[Any], object], planes: Any, games: int, device: str, seconds: float
) -> float:
    """Return how many positions a network evaluates at its best batch of up to ``games``, given the planes of one."""
    best = 0.0
    for size in (256, 4096, 65536):
        if size <= max(256, games):
            batch = planes.repeat(size, 1, 1, 1)
            best = max(best, size * calls_per_second(lambda batch=batch: network(batch), device, seconds / 8))  # type: ignore[misc]
    return best


def calls_per_second(call: Callable[[], object], device: str, seconds: float) -> float:
    """Return how often per second the device does what a call starts, after a first call that is not measured."""
    call()
    wait(device)
    number = 1
    while True:
        start = time.perf_counter()
        for _ in range(number):
            call()
        wait(device)
        taken = time.perf_counter() - start
        if taken >= seconds:
            return number / taken
        number = max(number + 1, min(8 * number, int(1.2 * number * seconds / max(taken, 1e-6))))


def wait(device: str) -> None:
    """Wait until the device has done all its work."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.synchronize(device)


def free_bytes(device: str) -> int:
    """Return the free memory of the device."""
    if device == "emulated":
        return 1 << 28
    import torch

    return int(torch.cuda.mem_get_info(device)[0])


def _rates(per_second: float, bound: float) -> Row:
    return {"per_s": round(per_second), "bound_per_s": round(bound), "share_of_bound": round(per_second / bound, 3)}


def _host(array: Any) -> np.ndarray[Any, Any]:
    return array if isinstance(array, np.ndarray) else array.cpu().numpy()


def _differ(one: Any, other: Any) -> int:
    """Return the number of rows that are not equal byte for byte."""
    rows = [np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1) for array in (one, other)]
    return int((rows[0] != rows[1]).any(axis=1).sum())


if __name__ == "__main__":
    app()
