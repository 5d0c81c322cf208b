"""Self-play whose positions are evaluated on a device, here on one that is emulated."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from other_targets import can_compile
from random_networks import random_network
from stoneworks.envs.rules import Batch
from stoneworks.models.inference.device_inference import DeviceEvaluator, DeviceInference
from stoneworks.models.inference.network_inference import TorchInference
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.training.alphazero.device_self_play import DeviceSelfPlay, Place
from stoneworks.training.alphazero.self_play import PlayedGame
from stoneworks.training.alphazero.sources import GameSource, InProcessSelfPlay
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.run import train_run
from tiny_runs import alphazero, positions_of, saved, stopped

pytestmark = can_compile
#: Compiling takes half a minute a game; the slow tests have others.
GAMES = (
    ("vadus(size=3)", False),
    ("vadus(size=3)", True),
    pytest.param("taugo(size=5)", True, marks=pytest.mark.slow),
    pytest.param("trugo(radius=4,tiles=12)", True, marks=pytest.mark.slow),
)
SEED = np.random.SeedSequence(3)


def emulated(game: str = "vadus(size=3)", features: bool = False, **self_play: Any) -> Any:
    network = {"channels": 4, "blocks": 1, "features": features}
    return alphazero(game=game, network=network, self_play={"device": "emulated", "num_games": 7, **self_play})


def contents(played: list[PlayedGame]) -> list[tuple[Any, ...]]:
    return [(game.actions, game.winner, game.num_opening_actions, game.positions.tobytes()) for game in played]


def played_by(source: GameSource, num_positions: int = 60) -> list[tuple[Any, ...]]:
    games, timings = source.collect(num_positions, threading.Event())
    assert min(timings) > 0
    return contents(games)


@pytest.mark.parametrize(("game", "features"), GAMES)
def test_planes_of_records_are_those_of_the_processor_byte_for_byte(game: str, features: bool) -> None:
    batch = Batch(game, 256, auto_reset=True, seed=1)
    for _ in range(9):
        batch.step(batch.random_actions())
    inputs = NetworkInputs(game, features)
    network = random_network(game, features=features, spread=0.1)
    evaluator = DeviceEvaluator(DeviceInference(network, "emulated", torch.float32), inputs, 300)
    evaluator.records[:256] = batch.records().view(np.uint8).reshape(256, -1)
    planes = inputs.of_records(batch.records())[0]
    assert evaluator.planes_of(256).numpy().tobytes() == planes.tobytes()
    expected = TorchInference(network, device=torch.device("cpu"), dtype=torch.float32)(planes)
    for found, one in zip(evaluator(evaluator.records[:256]), expected, strict=True):
        np.testing.assert_array_equal(found, one)


@pytest.mark.parametrize(("game", "features"), GAMES)
def test_games_are_those_of_the_processor_for_any_number_of_threads(game: str, features: bool) -> None:
    config, network = emulated(game, features), random_network(game, features=features, spread=0.1)
    sources = [DeviceSelfPlay(network, config, np.random.SeedSequence(3), threads=threads) for threads in (1, 3)]
    found = [played_by(source) for source in sources]
    assert found[0] == found[1]
    # The same games, each half by itself: seven games are three and four.
    halves = [
        InProcessSelfPlay(
            network,
            alphazero(**{**config.model_dump(), "self_play": {"num_games": number}}),
            seed,
            inference=TorchInference(network, device=torch.device("cpu"), dtype=torch.float32),
        )
        for number, seed in zip((3, 4), np.random.SeedSequence(3).spawn(2), strict=True)
    ]
    steps: list[tuple[Any, ...]] = []
    while len(steps) < len(found[0]):
        steps += [one for half in halves for one in contents(half.step()[0])]
    assert steps == found[0]
    for source in sources:
        source.close()


def test_a_half_and_new_weights_do_not_wait_for_the_other_half() -> None:
    network = random_network("vadus(size=3)", channels=4)
    source = DeviceSelfPlay(network, emulated(), SEED, place=Place(0, 1))
    first, second = source.halves
    may_end = threading.Event()
    play = first.step
    with patch.object(first, "step", lambda: may_end.wait(60) and play()):
        for _ in range(4):
            source.step()
        source.update(random_network("vadus(size=3)", channels=4, seed=1, spread=0.5).playing_state_dict(), 0.7)
        source.step()
        assert [sum(one.timings.num_simulations for one in half.parts.values()) > 0 for half in (first, second)] == [
            False,
            True,
        ]
        assert second.parts["vadus(size=3)"].search.leaf_value_weight == 0.0  # of progress 0.7
        may_end.set()
        while not first.parts["vadus(size=3)"].timings.num_simulations:
            source.step()
    source.close()


@pytest.mark.parametrize(("precision", "dtype"), [("auto", torch.float32), ("bfloat16", torch.bfloat16)])
def test_several_boards_are_played_in_the_precision_that_is_configured(precision: str, dtype: torch.dtype) -> None:
    games = {"vadus(size=2)": 0.5, "vadus(size=3)": 0.5}
    config = emulated(num_games=10).replace(precision=precision, games=games)
    source = DeviceSelfPlay(random_network("vadus(size=3)"), config, SEED)
    played, timings = source.collect(400, threading.Event())
    assert source.inference.dtype == next(source.inference._network.parameters()).dtype == dtype
    assert timings.num_simulations > 0
    assert {game.game for game in played} == set(games)
    source.close()


def test_new_weights_change_what_the_device_answers() -> None:
    one, other = (random_network("vadus(size=3)", seed=seed, spread=0.3) for seed in range(2))
    inference = DeviceInference(one, "emulated", torch.float32)
    evaluator = DeviceEvaluator(inference, NetworkInputs("vadus(size=3)", False), 4)
    evaluator.records[:] = Batch("vadus(size=3)", 4).records().view(np.uint8).reshape(4, -1)
    inference.load_weights(other.playing_state_dict())
    expected = other.infer(NetworkInputs("vadus(size=3)", False).of_records(Batch("vadus(size=3)", 4).records())[0])
    for found, values in zip(evaluator(evaluator.records), expected, strict=True):
        np.testing.assert_allclose(found, values, rtol=1e-5)


@pytest.mark.parametrize("can_capture", [True, False])
def test_graphs_of_a_few_sizes_have_the_batches_in_them(monkeypatch: pytest.MonkeyPatch, can_capture: bool) -> None:
    network = random_network("vadus(size=3)", spread=0.3)
    inference = DeviceInference(network, "emulated", torch.float32)
    reference = TorchInference(network, device=torch.device("cpu"), dtype=torch.float32)

    class Graph:
        """Does at each replay what was done when it was captured."""

        def replay(self) -> None:
            ((_, given, results),) = [one for one in inference._graphs.values() if one[0] is self]
            for result, found in zip(results, reference.infer(given), strict=True):
                result.copy_(found)

    def capture(*_: Any, **__: Any) -> Any:
        if not can_capture:
            raise RuntimeError("out of memory")
        return contextlib.nullcontext()

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph", capture)
    inference._stream = object()  # type: ignore[assignment]
    batch = Batch("vadus(size=3)", 300, seed=1)
    batch.step(batch.random_actions())
    planes = torch.tensor(batch.observations)
    with (
        contextlib.nullcontext()
        if can_capture
        else pytest.warns(UserWarning, match="emulated goes on without graphs, .*: out of memory")
    ):
        for number in (1, 64, 65, 130, 257, 300, 3):
            expected = reference.infer(planes[:number])
            for found, one in zip(inference.infer(planes[:number]), expected, strict=True):
                np.testing.assert_allclose(found, one, rtol=1e-5, atol=1e-6)
    assert {shape[0] for shape in inference._graphs} == ({64, 128, 192, 320} if can_capture else set())


def test_runs_repeat_go_on_and_change_to_the_processor(tmp_path: Path) -> None:
    config = emulated("vadus(size=2)", True)
    for name in ("one", "other"):
        stopped(config, tmp_path / name, 2)
    assert positions_of(tmp_path / "one") == positions_of(tmp_path / "other")
    assert train_run(config, tmp_path / "one", resume=True).finished
    on_processor = alphazero(**{**config.model_dump(), "self_play": {"num_games": 8}})
    assert train_run(on_processor, tmp_path / "other", resume=True).finished
    assert saved(tmp_path / "one")["gradient_steps"] == saved(tmp_path / "one")["positions"] // 16


@pytest.mark.slow
def test_a_run_with_a_process_for_the_device_is_stopped_and_resumed(tmp_path: Path) -> None:
    config = emulated("vadus(size=2)").replace(processes=-1)
    stopped(config, tmp_path, 2)
    assert train_run(config, tmp_path, resume=True).finished
    assert saved(tmp_path)["positions"] >= 300


def test_devices_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    for self_play, message in (
        ({"device": "gpu"}, r"self_play\.device must be .*'gpu'"),
        ({"num_games": 1}, r"self_play\.num_games must be >= 2 on a device, got 1"),
    ):
        with pytest.raises(ConfigError, match=message):
            emulated(**self_play)
    with pytest.raises(ConfigError, match=r"self_play\.device must be cpu with a cluster, got 'emulated'"):
        emulated().replace(cluster="auto", processes=-1)
    if not torch.cuda.is_available():
        with pytest.raises(ConfigError, match=r"self_play\.device must be available on this machine, got 'cuda'"):
            train_run(emulated(device="cuda"), tmp_path)
