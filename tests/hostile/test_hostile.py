"""Robustness: damaged records and files, bad arguments, kills, full disks, many steps; ``HOSTILE_SCALE=30`` does more of each.

What is damaged is refused with a typed error, or it works; see also the tests of records, checkpoints and changed files.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import inspect
import json
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
pytest.importorskip("starlette")

import torch

import stoneworks
from damage import with_flipped_bits
from game_play import random_game
from processes import COMMAND, PIPES
from stoneworks.envs.rules import Batch, PositionError, State, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.envs.single_agent import SingleAgentEnv
from stoneworks.envs.vector import VectorEnv
from stoneworks.evaluation import ArenaSettings, load_ladder
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.models.bots.spec import UntrustedNameError
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint, load_training_state
from stoneworks.models.inference.onnx_export import save_policy
from stoneworks.models.inference.onnx_policy import OnnxPolicy, OnnxPolicyError
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.config_files import load_config
from stoneworks.training.runs.run_folder import read_metrics
from stoneworks.web.board import Positions
from stoneworks.web.game_tree import new_game
from stoneworks.web.requests import RequestError
from stoneworks.web.store import DATABASE_FILE, Store

pytestmark = pytest.mark.slow

SCALE = int(os.environ.get("HOSTILE_SCALE", "1"))
SEED = int(os.environ.get("HOSTILE_SEED", "0"))
TAKES_MINUTES = pytest.mark.skipif(SCALE == 1, reason="takes minutes")


@pytest.mark.parametrize("name", small_games())
def test_a_changed_record_is_refused_or_plays_on(name: str) -> None:
    """Changed bits, and values in the range of their field. What passes is played on, searched and evaluated."""
    game, random = load_game(name), np.random.default_rng(SEED)
    records = np.array([state.record for seed in range(16) for state in random_game(game, seed)], game.state_dtype)
    bots = [load_bot(bot, game, seed=1) for bot in ("mcts:8", "alphabeta:1", "greedy")]
    batch = Batch(game, 1, seed=SEED)
    for attempt in range(300 * SCALE):
        if attempt % 2:
            record = with_flipped_bits(records, random)
        else:
            record = records[random.integers(len(records))].reshape(1).copy()
            field = game.state_fields[random.integers(len(game.state_fields))]
            index = (0, *(random.integers(length) for length in field.shape))
            low, high = (int(np.broadcast_to(bound, field.shape)[index[1:]]) for bound in (field.low, field.high))
            dtype = np.uint64 if low >= 0 else np.int64
            record[field.name][index] = random.integers(low, high, endpoint=True, dtype=dtype)
        try:
            batch.load([0], record)
        except PositionError:
            continue
        if attempt % 20 == 0 and batch.current_players[0] >= 0:
            for bot in bots:
                bot.step_batch(batch, np.arange(1))
        batch.random_playouts()
        while batch.current_players[0] >= 0:
            assert batch.action_masks.any(), record
            batch.step(batch.random_actions())
            game.check_records(batch.states)


PIECES = (b"[" * 5000, b"{" * 5000, b"9" * 5000, b"NaN", b"null", b"-1", b"\0", b'"', b"1e999", b"true", b"[]", b"{}")


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """Return the content with one kind of damage."""
    place, length = int(random.integers(len(content))), int(random.integers(1, 40))
    piece = PIECES[random.integers(len(PIECES))]
    flipped = bytes([content[place] ^ 1 << int(random.integers(8))]) + content[place + 1 :]
    ends = (
        *(flipped, flipped, flipped, b""),
        random.bytes(length) + content[place:],
        content[place + length :],
        content[place : place + length] + content[place:],
        piece + content[place + len(piece) :],
    )
    return content[:place] + ends[random.integers(len(ends))]


def load_forged(folder: Path) -> None:
    """Load a checkpoint whose description has the checksums of its damaged weights."""
    fields = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
    for name in ("model.safetensors", "training.safetensors"):
        fields["files"][name]["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "checkpoint.json").write_text(json.dumps(fields), encoding="utf-8")
    network = load_checkpoint(folder).network
    load_training_state(folder)
    planes, _ = NetworkInputs(load_game("vadus(size=2)"), network.features).of_records(
        Batch("vadus(size=2)", 1).states.copy()
    )
    assert all(torch.isfinite(outputs).all() for outputs in network(torch.from_numpy(planes)))


def load_metrics(file: Path) -> None:
    rows = read_metrics(file, "positions")
    assert all(isinstance(value, (int, float)) for row in rows for value in row.values())


def load_policy(file: Path) -> None:
    scores, _ = OnnxPolicy.load(file).infer(np.zeros((2, *load_game("vadus(size=2)").observation_shape), np.float32))
    assert np.isfinite(scores).all()


def load_database(file: Path) -> None:
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    with contextlib.closing(Store(file.parent)) as opened:
        for number in opened.all_ids():
            with contextlib.suppress(RequestError):
                stored = opened.load(number)
                stored.path(stored.current)
        opened.recent(0, 10)


#: By the file: how it is loaded, and the errors that it may raise.
FILES: dict[str, tuple[Callable[[Path], object], tuple[type[Exception], ...]]] = {
    "checkpoint/model.safetensors": (lambda file: load_forged(file.parent), (CheckpointError,)),
    "checkpoint/training.safetensors": (lambda file: load_forged(file.parent), (CheckpointError,)),
    "checkpoint/checkpoint.json": (lambda file: load_checkpoint(file.parent), (CheckpointError,)),
    "metrics.jsonl": (load_metrics, ()),
    "config.yaml": (lambda file: load_config(str(file)), (ConfigError, UntrustedNameError)),
    "policy.onnx": (load_policy, (OnnxPolicyError,)),
    f"page/{DATABASE_FILE}": (load_database, (ValueError, RequestError)),
}


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_or_read(name: str, alphazero_run: Path) -> None:
    game, file, (load, errors) = load_game("vadus(size=2)"), alphazero_run / name, FILES[name]
    layers = [torch.nn.Linear(int(np.prod(game.observation_shape)), 4), torch.nn.Linear(4, game.num_actions)]
    save_policy(alphazero_run / "policy.onnx", layers, game, selection="sample")
    store = Store(alphazero_run / "page")
    store.create([new_game(Positions().line(game, ("b2",)), (None, "random"))] * 5)
    store.close()
    content, random = file.read_bytes(), np.random.default_rng(SEED)
    load(file)
    for _ in range(40 * SCALE):
        file.write_bytes(damaged(content, random))
        with contextlib.suppress(*errors):
            load(file)


BAD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, float("nan"), float("inf"), 2**70, -(2**70), np.float64(2.5)),
    *("", "\0", "x" * 10_000, "vadus(", "é", b"bytes"),
    *([], [[]], {}, {"a": 1}, object(), np.zeros(3), np.zeros((2, 2), object), lambda: None),
)


def valid_calls() -> dict[Callable[..., Any], dict[str, Any]]:
    """Return what is public with valid arguments."""
    game = load_game("vadus(size=3)")
    bots = {"bot_a": load_bot("random", game), "bot_b": load_bot("random", game)}
    batch, env, vector = Batch(game, 3), SingleAgentEnv("vadus(size=3)"), VectorEnv(2, "vadus(size=3)")
    env.reset(seed=1)
    vector.reset(seed=1)
    state = game.new_initial_state()
    return {
        stoneworks.load_game: {"game": "vadus"},
        stoneworks.load_bot: {"name": "random", "game": "vadus(size=3)", "seed": 1},
        Batch: {"game": game, "num_games": 2, "auto_reset": False, "num_threads": 1, "seed": 1},
        batch.step: {"actions": batch.random_actions()},
        batch.reset: {"rows": [0]},
        batch.load: {"rows": [0], "records": batch.states[:1]},
        batch.state: {"row": 0},
        state.apply_action: {"action": 9},
        state.string_to_action: {"player_and_text": "c3"},
        state.observation_tensor: {"player": 0},
        state.child: {"action": 9},
        State.from_record: {"game": game, "record": state.record},
        SingleAgentEnv: {"game": "vadus(size=3)", "opponent": "random", "seat": 0, "observation": {}},
        env.step: {"action": 9},
        VectorEnv: {"num_envs": 2, "game": "vadus(size=3)", "opponent": "random", "num_threads": 1},
        vector.step: {"actions": [9, 9]},
        ArenaSettings: {"game": "vadus(size=3)", "pairings": (("random", "greedy"),), "num_pairs": 1, "seed": 1},
        play_match: {"game": game, **bots, "num_pairs": 1, "opening_actions": 0, "seed": 1},
        game.deserialize_state: {"text": "c3"},
        game.action_to_string: {"action": 1},
        load_config: {"name": "vadus-5", "overrides": ["seed=1"], "trust_names": False},
        load_ladder: {"game": "vadus(size=5)", "path": None},
    }


def call_with(call: Callable[..., Any], arguments: dict[str, Any]) -> None:
    kinds = [parameter.kind for parameter in inspect.signature(call).parameters.values()]
    positional = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL
    call(*arguments.values()) if kinds and kinds[0] in positional else call(**arguments)


def test_valid_arguments_are_accepted() -> None:
    for number in range(len(valid_calls())):
        call_with(*list(valid_calls().items())[number])


def test_bad_arguments_raise_errors_of_the_package_or_of_python_for_another_type() -> None:
    random = np.random.default_rng(SEED)
    for _ in range(300 * SCALE):
        calls = valid_calls()
        call = list(calls)[random.integers(len(calls))]
        arguments, names = calls[call], list(calls[call])
        for _ in range(random.integers(1, 3)):
            arguments[names[random.integers(len(names))]] = BAD_VALUES[random.integers(len(BAD_VALUES))]
        with contextlib.suppress(ValueError, TypeError, IndexError, ResetNeeded):
            call_with(call, arguments)


def command(which: str, folder: Path) -> list[str]:
    """Return the command of a short arena, or of a short training run that saves often, which goes on where one is there."""
    if which == "arena":
        names = ("random", "mcts:5", "--game", "vadus(size=3)", "--workers", "2")
        return [*COMMAND, "arena", *names, "--pairs", "200", "--folder", str(folder)]
    settings = "vadus-5-ppo frames=1024 num_games=16 steps_per_update=8 minibatch_size=64 matches.frames=512"
    if which == "alphazero":
        settings = (
            "vadus-5 positions=600 positions_per_iteration=100 processes=0 self_play.num_games=16 search.simulations=8 "
            "search.capped_simulations=4 matches.positions=300 matches.search_opponents=[]"
        )
    settings += (
        " network.channels=8 network.blocks=1 checkpoint_seconds=1 matches.num_pairs=1 matches.opponents=[random]"
    )
    name, *given = settings.split()
    overrides = [word for setting in given for word in ("--set", setting)]
    return [*COMMAND, "train", name, "--folder", str(folder), *overrides, *["--resume"] * folder.exists()]


def run(words: list[str], seconds: float | None = None, number: int = signal.SIGKILL) -> tuple[int, str]:
    """Run a command, and send it a signal after some time. Return its exit status and what it wrote to standard error."""
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, **PIPES)
    try:
        errors = process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        errors = process.communicate(timeout=3000)[1]
    return process.returncode, errors


@TAKES_MINUTES
@pytest.mark.parametrize("which", ["ppo", "alphazero", "arena"])
def test_what_is_killed_at_random_moments_goes_on_to_its_end(which: str, tmp_path: Path) -> None:
    random, folder = np.random.default_rng(SEED), tmp_path / "run"
    for attempt in range(6):
        how = (signal.SIGKILL, signal.SIGTERM)[attempt % 4 == 3]
        status, errors = run(command(which, folder), 2.0 + 20.0 * random.random(), how)
        assert "Traceback" not in errors
        # CPython ends by SIGINT instead of with 130 if the interrupt came while exec() ran a text, as imports do.
        assert status in (0, 130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)
    assert run(command(which, folder))[0] == 0
    unit = {"ppo": "frames", "alphazero": "positions"}.get(which)
    points = [json.loads(line)[unit] for line in (folder / "metrics.jsonl").read_text().splitlines()] if unit else []
    assert points == sorted(set(points))
    assert not list(folder.rglob("*.tmp"))


@contextlib.contextmanager
def limited_disk(folder: Path, kib: int) -> Iterator[Path]:
    """Mount a disk of a few KiB; skip the test where that is not allowed."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


@TAKES_MINUTES
@pytest.mark.parametrize("which", ["ppo", "alphazero", "arena"])
def test_a_disk_that_fills_up_is_an_error_that_names_it(which: str, tmp_path: Path) -> None:
    random = np.random.default_rng(SEED)
    for attempt in range(1 + SCALE // 10):
        with limited_disk(tmp_path / str(attempt), int(random.integers(4, 300))) as folder:
            status, errors = run(command(which, folder / "run"))
            assert status == 0 or (status == 2 and "No space left on device" in errors), errors
            assert "Traceback" not in errors


def resident_bytes() -> int:
    """Return the memory in use, unlike ``ru_maxrss``, the most that any test so far has used."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("name", small_games())
def test_memory_does_not_grow_with_steps_copies_and_states(name: str) -> None:
    batch = Batch(load_game(name), 256, auto_reset=True, seed=SEED)

    def steps(total: int) -> None:
        for step in range(total // 256):
            batch.step(batch.random_actions())
            if step % 64 == 0:
                copy.deepcopy(batch).state(0).legal_actions()

    steps(50_000)
    before = resident_bytes()
    steps(50_000 * SCALE)
    assert resident_bytes() - before < 20 * 2**20
