"""The standing attack: damaged records and files, bad arguments, kills, two starts at once, a million steps.

``python tests/hostile/attack.py`` runs all of it, ``--short`` a small part. Each attack runs in a process of its own, so that a
crash is counted and does not end the rest. It prints for each how many attempts were

- refused with a typed error,
- accepted as valid: what arrived is something that stoneworks could have written, and it works,
- accepted silently: it is not, and nothing was said,
- crashed: an exception of another type, or the end of the process.

The exit status is 1 if one of the last two is not 0.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import inspect
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass
class Counts:
    """What became of the attempts of one attack."""

    tried: int = 0
    refused: int = 0
    valid: int = 0
    silent: int = 0
    crashed: int = 0

    def attempt(self, act: Callable[[], bool | None], typed: tuple[type[BaseException], ...]) -> None:
        """Count one attempt: ``act`` raises a typed error, or returns whether what was accepted is valid."""
        self.tried += 1
        try:
            accepted = act()
        except typed:
            self.refused += 1
        except Exception:
            self.crashed += 1
            if self.crashed <= 20:
                print(f"crash: {traceback.format_exc(limit=-1)}", file=sys.stderr)
        else:
            if accepted is False:
                self.silent += 1
            else:
                self.valid += 1


GAMES = (
    "vadus(size=5)",
    "laido(size=5)",
    "taugo(size=6)",
    "taigo(cones=2,radius=4,tiles=14)",
    "trugo(max_turns=60,radius=3,tiles=12)",
)


# -- Records -----------------------------------------------------------------------------------------------------------


def attack_records(number: int, seed: int) -> Counts:
    """Flip bits of positions of every game; what the check accepts is played on, searched and evaluated."""
    counts = Counts()
    for name in GAMES:
        attack_records_of_game(name, number, seed, counts)
    return counts


def attack_records_of_game(name: str, number: int, seed: int, counts: Counts) -> None:
    from stoneworks.envs.rules import Batch, RecordError, State, load_game
    from stoneworks.models import load_bot

    random = np.random.default_rng(seed)
    game = load_game(name)
    batch = Batch(game, 16, seed=seed)
    found = []
    while (batch.current_players >= 0).any():
        found.append(batch.states.copy())
        batch.step(batch.random_actions())
    records = np.concatenate([*found, batch.states.copy()])
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
            except RecordError:  # what follows a position is one
                return False
        return True

    for attempt in range(number):
        record = records[random.integers(len(records))].reshape(1).copy()
        for _ in range(random.integers(1, 4)):
            record.view(np.uint8)[random.integers(game.state_dtype.itemsize)] ^= 1 << random.integers(8)
        counts.attempt(functools.partial(play, record, attempt % 20 == 0), (RecordError,))


# -- Files -------------------------------------------------------------------------------------------------------------


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """Return the content with one kind of damage."""
    place = int(random.integers(len(content)))
    length = int(random.integers(1, 40))
    kind = random.integers(8)
    if kind < 3:
        return content[:place] + bytes([content[place] ^ 1 << int(random.integers(8))]) + content[place + 1 :]
    if kind == 3:
        return content[:place]
    if kind == 4:
        return content[:place] + random.bytes(length) + content[place:]
    if kind == 5:
        return content[:place] + content[place + length :]
    if kind == 6:
        return content[:place] + content[place : place + length] * 2 + content[place + length :]
    pieces = (
        b"[" * 5000,
        b"{" * 5000,
        b"9" * 5000,
        b"NaN",
        b"null",
        b"-1",
        b"\0",
        b'"',
        b"1e999",
        b"true",
        b"[]",
        b"{}",
    )
    piece = pieces[random.integers(len(pieces))]
    return content[:place] + piece + content[place + len(piece) :]


def attack_files(number: int, seed: int) -> Counts:
    """Damage files of every kind."""
    from stoneworks.envs.rules import load_game
    from stoneworks.models.architecture import Architecture
    from stoneworks.models.checkpoint import CheckpointError, load_checkpoint, load_training_state, save_checkpoint
    from stoneworks.models.errors import UntrustedNameError
    from stoneworks.models.network import make_network
    from stoneworks.training.alphazero.positions import check_positions, position_dtype
    from stoneworks.training.alphazero.replay_buffer import ReplayBuffer
    from stoneworks.training.arena import (
        ArenaFolderError,
        ArenaSettings,
        LadderError,
        load_arena,
        load_ladder,
        play_arena,
    )
    from stoneworks.training.arena.ladder import shipped_ladders
    from stoneworks.training.arena.records import RecordError, read_records
    from stoneworks.training.runs.config import config_names, dump_config, load_config
    from stoneworks.training.runs.config_reading import ConfigError

    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    game = load_game("vadus(size=3)")
    counts = Counts()
    random = np.random.default_rng(seed)
    network = make_network(Architecture.of_game(game, channels=4, blocks=1))
    checkpoint = folder / "checkpoint"
    state = {"moments": next(network.parameters()).detach().clone()}
    save_checkpoint(checkpoint, game=game, network=network, training={"x": 1}, training_state=state)
    arena = folder / "arena"
    play_arena(ArenaSettings(str(game), (("random", "greedy"),), num_pairs=2, chunk_pairs=2), arena)
    (games_file,) = (arena / "games").glob("*.jsonl")
    ladder_file = folder / "ladder.json"
    ladder = shipped_ladders()["vadus(size=5)"]
    ladder.save(ladder_file)
    config_file = folder / "config.yaml"
    config_file.write_text(dump_config(load_config(config_names()[0])), encoding="utf-8")
    dtype = position_dtype(game)
    positions = np.zeros(20, dtype)
    positions["state"] = game.new_initial_state().record
    ReplayBuffer(folder / "positions", dtype, 10**6).add(positions)
    (positions_file,) = (folder / "positions").glob("*.npy")

    def open_buffer() -> bool:
        ReplayBuffer(folder / "positions", dtype, 10**6, 20, lambda read: check_positions(game, read))
        return False  # a damage that the checksum does not see

    def load_weights() -> bool:
        load_checkpoint(checkpoint)
        load_training_state(checkpoint)
        return False

    def load_description() -> bool:
        load_checkpoint(checkpoint)
        return True

    def load_games() -> bool:
        for record in read_records(games_file):
            with contextlib.suppress(RecordError):
                record.replay()
        return True

    kinds: list[tuple[Path, Callable[[], bool], tuple[type[BaseException], ...]]] = [
        (checkpoint / "model.safetensors", load_weights, (CheckpointError,)),
        (checkpoint / "training.safetensors", load_weights, (CheckpointError,)),
        (checkpoint / "checkpoint.json", load_description, (CheckpointError,)),
        (positions_file, open_buffer, (CheckpointError,)),
        (games_file, load_games, (RecordError,)),
        (arena / "arena.json", lambda: load_arena(arena) is not None, (ArenaFolderError,)),
        (ladder_file, lambda: load_ladder("vadus(size=5)", ladder_file) is not None, (LadderError,)),
        (config_file, lambda: load_config(str(config_file)) is not None, (ConfigError, UntrustedNameError)),
    ]
    for file, act, typed in kinds:
        content = file.read_bytes()
        for _ in range(number):
            broken = damaged(content, random)
            if broken != content:
                file.write_bytes(broken)
                counts.attempt(act, typed)
        file.write_bytes(content)
    shutil.rmtree(folder)
    return counts


# -- Arguments ---------------------------------------------------------------------------------------------------------

BAD_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    float("nan"),
    float("inf"),
    2**70,
    -(2**70),
    "",
    "\0",
    "x" * 10_000,
    "vadus(",
    "é",
    b"bytes",
    [],
    [[]],
    {},
    {"a": 1},
    object(),
    np.zeros(3),
    np.zeros((2, 2), object),
    np.float64(2.5),
    lambda: None,
)


def attack_arguments(number: int, seed: int) -> Counts:
    """Call what is public with one bad argument, or two, generated from the signatures."""
    import stoneworks
    from stoneworks.envs.rules import Batch, State, load_game
    from stoneworks.envs.single_agent import SingleAgentEnv
    from stoneworks.envs.vector import VectorEnv
    from stoneworks.models import load_bot
    from stoneworks.training.arena import ArenaSettings
    from stoneworks.training.arena.match import play_match

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
            SingleAgentEnv: {"game": "vadus(size=3)", "opponent": "random", "seat": 0, "obs_layout": "CHW"},
            env.step: {"action": 9},
            VectorEnv: {"num_envs": 2, "game": "vadus(size=3)", "opponent": "random", "num_threads": 1},
            vector.step: {"actions": [9, 9]},
            ArenaSettings: {"game": "vadus(size=3)", "pairings": (("random", "greedy"),), "num_pairs": 1, "seed": 1},
            play_match: {"game": game, **bots, "num_pairs": 1, "opening_actions": 0, "seed": 1},
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
        from gymnasium.error import ResetNeeded

        counts.attempt(act, (ValueError, TypeError, IndexError, ResetNeeded))
    return counts


# -- Processes ---------------------------------------------------------------------------------------------------------


def command_line(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "stoneworks", *arguments]


def training(folder: Path, *more: str) -> list[str]:
    small = ("network.channels=8", "network.blocks=1", "num_games=16", "steps_per_update=8", "minibatch_size=64")
    settings = [*small, "checkpoint_seconds=1", "matches.frames=100000000", "matches.num_pairs=1"]
    overrides = [word for setting in settings for word in ("--set", setting)]
    return command_line("train", "vadus-5-ppo", "--folder", str(folder), "--frames", "1024", *overrides, *more)


def run(words: list[str], seconds: float | None = None, number: int = signal.SIGKILL) -> tuple[int, str]:
    """Run a command, and send it a signal after some time. Return its exit status and what it wrote to standard error."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            status = process.wait(seconds if seconds is not None else 300)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            status = process.wait(60)
        errors.seek(0)
        return status, errors.read().decode(errors="replace")


def attack_kills(number: int, seed: int) -> Counts:
    """Kill training and arenas at random moments; the next start must continue, and the end must be reached."""
    counts = Counts()
    random = np.random.default_rng(seed)
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    arena = command_line(
        "arena", "random", "mcts:5", "--game", "vadus(size=3)", "--pairs", "200", "--folder", str(folder / "arena")
    )
    for which in ("train", "arena"):
        for attempt in range(number):
            words = arena if which == "arena" else training(folder / "run", *(["--resume"] if attempt else []))
            counts.tried += 1
            status, errors = run(words, 2.0 + 20.0 * random.random())
            if "Traceback" in errors or status not in (0, -signal.SIGKILL):
                counts.crashed += 1
                print(errors[-2000:], file=sys.stderr)
            else:
                counts.valid += 1
        counts.tried += 1
        status, errors = run(arena if which == "arena" else training(folder / "run", "--resume"))
        if status == 0:
            counts.valid += 1
        else:
            counts.crashed += 1
            print(errors[-2000:], file=sys.stderr)
    shutil.rmtree(folder)
    return counts


def attack_two_starts(number: int, seed: int) -> Counts:
    """Start a run twice in one folder: the second is refused, the first reaches its end."""
    counts = Counts()
    for _ in range(number):
        folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        first = subprocess.Popen(training(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (folder / "config.yaml").exists() and first.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        counts.tried += 1
        status, errors = run(training(folder, "--resume"))
        if status == 2 and "in use by process" in errors and "Traceback" not in errors:
            counts.refused += 1
        elif status == 0 and first.poll() is not None:
            counts.valid += 1  # the first had ended
        else:
            counts.silent += 1
            print(errors[-2000:], file=sys.stderr)
        if first.wait(300) != 0:
            counts.crashed += 1
        shutil.rmtree(folder)
    return counts


def attack_full_disk(number: int, seed: int) -> Counts:
    """Save to a disk without room: a typed error, and what was there before is whole."""
    from stoneworks.envs.rules import load_game
    from stoneworks.models.architecture import Architecture
    from stoneworks.models.checkpoint import load_checkpoint, save_checkpoint
    from stoneworks.models.network import make_network
    from stoneworks.training.arena.ladder import shipped_ladders

    counts = Counts()
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True).returncode:
        print("full disk: not run, as no tmpfs can be mounted here", file=sys.stderr)
        return counts
    try:
        game = load_game("vadus(size=3)")
        small = make_network(Architecture.of_game(game, channels=2, blocks=1))
        large = make_network(Architecture.of_game(game, channels=64, blocks=2))
        save_checkpoint(folder / "checkpoint", game=game, network=small, training={})
        ladder = shipped_ladders()["vadus(size=5)"]
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
                counts.silent += 1
                print(f"full disk: the folder holds {left}", file=sys.stderr)
    finally:
        subprocess.run(["umount", str(folder)], check=False)
        folder.rmdir()
    return counts


def attack_memory(number: int, seed: int) -> Counts:
    """Take a million steps of each game, with resets, copies and states; memory must not grow."""
    from stoneworks.envs.rules import Batch, load_game

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
        counts.tried += 1
        steps(number * 1000)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        if grown > 20 * 1024:
            counts.silent += 1
            print(f"{name}: the memory has grown by {grown // 1024} MiB", file=sys.stderr)
        else:
            counts.valid += 1
    return counts


#: By name: the function, its size in full and in the short form.
ATTACKS: dict[str, tuple[Callable[[int, int], Counts], int, int]] = {
    "records": (attack_records, 10_000, 300),
    "files": (attack_files, 1000, 40),
    "arguments": (attack_arguments, 3000, 300),
    "full disk": (attack_full_disk, 20, 2),
    "memory": (attack_memory, 1000, 50),
    "two starts": (attack_two_starts, 2, 0),
    "kills": (attack_kills, 6, 0),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a small part of it, for the test suite")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=ATTACKS)
    parser.add_argument("--inside", choices=ATTACKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        function, full, short = ATTACKS[options.inside]
        print(json.dumps(asdict(function(short if options.short else full, options.seed))))
        return 0
    total = Counts()
    print(f"{'attack':12}{'tried':>9}{'refused':>9}{'valid':>9}{'silent':>9}{'crashed':>9}{'seconds':>9}")
    for name, (_, _, short) in ATTACKS.items():
        if (options.only and name != options.only) or (options.short and short == 0):
            continue
        began = time.monotonic()
        words = [sys.executable, __file__, "--inside", name, "--seed", str(options.seed)]
        done = subprocess.run(
            [*words, *(["--short"] if options.short else [])],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        try:
            counts = Counts(**json.loads(done.stdout.splitlines()[-1]))
        except (IndexError, ValueError, TypeError):
            print(f"{name}: the process ended with status {done.returncode}", file=sys.stderr)
            counts = Counts(tried=1, crashed=1)
        for field, value in asdict(counts).items():
            setattr(total, field, getattr(total, field) + value)
        print_row(name, counts, time.monotonic() - began)
    print_row("all", total, None)
    return 1 if total.silent or total.crashed else 0


def print_row(name: str, counts: Counts, seconds: float | None) -> None:
    shown = "".join(f"{value:>9}" for value in asdict(counts).values())
    print(f"{name:12}{shown}{'' if seconds is None else f'{seconds:9.0f}'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
