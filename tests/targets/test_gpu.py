"""Games on a GPU: the code that a card would run, compiled for the processor."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import math
import pickle
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import gpu as measured
from other_targets import GPU_GAMES, can_compile
from stoneworks.envs.rules import NO_ACTION, Batch, DeviceError, IllegalActionError
from stoneworks.envs.rules.compiler import gpu
from stoneworks.envs.rules.compiler.accurate_functions import accurate_expf, accurate_tanh
from stoneworks.envs.rules.device import Planes, thread_room
from stoneworks.extras import MissingDependencyError
from stoneworks.models import load_bot
from stoneworks.models.network_inputs import NetworkInputs

pytestmark = [pytest.mark.needs("torch"), can_compile]


def arrays_of(batch: Batch) -> list[bytes]:
    arrays = (*(getattr(batch, name) for name in measured.ARRAYS), batch.records(), batch._seeds)
    return [np.asarray(array).tobytes() for array in arrays]


def pair_of(game: str, num_games: int = 7, *, auto_reset: bool = True, **arguments: Any) -> tuple[Batch, Batch]:
    one, other = (
        Batch(game, num_games, auto_reset=auto_reset, seed=3, device=device, **arguments)
        for device in ("cpu", "emulated")
    )
    return one, other


@pytest.mark.parametrize("game", GPU_GAMES)
def test_games_are_equal_byte_for_byte_and_threads_take_half_of_their_room(game: str) -> None:
    one, other = pair_of(game)
    assert len(other) > gpu.EMULATED_THREADS
    assert arrays_of(one) == arrays_of(other)
    ended = 0
    for number in range(40):
        actions, others = one.random_actions(), other.random_actions()
        assert others.tolist() == actions.tolist()
        one.step(actions)
        assert other.step(others).rewards.tolist() == one.rewards.tolist()
        assert arrays_of(one) == arrays_of(other)
        ended += int((one.terminated | one.truncated).sum())
        if number % 10 == 5:
            for mine, theirs in zip(one.random_playouts(), other.random_playouts(), strict=True):
                assert theirs.tolist() == mine.tolist()
    assert ended

    arena = other._on_device._arena  # type: ignore[union-attr]
    arena.fill_(0xA5)
    other.random_playouts()
    other.step(other.random_actions())
    other.reset()
    room = thread_room(other.game, Planes(other.game))
    used = (arena[: gpu.EMULATED_THREADS * room].reshape(-1, room) != 0xA5).any(0).nonzero().max() + 1
    assert 0 < used <= room / 2


def test_observations_have_the_format_that_is_asked_for() -> None:
    whole, _ = pair_of("vadus(size=3)")
    batches = [(name, batch) for name in ("uint8", "bits") for batch in pair_of("vadus(size=3)", observations=name)]
    batches.append(("bfloat16", Batch(whole.game, 7, device="emulated", auto_reset=True, observations="bfloat16")))
    for number in range(12):
        actions = whole.random_actions()
        whole.step(actions)
        planes = whole.observations
        for index, (name, batch) in enumerate(batches):
            batch.step(actions)
            shown = np.asarray(batch.observations.float() if name == "bfloat16" else batch.observations)
            if name == "bits":
                assert shown.shape == (7, -(-planes[0].size // 8))
                shown = np.unpackbits(shown, axis=1, count=planes[0].size, bitorder="little").reshape(planes.shape)
            assert (shown == planes).all()
            if number % 4 == 3:
                batches[index] = name, pickle.loads(pickle.dumps(batch))
        if number == 5:
            for batch in (whole, *(batch for _, batch in batches)):
                batch.reset([2])
    assert [str(batch.observations.dtype).rpartition(".")[2] for _, batch in batches] == [*["uint8"] * 4, "bfloat16"]
    for device, name in (("cpu", "bfloat16"), ("cpu", "float64"), ("emulated", True)):
        with pytest.raises(ValueError, match=rf"observations of vadus\(size=3\) on '{device}' .*, got {name!r}"):
            Batch("vadus(size=3)", 2, device=device, observations=name)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"observations of taigo\(radius=3\).* must be float32, got 'bits'"):
        Batch("taigo(radius=3)", 2, observations="bits")


def test_without_observations_games_are_the_same() -> None:
    whole, _ = pair_of("vadus(size=3)")
    for batch in pair_of("vadus(size=3)", observations=None):
        reference = copy.deepcopy(whole)
        for _ in range(30):
            actions = reference.random_actions()
            assert batch.random_actions().tolist() == actions.tolist()
            reference.step(actions)
            batch.step(actions)
        assert (batch.records() == reference.records()).all()
        assert (np.asarray(batch.action_masks) == reference.action_masks).all()
        assert tuple(batch.observations.shape) == (7, 0, 5, 5)


@pytest.mark.parametrize("game", GPU_GAMES)
def test_features_and_views_of_both_players_are_equal_byte_for_byte(game: str) -> None:
    inputs = NetworkInputs(game, True)
    one, other = pair_of(game, inputs=inputs)
    ended = 0
    for _ in range(30):
        actions = one.random_actions()
        one.step(actions)
        other.step(actions)
        ended += int((one.terminated | one.truncated).sum())
        assert (one.observations == inputs.of_records(one.states.copy())[0]).all()
        assert arrays_of(one)[:-1] == arrays_of(other)[:-1]
        for player in (0, 1):
            seen = one.observe([1, 4], [player, 1 - player])
            plain = one.state(1).observation_tensor(player)
            assert (seen[0, : len(plain)] == plain).all()
            assert np.asarray(other.observe([1, 4], [player, 1 - player])).tobytes() == seen.tobytes()
    assert ended
    arena = other._on_device._arena  # type: ignore[union-attr]
    arena.fill_(0xA5)
    other.step(other.random_actions())
    other.reset()
    room = thread_room(other.game, inputs)
    used = (arena[: gpu.EMULATED_THREADS * room].reshape(-1, room) != 0xA5).any(0).nonzero().max() + 1
    assert 0 < used <= room / 2


def test_a_batch_of_tensors_has_all_methods() -> None:
    import torch

    one, other = pair_of("vadus(size=3)", 4, auto_reset=False)
    assert isinstance(other.observations, torch.Tensor)
    for actions in ([2, 3, 4, 6], np.array([7, 8, 9, 10], np.uint64), [NO_ACTION, 11, 11, 11]):
        one.step(actions)
        kept = other.step(torch.tensor(np.asarray(actions, np.int32))).copy()
    assert [other.state(row) for row in range(4)] == [one.state(row) for row in range(4)]
    for bad in ([12, 12, 12, 11], np.array([12, 12, 12, 2**64 - 1], np.uint64), torch.tensor([-1, -1, -1, 99])):
        for batch in (one, other):
            with pytest.raises(IllegalActionError, match="game 3 of the batch"):
                batch.step(bad)
    with pytest.raises(ValueError, match=r"actions must be 4 integers, got torch\.float32"):
        other.step(torch.zeros(4))
    with pytest.raises(
        ValueError, match=r"actions must be 4 integers, got torch\.uint64"
    ):  # 2**64 - 1 would be NO_ACTION
        other.step(torch.tensor(np.full(4, 2**64 - 1, np.uint64)))
    for batch in (one, other):
        batch.load([0, 2], one.states[1:2], trusted=True)
    other.reset(torch.tensor([False, False, False, True]))
    one.reset([3])
    assert arrays_of(one) == arrays_of(other)
    for same in (copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        assert arrays_of(same) == arrays_of(one)
        same.step(same.random_actions(), trusted=True)
        assert arrays_of(same) != arrays_of(one)
    assert arrays_of(one) == arrays_of(other)
    assert kept.rewards.data_ptr() != other.rewards.data_ptr()  # type: ignore[attr-defined]


def test_bots_refuse_batches_of_tensors() -> None:
    _, other = pair_of("vadus(size=3)", 2)
    with pytest.raises(ValueError, match="random: the batch must be on the device 'cpu', got one on 'emulated'"):
        load_bot("random", "vadus(size=3)").step_batch(other, np.arange(2))


def test_functions_of_cards_are_those_of_the_processor_but_for_the_last_places() -> None:
    singles = np.concatenate([np.linspace(-110, 95, 4001), [-math.inf, math.inf]]).astype(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        found = np.array([accurate_expf(x) for x in singles])
        np.testing.assert_array_max_ulp(found, np.exp(singles.astype(np.float64)).astype(np.float32), 1)
    for x in (*np.linspace(-25, 25, 4001), 0.0, -0.0, 1e-300, 0.4999999, 0.5, 700.0, math.inf, -math.inf):
        assert accurate_tanh(x) == pytest.approx(math.tanh(x), rel=6e-16, abs=0)
    assert math.isnan(accurate_tanh(math.nan))
    assert math.copysign(1, accurate_tanh(-0.0)) == -1


def test_addresses_that_a_card_would_refuse_are_noticed() -> None:
    import torch

    (_, batch) = pair_of("vadus(size=3)", 1)
    board = torch.zeros(1, batch._board.shape[1] + 1, dtype=torch.uint8)[:, 1:]
    board[:] = batch._board
    batch._board = board
    with pytest.raises(DeviceError, match="addresses are not aligned"):
        batch.step(batch.random_actions())


def test_a_missing_card_or_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    for device in ("gpu", "cuda:x", "cpu:1", 0):
        with pytest.raises(ValueError, match=re.escape(f"got {device!r}")):
            Batch("vadus(size=3)", 1, device=device)  # type: ignore[arg-type]
    if not torch.cuda.is_available():
        with pytest.raises(DeviceError, match="finds no NVIDIA GPU"):
            Batch("vadus(size=3)", 1, device="cuda")
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(MissingDependencyError, match=r"need cuda; install stoneworks\[gpu\]"):
        gpu.CudaProgram(b"", "cuda")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"need torch; install stoneworks\[gpu\]"):
        Batch("vadus(size=3)", 1, device="cuda")


def test_calls_reach_the_driver_with_their_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    calls: list[tuple[Any, ...]] = []

    def launch(function: str, *given: Any) -> tuple[Any, ...]:
        kinds = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_uint8
        addresses = ctypes.cast(given[8], ctypes.POINTER(ctypes.c_void_p))
        values = [kind.from_address(addresses[number]).value for number, kind in enumerate(kinds)]
        calls.append((function, given[:8], values))
        return (failure if function == "bad" else 0,)

    failure = type("Result", (int,), {"name": "CUDA_ERROR_ILLEGAL_ADDRESS"})(700)
    driver = ModuleType("driver")
    driver.__dict__.update(
        cuModuleLoadData=lambda code: (0, code),
        cuModuleGetFunction=lambda module, name: (0, name.decode()),
        cuLaunchKernel=launch,
        cuGetErrorString=lambda error: (0, b"an illegal memory access"),
    )
    bindings = ModuleType("cuda.bindings")
    bindings.driver = driver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    monkeypatch.setattr(torch.cuda, "device", contextlib.nullcontext)
    stream = SimpleNamespace(cuda_stream=77, synchronize=lambda: None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    program = gpu.CudaProgram(b"code", "cuda:1")
    program.launch("step", 300, [ctypes.c_uint8(1)], 1 << 40, 64)
    assert calls == [("step", (3, 1, 1, 128, 1, 1, 0, 77), [1 << 40, 64, 300, 1])]
    with pytest.raises(DeviceError, match="cuda:1: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access"):
        program.launch("bad", 1, [ctypes.c_uint8(1)], 0, 64)
    (_, batch) = pair_of("vadus(size=3)", 1)
    batch._on_device._program = program  # type: ignore[union-attr]
    batch.reset([])  # a card refuses a call without threads
    assert len(calls) == 2
    assert gpu.num_blocks(10**9) == gpu.MAX_THREADS // 128


@pytest.mark.parametrize(
    ("code", "error"),
    [("import os; os.abort()", "ended with status -6"), ("raise ValueError('no card')", "ValueError: no card")],
)
def test_a_part_that_fails_has_a_row(code: str, error: str, tmp_path: Path) -> None:
    file = tmp_path / "gpu.jsonl"
    part = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    measured._wait(part, 60, {"part": "check"}, file)
    assert list(measured.read_rows(file)) == [{"part": "check", "error": error}]


@pytest.mark.slow
def test_the_benchmark_runs_from_end_to_end(tmp_path: Path) -> None:
    file = tmp_path / "gpu.jsonl"
    options = ["--device", "emulated", "--games", "5", "--seconds", "0.01", "--minutes", "80", "--output", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", "--game", "vadus(size=3)", "--game", "vadus(size=1)", *options],
        cwd=Path(str(measured.__file__)).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    rows = {(row["part"], row["game"]): row for row in measured.read_rows(file)}
    assert rows["check", "vadus(size=3)"]["differing"] == 0 < rows["check", "vadus(size=3)"]["playout_actions"]
    for part in ("playouts", "steps"):
        assert rows[part, "vadus(size=3)"]["per_s"] > 0
        assert rows[part, "vadus(size=3)"]["bound_per_s"] > 0
        assert "size" in rows[part, "vadus(size=1)"]["error"]
    assert rows["steps", "vadus(size=3)"]["without_observations_per_s"] > 0
    assert rows["ppo", "vadus(size=3)"]["per_s"] > 0 < rows["ppo", "vadus(size=3)"]["bound_per_s"]
    self_play = rows["self_play", "vadus(size=3)"]
    assert self_play["per_s"] > 0 < self_play["bound_per_s"]
    assert self_play["without_features_per_s"] > 0
    assert sum(self_play[f"{part}_share"] for part in ("tree", "device", "rest")) == pytest.approx(1, abs=0.002)
    assert {part for part, _ in rows} == set(measured.PARTS)


def test_differing_rows_are_counted() -> None:
    one = np.zeros((3, 4), np.float32)
    other = one.copy()
    other[1] = 1
    other[2, 0] = -0.0
    assert measured._differ(one, other) == 2
