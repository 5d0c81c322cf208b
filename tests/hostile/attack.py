"""Robustness tests: damaged records and files, bad arguments, kills, full disks, a million steps.

``python tests/hostile/attack.py`` runs all of it, ``--short`` a small part, ``--only NAME --size N`` one attack of another
size. Each attack runs in a process of its own, so that a crash is counted and does not end the rest. It prints how many
attempts were refused with a typed error, accepted as valid (stoneworks could have written what arrived, and it works),
accepted silently (it could not, and nothing was said), or crashed: an exception of another type, or the end of the process.
The exit status is 1 if one of the last two is not 0.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import hashlib
import inspect
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

import stoneworks
from stoneworks.envs.rules import Batch, Game, PositionError, State, load_game
from stoneworks.envs.single_agent import SingleAgentEnv
from stoneworks.envs.vector import VectorEnv
from stoneworks.evaluation import ArenaFolderError, ArenaSettings, LadderError, load_arena, load_ladder, play_arena
from stoneworks.evaluation.ladder import shipped_ladders
from stoneworks.evaluation.match import play_match
from stoneworks.evaluation.records import GameRecordError, read_records
from stoneworks.models import load_bot
from stoneworks.models.architecture import Architecture
from stoneworks.models.bots.spec import UntrustedNameError
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.config_files import load_config

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
os.environ["OMP_NUM_THREADS"] = "1"


class Counts(Counter[str]):
    """What became of the attempts of one attack."""

    def note(self, outcome: str, problem: str = "") -> None:
        """Count an attempt by its outcome, and print what is wrong."""
        self[outcome] += 1
        if problem:
            print(problem, file=sys.stderr)

    def attempt(self, act: Callable[[], bool | None], typed: tuple[type[BaseException], ...]) -> None:
        """Count one attempt: ``act`` raises a typed error, or returns whether what was accepted is valid."""
        try:
            accepted = act()
        except typed:
            self.note("refused")
        except Exception:
            self.note("crashed", f"crash: {traceback.format_exc(limit=-1)}" if self["crashed"] < 20 else "")
        else:
            self.note("silent" if accepted is False else "valid")


GAMES = (
    "vadus(size=5)",
    "laido(size=5)",
    "taugo(size=6)",
    "taigo(cones=2,radius=4,tiles=14)",
    "trugo(max_turns=60,radius=3,tiles=12)",
)


def attack_records(number: int, seed: int) -> Counts:
    """Change bits and fields of positions of every game; what the check accepts is played on, searched and evaluated."""
    counts = Counts()
    for name in GAMES:
        attack_records_of_game(load_game(name), number, seed, counts)
    return counts


def attack_records_of_game(game: Game, number: int, seed: int, counts: Counts) -> None:
    from game_play import random_game

    random = np.random.default_rng(seed)
    found = [state.record.copy() for game_number in range(16) for state in random_game(game, game_number)]
    records = np.array(found, game.state_dtype)
    bots = [load_bot(bot, game, seed=1) for bot in ("mcts:8", "alphabeta:1", "greedy")]
    target = Batch(game, 1, seed=seed)

    def play(record: Any, with_bots: bool) -> bool:
        target.load([0], record)
        State.from_record(game, record[0])
        if with_bots and target.current_players[0] >= 0:
            for bot in bots:
                bot.step_batch(target, np.arange(1))
        target.random_playouts()
        while target.current_players[0] >= 0:
            if not target.action_masks.any():
                return False
            target.step(target.random_actions())
            try:
                game.check_records(target.states)
            except PositionError:  # what follows a position is one
                return False
        return True

    for attempt in range(number):
        record = records[random.integers(len(records))].reshape(1).copy()
        if attempt % 2:
            for _ in range(random.integers(1, 4)):
                record.view(np.uint8)[random.integers(game.state_dtype.itemsize)] ^= 1 << random.integers(8)
        else:  # a value in the range of its field
            field = game.state_fields[random.integers(len(game.state_fields))]
            index = (0, *(random.integers(length) for length in field.shape))
            low, high = (int(np.broadcast_to(bound, field.shape)[index[1:]]) for bound in (field.low, field.high))
            record[field.name][index] = random.integers(
                low, high, endpoint=True, dtype=np.uint64 if low >= 0 else np.int64
            )
        counts.attempt(functools.partial(play, record, attempt % 20 == 0), (PositionError,))


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


def attack_files(number: int, seed: int) -> Counts:
    """Damage files of every kind."""
    import torch

    from stoneworks.models.checkpoint import CheckpointError, load_checkpoint, load_training_state
    from stoneworks.models.inference.onnx_export import save_policy
    from stoneworks.models.inference.onnx_policy import OnnxPolicy, OnnxPolicyError
    from stoneworks.training.runs.run import train_run
    from stoneworks.training.runs.run_folder import read_metrics
    from stoneworks.web.board import Positions
    from stoneworks.web.game_tree import new_game
    from stoneworks.web.requests import RequestError
    from stoneworks.web.store import DATABASE_FILE, Store
    from tiny_runs import alphazero

    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    counts = Counts()
    random = np.random.default_rng(seed)
    run_folder = folder / "run"
    train_run(alphazero(positions=60, matches={"positions": 10**6, "opponents": ["random"]}), run_folder)
    game = load_game("vadus(size=2)")
    checkpoint, forged = run_folder / "checkpoint", folder / "forged"
    shutil.copytree(checkpoint, forged)
    arena = folder / "arena"
    play_arena(ArenaSettings(game=str(game), pairings=(("random", "greedy"),), num_pairs=2, chunk_pairs=2), arena)
    ladder_file = folder / "ladder.json"
    shipped_ladders()["vadus(size=5)"].save(ladder_file)
    policy = folder / "policy.onnx"
    layers = [torch.nn.Linear(int(np.prod(game.observation_shape)), 4), torch.nn.Linear(4, game.num_actions)]
    save_policy(policy, layers, game, selection="sample")
    database = folder / "page" / DATABASE_FILE
    store = Store(database.parent)
    store.create([new_game(Positions().line(game, ("b2",)), (None, "random"))] * 5)
    store.close()
    (games_file,), (arena_file,) = (run_folder / "matches").iterdir(), (arena / "games").iterdir()
    metrics, config_file = run_folder / "metrics.jsonl", run_folder / "config.yaml"

    def load_forged() -> bool:
        fields = json.loads((checkpoint / "checkpoint.json").read_text(encoding="utf-8"))
        for name in ("model.safetensors", "training.safetensors"):
            fields["files"][name]["sha256"] = hashlib.sha256((forged / name).read_bytes()).hexdigest()
        (forged / "checkpoint.json").write_text(json.dumps(fields), encoding="utf-8")
        loaded = load_checkpoint(forged)
        load_training_state(forged)
        observation, _ = game.new_initial_state().observation_and_mask(0)
        logits, values = loaded.network(torch.from_numpy(observation[None]))
        return bool(torch.isfinite(logits).all() and torch.isfinite(values).all())

    def read_all_metrics() -> bool:
        rows = read_metrics(metrics, "positions")
        return all(isinstance(value, (int, float)) for row in rows for value in row.values())

    def load_exported() -> bool:
        scores, _ = OnnxPolicy.load(policy).infer(np.zeros((2, *game.observation_shape), np.float32))
        return bool(np.isfinite(scores).all())

    def open_database() -> bool:
        for suffix in ("-wal", "-shm"):
            database.with_name(database.name + suffix).unlink(missing_ok=True)
        with contextlib.closing(Store(database.parent)) as opened:
            for number in opened.all_ids():
                with contextlib.suppress(RequestError):
                    stored = opened.load(number)
                    stored.path(stored.current)
            opened.recent(0, 10)
        return True

    def load_weights() -> bool:
        load_checkpoint(checkpoint)
        load_training_state(checkpoint)
        return False  # a damage that the checksum does not see

    def load_games() -> bool:
        for record in read_records(games_file):
            with contextlib.suppress(GameRecordError):
                record.replay()
        return True

    kinds: list[tuple[Path, Callable[[], bool], tuple[type[BaseException], ...]]] = [
        (forged / "model.safetensors", load_forged, (CheckpointError,)),
        (forged / "training.safetensors", load_forged, (CheckpointError,)),
        (metrics, read_all_metrics, ()),
        (policy, load_exported, (OnnxPolicyError,)),
        (database, open_database, (ValueError, RequestError)),
        (arena_file, lambda: load_arena(arena) is not None, (ArenaFolderError,)),
        (checkpoint / "model.safetensors", load_weights, (CheckpointError,)),
        (checkpoint / "training.safetensors", load_weights, (CheckpointError,)),
        (checkpoint / "checkpoint.json", lambda: load_checkpoint(checkpoint) is not None, (CheckpointError,)),
        (games_file, load_games, (GameRecordError,)),
        (arena / "arena.json", lambda: load_arena(arena) is not None, (ArenaFolderError,)),
        (ladder_file, lambda: load_ladder("vadus(size=5)", ladder_file) is not None, (LadderError,)),
        (config_file, lambda: load_config(str(config_file)) is not None, (ConfigError, UntrustedNameError)),
    ]
    for file, act, typed in kinds:
        content = file.read_bytes()
        bad = counts["silent"]
        for _ in range(number):
            broken = damaged(content, random)
            if broken != content:
                file.write_bytes(broken)
                counts.attempt(act, typed)
        file.write_bytes(content)
        if counts["silent"] > bad:
            print(f"{file.relative_to(folder)}: {counts['silent'] - bad} accepted silently", file=sys.stderr)
    shutil.rmtree(folder)
    return counts


BAD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, float("nan"), float("inf"), 2**70, -(2**70), np.float64(2.5)),
    *("", "\0", "x" * 10_000, "vadus(", "é", b"bytes"),
    *([], [[]], {}, {"a": 1}, object(), np.zeros(3), np.zeros((2, 2), object), lambda: None),
)


def attack_arguments(number: int, seed: int) -> Counts:
    """Call what is public with one bad argument, or two, generated from the signatures."""
    random = np.random.default_rng(seed)
    game = load_game("vadus(size=3)")
    counts = Counts()

    def good() -> dict[Callable[..., Any], dict[str, Any]]:
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
            State.from_record: {"game": game, "record": state.record},
            SingleAgentEnv: {"game": "vadus(size=3)", "opponent": "random", "seat": 0, "observation": {}},
            env.step: {"action": 9},
            VectorEnv: {"num_envs": 2, "game": "vadus(size=3)", "opponent": "random", "num_threads": 1},
            vector.step: {"actions": [9, 9]},
            ArenaSettings: {"game": "vadus(size=3)", "pairings": (("random", "greedy"),), "num_pairs": 1, "seed": 1},
            play_match: {"game": game, **bots, "num_pairs": 1, "opening_actions": 0, "seed": 1},
            game.deserialize_state: {"text": "c3"},
            game.action_to_string: {"action": 1},
            state.observation_tensor: {"player": 0},
            state.child: {"action": 9},
            load_config: {"name": "vadus-5", "overrides": ["seed=1"], "trust_names": False},
            load_ladder: {"game": "vadus(size=5)", "path": None},
            batch.random_playouts: {"rows": [0]},
        }

    for _ in range(number):
        calls = good()
        call = list(calls)[random.integers(len(calls))]
        arguments = calls[call]
        names = list(arguments)
        for _ in range(random.integers(1, 3)):
            arguments[names[random.integers(len(names))]] = BAD_VALUES[random.integers(len(BAD_VALUES))]

        def act(call: Callable[..., Any] = call, arguments: dict[str, Any] = arguments) -> bool:
            kinds = [parameter.kind for parameter in inspect.signature(call).parameters.values()]
            if kinds and kinds[0] in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL):
                call(*arguments.values())
            else:
                call(**arguments)
            return True

        # The errors of the package are ValueErrors; Python's own for what is of another type, or no index.
        counts.attempt(act, (ValueError, TypeError, IndexError, ResetNeeded))
    return counts


COMMAND = (sys.executable, "-m", "stoneworks")


def training(folder: Path, algorithm: str, *more: str) -> list[str]:
    """Return the command of a short training run that saves often."""
    settings = "vadus-5-ppo frames=1024 num_games=16 steps_per_update=8 minibatch_size=64 matches.frames=512"
    if algorithm == "alphazero":
        settings = (
            "vadus-5 positions=600 positions_per_iteration=100 processes=0 self_play.num_games=16 search.simulations=8 "
            "search.capped_simulations=4 matches.positions=300 matches.search_opponents=[]"
        )
    common = "network.channels=8 network.blocks=1 checkpoint_seconds=1 matches.num_pairs=1 matches.opponents=[random]"
    name, *given = f"{settings} {common}".split()
    overrides = [word for setting in given for word in ("--set", setting)]
    return [*COMMAND, "train", name, "--folder", str(folder), *overrides, *more]


def arena_of(folder: Path, pairs: int) -> list[str]:
    names = ("random", "mcts:5", "--game", "vadus(size=3)", "--workers", "2")
    return [*COMMAND, "arena", *names, "--pairs", str(pairs), "--folder", str(folder)]


def run(words: list[str], seconds: float | None = None, number: int = signal.SIGKILL) -> tuple[int, str]:
    """Run a command, and send it a signal after some time. Return its exit status and what it wrote to standard error."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            status = process.wait(seconds if seconds is not None else 3000)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            status = process.wait(3000)
        errors.seek(0)
        return status, errors.read().decode(errors="replace")


def attack_kills(number: int, seed: int) -> Counts:
    """Kill training and arenas at random moments; the next start must continue, and the end must be reached."""
    counts = Counts()
    random = np.random.default_rng(seed)
    for which in ("ppo", "alphazero", "arena"):
        folder = Path(tempfile.mkdtemp(prefix="hostile-"))

        def words(resume: bool, which: str = which, folder: Path = folder) -> list[str]:
            if which == "arena":
                return arena_of(folder / "run", 200)
            return training(folder / "run", which, *(["--resume"] if resume else []))

        for attempt in range(number):
            how = (signal.SIGKILL, signal.SIGTERM)[attempt % 4 == 3]
            status, errors = run(words((folder / "run").exists()), 2.0 + 20.0 * random.random(), how)
            # CPython ends by SIGINT instead of with 130 if the interrupt came while exec() ran a text, as imports do.
            ends = (0, 130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)
            if "Traceback" in errors or status not in ends:
                counts.note("crashed", f"{which}, attempt {attempt}: exit status {status}: {errors[-2000:]}")
            else:
                counts.note("valid")
        status, errors = run(words((folder / "run").exists()))
        metrics, amount = folder / "run" / "metrics.jsonl", {"ppo": "frames", "alphazero": "positions"}.get(which)
        points = [json.loads(line)[amount] for line in metrics.read_text().splitlines()] if amount else []
        left = list(folder.rglob("*.tmp"))
        if status or left or points != sorted(set(points)):
            counts.note("crashed", f"{which}: exit status {status}, {left}, {points}: {errors[-2000:]}")
        else:
            counts.note("valid")
        shutil.rmtree(folder)
    return counts


def attack_full_disk(number: int, seed: int) -> Counts:
    """Write to disks that fill up, from a few KiB on: a typed error or a warning, and what was there before is whole."""
    from stoneworks.models.checkpoint import load_checkpoint, save_checkpoint
    from stoneworks.models.network import make_network

    counts = Counts()
    random = np.random.default_rng(seed)
    game = load_game("vadus(size=3)")
    small = make_network(Architecture.of_game(game, channels=2, blocks=1))
    large = make_network(Architecture.of_game(game, channels=64, blocks=2))
    ladder = shipped_ladders()["vadus(size=5)"]
    with limited_disk(64) as folder:
        if folder is None:
            print("full disk: not run, as no tmpfs can be mounted here", file=sys.stderr)
            return counts
        save_checkpoint(folder / "checkpoint", game=game, network=small, training={})
        for _ in range(number):
            counts.attempt(
                lambda: save_checkpoint(folder / "checkpoint", game=game, network=large, training={}) or False,
                (OSError,),
            )
            load_checkpoint(folder / "checkpoint")
            with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
                while filler.write(b"x" * 1024):
                    pass
            counts.attempt(lambda: ladder.save(folder / "ladder.json") or False, (OSError,))
            (folder / "filler").unlink()
            left = [file.name for file in folder.iterdir()]
            if left != ["checkpoint"]:
                counts.note("silent", f"full disk: the folder holds {left}")
    for attempt in range(number // 4):
        which = ("ppo", "alphazero", "arena")[attempt % 3]
        with limited_disk(int(random.integers(4, 300))) as folder:
            status, errors = run(arena_of(folder / "run", 200) if which == "arena" else training(folder / "run", which))
            if status == 0:
                counts.note("valid")
            elif status == 2 and "Traceback" not in errors and "No space left on device" in errors:
                counts.note("refused")
            else:
                counts.note("crashed", f"{which}: {status} {errors[-2000:]}")
    return counts


@contextlib.contextmanager
def limited_disk(kib: int) -> Iterator[Path | None]:
    """Mount a disk of a few KiB; None where that is not allowed."""
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    options = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)]
    if subprocess.run(options, capture_output=True).returncode:
        folder.rmdir()
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)
        folder.rmdir()


def attack_memory(number: int, seed: int) -> Counts:
    """Take a million steps of each game, with resets, copies and states; memory must not grow."""
    counts = Counts()
    for name in GAMES:
        batch = Batch(load_game(name), 256, auto_reset=True, seed=seed)

        def steps(total: int, batch: Batch = batch) -> None:
            for step in range(total // 256):
                batch.step(batch.random_actions())
                if step % 64 == 0:
                    copy.deepcopy(batch).state(0).legal_actions()

        steps(50_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        steps(number * 1000)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        leak = f"{name}: the memory has grown by {grown // 1024} MiB" if grown > 20 * 1024 else ""
        counts.note("silent" if leak else "valid", leak)
    return counts


OUTCOMES = ("refused", "valid", "silent", "crashed")
#: By name: the function, its size in full and in the short form.
ATTACKS: dict[str, tuple[Callable[[int, int], Counts], int, int]] = {
    "records": (attack_records, 10_000, 300),
    "files": (attack_files, 1000, 40),
    "arguments": (attack_arguments, 3000, 300),
    "full disk": (attack_full_disk, 20, 2),
    "memory": (attack_memory, 1000, 50),
    "kills": (attack_kills, 6, 0),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a small part of it, for the test suite")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=ATTACKS)
    parser.add_argument("--size", type=int, help="number of attempts of each attack, in its own unit")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    print(f"{'attack':12}{''.join(f'{outcome:>9}' for outcome in OUTCOMES)}{'seconds':>9}")
    for name, (function, full, short) in ATTACKS.items():
        size = options.size or (short if options.short else full)
        if (options.only and name != options.only) or size == 0:
            continue
        start = time.monotonic()
        try:
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                counts = pool.submit(function, size, options.seed).result()
        except BrokenProcessPool:
            counts = Counts(crashed=1)
        shown = "".join(f"{counts[outcome]:>9}" for outcome in OUTCOMES)
        print(f"{name:12}{shown}{time.monotonic() - start:9.0f}", flush=True)
        total += counts
    return 1 if total["silent"] or total["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main())
