"""Runs of AlphaZero on boards so small that they take seconds: they repeat, stop, go on, survive a kill, and show what they do."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
import yaml

from processes import PIPES, Run, interrupt, is_alive, needs_proc, wait_until
from stoneworks.envs.rules import Batch, Game, State, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.models.bots.search_bot import SearchBot
from stoneworks.models.checkpoint import load_checkpoint, load_training_state
from stoneworks.models.inference.network_inference import TorchInference
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.training.alphazero.learner import Learner, Losses
from stoneworks.training.alphazero.positions import position_dtype
from stoneworks.training.alphazero.processes import SelfPlayProcesses
from stoneworks.training.alphazero.sources import InProcessSelfPlay, SelfPlayError
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.config_files import dump_config
from stoneworks.training.runs.run import TrainingStatus, train_run
from tiny_runs import alphazero, assert_equal_tensors, positions_of, saved, stopped


def test_a_run_says_how_long_its_teacher_plays(tmp_path: Path) -> None:
    _, seen = stopped(alphazero(search={"teacher_share": 0.5, "leaf_values": "none"}), tmp_path)
    taught = [
        any("teacher" in line for line in status.below) for status in seen if status.metrics and not status.message
    ]
    shares = [status.done / status.total for status in seen if status.metrics and not status.message]
    assert taught == [before < 0.5 for before in [0.0, *shares[:-1]]]
    assert len(set(taught)) == 2


def test_a_run_learns_from_all_its_positions_and_reports_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[TrainingStatus] = []
    threads = set()
    step = Learner.step

    def counted(*arguments: Any) -> Losses:
        threads.add(torch.get_num_threads())
        return step(*arguments)

    monkeypatch.setattr(Learner, "step", counted)
    matches = {"num_pairs": 2, "opponents": ["random"], "search_opponents": ["random"], "simulations": 3}
    config = alphazero(learner_threads=2, matches={"positions": 150, **matches})
    result = train_run(config, tmp_path, on_status=reports.append)
    assert (threads, torch.get_num_threads()) == ({2}, 1)
    assert result.finished
    assert 300 <= result.done < 400
    seen = [status.metrics for status in reports if not status.message]
    for metrics in seen:
        assert metrics["network_share"] + metrics["search_share"] + metrics["learning_share"] <= 1
        assert 0 < metrics["search_share_of_self_play"] < 1
        assert np.isfinite([metrics[name] for name in Losses._fields]).all()
        assert 0 <= metrics["first_player_score"] <= 1
    training = saved(tmp_path)
    assert (training["positions"], training["games"]) == (result.done, seen[-1]["games"])
    assert training["gradient_steps"] == int(result.done * 1.0 / 16)
    game = load_game("vadus(size=2)")
    positions = np.concatenate([np.load(file) for file in sorted((tmp_path / "positions").iterdir())])
    assert positions.dtype == position_dtype(game)
    assert len(positions) == result.done
    assert all(not State.from_record(game, record).is_terminal() for record in positions["state"])
    assert set(positions["result"].tolist()) <= {-1, 0, 1}
    assert [match["player"] for match in training["match_results"]] == ["policy", "policy@3"] * 2
    assert training["match_results"][-1]["positions"] == result.done


def test_two_runs_stopped_alike_continue_identically_and_other_seeds_play_other_games(tmp_path: Path) -> None:
    checkpoints = []
    for folder in (tmp_path / "one", tmp_path / "other"):
        part, seen = stopped(alphazero(), folder, 2)
        assert not part.finished
        assert part.done == seen[-1].done == saved(folder)["positions"]
        before, steps = positions_of(folder), saved(folder)["gradient_steps"]
        if folder.name == "other":  # a kill leaves positions after the checkpoint, and a half of a file
            shutil.copy(folder / "positions" / max(before), folder / "positions" / f"{part.done:012d}.npy")
            (folder / "positions" / f".{part.done + 60:012d}.npy.x.tmp").write_bytes(b"half a file")
        last = train_run(alphazero(), folder, resume=True)
        assert last.finished
        assert before.items() < positions_of(folder).items()
        assert saved(folder)["gradient_steps"] > steps
        assert load_training_state(last.checkpoint)["num_steps"] == saved(folder)["gradient_steps"]
        checkpoints.append(last.checkpoint)
    assert positions_of(tmp_path / "one") == positions_of(tmp_path / "other")
    assert_equal_tensors(*map(load_training_state, checkpoints))
    assert_equal_tensors(*(load_checkpoint(checkpoint).network.state_dict() for checkpoint in checkpoints))
    train_run(alphazero(seed=2, positions=60), tmp_path / "seed 2")
    first = "000000000000.npy"
    assert positions_of(tmp_path / "seed 2")[first] != positions_of(tmp_path / "one")[first]


def test_changed_numbers_of_samples_count_from_the_resumption_on(tmp_path: Path) -> None:
    part, _ = stopped(alphazero(), tmp_path, 2)
    before = saved(tmp_path)
    assert (before["gradient_steps"], before["samples_due"]) == divmod(part.done, 16)
    learner = {"batch_size": 8, "replay_ratio": 2.0}
    last = train_run(alphazero(learner=learner), tmp_path, resume=True)
    further = before["samples_due"] + 2 * (last.done - part.done)
    after = saved(tmp_path)
    assert (after["gradient_steps"] - before["gradient_steps"], after["samples_due"]) == divmod(further, 8)


def test_the_last_iteration_is_as_long_as_what_is_left_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collect, asked = InProcessSelfPlay.collect, []
    monkeypatch.setattr(
        InProcessSelfPlay, "collect", lambda source, number, stop: asked.append(number) or collect(source, number, stop)
    )
    ends = []
    train_run(
        alphazero(positions=100, positions_per_iteration=60), tmp_path, on_metrics=lambda _, done: ends.append(done)
    )
    assert asked == [min(60, 100 - done) for done in (0, *ends[:-1])]
    assert asked[-1] < 60


def test_a_run_with_a_self_play_process_learns_and_leaves_nothing_behind(tmp_path: Path) -> None:
    reports: list[TrainingStatus] = []
    assert train_run(alphazero(processes=1), tmp_path, on_status=reports.append).finished
    assert 0 < reports[-1].metrics["search_share_of_self_play"] < 1
    assert reports[-1].metrics["simulations_per_second"] > 0
    assert multiprocessing.active_children() == []


PARENT = """
import sys, time
import numpy as np
from stoneworks.models.network import Architecture, make_network
from stoneworks.envs.rules import load_game
from stoneworks.training.alphazero.processes import SelfPlayProcesses
from stoneworks.training.runs.config_files import load_config

config = load_config(sys.argv[1])
network = make_network(Architecture.of_game(load_game(config.game), config.network))
source = SelfPlayProcesses(network, config, np.random.SeedSequence(0), 1, 0.0)
while not source._games.full():
    time.sleep(0.05)
print(*[process.pid for process in source.processes], flush=True)
time.sleep(600)
"""


@needs_proc
def test_self_play_ends_with_its_parent_even_if_its_games_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(dump_config(alphazero()), encoding="utf-8")
    command = [sys.executable, "-c", PARENT, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        children = [int(number) for number in parent.stdout.readline().split()]
        assert len(children) == 1
        assert all(map(is_alive, children))
        parent.kill()
    assert wait_until(lambda: not any(map(is_alive, children)))


@contextlib.contextmanager
def self_play_processes(number: int, **changes: Any) -> Iterator[SelfPlayProcesses]:
    config = alphazero()
    network = make_network(Architecture.of_game(load_game(config.game), config.network))
    source = SelfPlayProcesses(network, config.model_copy(update=changes), np.random.SeedSequence(0), number, 0.0)
    with contextlib.closing(source):
        yield source
    assert not any(process.is_alive() for process in source.processes)


def test_a_self_play_process_that_fails_or_is_killed_is_an_error() -> None:
    with self_play_processes(1, game="nonsense(size=2)") as source:
        with pytest.raises(SelfPlayError, match=r"a self-play process failed: .*nonsense") as raised:
            source.collect(10, threading.Event())
        assert "\n" not in str(raised.value)
        assert "Traceback" in raised.value.__notes__[0]
    with self_play_processes(2) as source:
        assert sum(len(game.positions) for game in source.collect(10, threading.Event())[0]) >= 10
        os.kill(source.processes[0].pid or 0, signal.SIGKILL)
        source.processes[0].join(600)
        with pytest.raises(SelfPlayError, match="a self-play process ended with exit code -9"):
            source.collect(10**9, threading.Event())


# Weights that a pipe cannot hold: without a reader, they wait in this process.
STARTING = """
import multiprocessing.context, signal, sys
import numpy as np
from stoneworks.models.network import Architecture, make_network
from stoneworks.envs.rules import load_game
from stoneworks.training.alphazero.processes import SelfPlayProcesses
from stoneworks.training.runs.config_files import load_config

config = load_config(sys.argv[1], {"network.channels": 64})
network = make_network(Architecture.of_game(load_game(config.game), config.network))
start, started = multiprocessing.context.SpawnProcess.start, []

def start_one(process):
    if started:
        %s
    started.append(process)
    start(process)

multiprocessing.context.SpawnProcess.start = start_one
SelfPlayProcesses(network, config, np.random.SeedSequence(0), 2, 0.0)
"""


@pytest.mark.parametrize(
    ("failure", "code", "error"),
    [
        (
            "raise BlockingIOError(11, 'too many processes')",
            1,
            "self-play process 2 of 2 cannot be started: .*too many",
        ),
        ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); signal.raise_signal(signal.SIGTERM)", 7, "^$"),
    ],
)
def test_self_play_that_cannot_start_ends_with_its_error(tmp_path: Path, failure: str, code: int, error: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(dump_config(alphazero()), encoding="utf-8")
    command = [sys.executable, "-c", STARTING % failure, str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == code
    assert re.search(error, ended.stderr)


def test_weights_that_no_process_reads_do_not_keep_this_one_alive(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(dump_config(alphazero()), encoding="utf-8")
    kill = "[one.kill() for one in source.processes]; source.update(network.playing_state_dict(), 0.0); sys.exit(5)"
    program = STARTING.replace("SelfPlayProcesses(n", "source = SelfPlayProcesses(n") % "pass" + kill
    command = [sys.executable, "-c", program, str(file)]
    assert subprocess.run(command, timeout=300, check=False).returncode == 5


WITHOUT_MAIN_GUARD = {
    "train": """
import stoneworks
stoneworks.train("vadus-5", "run", positions=10, processes=2)
""",
    "arena": """
from stoneworks.evaluation.arena import play_arena
from stoneworks.evaluation.settings import ArenaSettings
settings = ArenaSettings(game="vadus(size=2)", pairings=(("random", "greedy"),), num_pairs=2, chunk_pairs=1)
play_arena(settings, "arena", workers=2)
""",
}


@pytest.mark.parametrize("name", WITHOUT_MAIN_GUARD)
def test_a_program_without_a_main_guard_is_told_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "program.py").write_text(WITHOUT_MAIN_GUARD[name], encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("stoneworks.processes.MainGuardError: ")
    assert "if __name__ == '__main__':" in last


def test_a_signal_that_ends_self_play_first_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stoneworks.training.alphazero.processes._SECONDS_TO_STOP", 600.0)
    with self_play_processes(1) as source:
        source.processes[0].terminate()
        source.processes[0].join()
        stop = threading.Event()
        threading.Timer(0.5, stop.set).start()
        assert source.collect(10**9, stop)[0] == []


def test_one_network_learns_several_sizes_in_the_given_shares(tmp_path: Path) -> None:
    games = {"vadus(size=2)": 3, "vadus(size=3)": 1}
    config = alphazero(positions=400, games=games)
    stopped(config, tmp_path, 3)
    train_run(config, tmp_path, resume=True)
    added = saved(tmp_path)["positions_by_game"]
    assert sum(added.values()) == saved(tmp_path)["positions"] >= 400
    assert 0.1 < added["vadus(size=3)"] / sum(added.values()) < 0.45
    for name in games:
        positions = [np.load(file) for file in (tmp_path / "positions" / name).iterdir()]
        assert sum(map(len, positions)) == added[name]
        assert positions[0].dtype == position_dtype(load_game(name))
        load_checkpoint(tmp_path / "checkpoint", load_game(name))


@pytest.mark.parametrize(
    ("games", "named"),
    [
        ({"vadus(size=3)": 1}, r"games must contain game, vadus\(size=2\)"),
        ({"vadus(size=2)": 1, "laido(size=3)": 1}, r"games must be vadus .* got .*'laido\(size=3\)'"),
        ({"vadus(size=2)": 0}, r"games must have a share above 0 at any time, got {'vadus\(size=2\)': 0"),
        ({"vadus(size=2)": 1, "vadus( size=2 )": 1}, "games"),
    ],
)
def test_games_that_do_not_fit_are_refused(games: Any, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        alphazero(games=games)


def test_games_whose_length_cannot_be_stored_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"game must have at most 65,535 actions, got .*max_turns=40000"):
        alphazero(game="trugo(tiles=12,radius=4,max_turns=40000)")


@pytest.mark.parametrize("game", small_games())
def test_a_run_of_each_game_resumes_from_its_files(tmp_path: Path, game: str) -> None:
    config = alphazero(game=game, positions=10**6, positions_per_iteration=1, self_play={"num_games": 1})
    stopped(config, tmp_path, 1)
    done = saved(tmp_path)["positions"]
    train_run(config.replace(positions=done + 1), tmp_path, resume=True)
    assert saved(tmp_path)["positions"] > done


def test_train_trains_overrides_and_goes_on(finished_run: Path, tmp_path: Path, run_command: Run) -> None:
    folder = tmp_path / "new"
    arguments = ("train", str(finished_run / "config.yaml"), "--folder", str(folder), "--set", "matches.opponents=[]")
    out = run_command(*arguments, "--positions", "20", "--set", "seed=3")[1]
    assert re.search(r"\d+ positions in \d+ seconds; the checkpoint is .*checkpoint", out)
    more = saved(folder)["positions"] - 20
    assert f"the run has {more} positions more than 20" in out
    assert yaml.safe_load((folder / "config.yaml").read_text())["positions"] == 20
    assert run_command(*arguments, "--set", "seed=3", "--resume")[0] == 0
    assert saved(folder)["positions"] >= 60


#: Runs the command line where the libraries of PPO and of the environments are not installed.
_WITHOUT_PPO = """
import sys
sys.modules |= dict.fromkeys(("stable_baselines3", "sb3_contrib", "pettingzoo", "gymnasium"))
from stoneworks.cli.main import main
main()
"""


@pytest.mark.slow
def test_ctrl_c_saves_and_no_library_of_ppo_is_needed(finished_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    settings = ["--positions", "1000000000", "--set", "matches.positions=1000000000"]
    command = [sys.executable, "-c", _WITHOUT_PPO, "train", str(finished_run / "config.yaml"), "--folder", str(folder)]
    process = subprocess.Popen([*command, *settings], **PIPES)
    wait_until(lambda: (folder / "metrics.jsonl").exists() or process.poll() is not None)
    assert "the checkpoint is" in interrupt(process, seconds=120)[0]
    assert saved(folder)["positions"] >= 30, "what was learned before Ctrl-C is saved"
    assert (folder / "report.md").is_file()


PERFECT = alphazero(
    positions=10_000,
    positions_per_iteration=256,
    network={"channels": 32, "blocks": 2},
    search={"simulations": 64, "full_search_share": 1.0, "leaf_values": "none", "value_scale": 0.5},
    self_play={"num_games": 64, "random_opening_share": 0.9, "random_opening_actions": 6},
    learner={
        **{"batch_size": 128, "replay_ratio": 10.0, "min_window": 4_000, "learning_rate": 3e-3},
        **{"warm_up_steps": 50, "ema_decay": 0.98, "search_value_share": 0.5},
    },
)


def guaranteed(bot: SearchBot, game: Game, player: int) -> float:
    """What ``bot`` as ``player`` gets at least from the start: the least result over all that the opponent can do."""
    least = 1.0
    seen: set[bytes] = set()
    states = [game.new_initial_state()]
    while states:
        own, theirs = ([one for one in states if (one.current_player() == player) == mine] for mine in (True, False))
        children = [state.child(action) for state in theirs for action in state.legal_actions()]
        if own:
            rows, batch = np.arange(len(own)), Batch(game, len(own))
            batch.load(rows, np.array([state.record for state in own], game.state_dtype))
            actions = bot.step_batch(batch, rows).tolist()
            children += [state.child(action) for state, action in zip(own, actions, strict=True)]
        states = []
        for child in children:
            if child.is_terminal():
                least = min(least, child.returns()[player])
            elif (key := child.record.tobytes()) not in seen:
                seen.add(key)
                states.append(child)
    return least


def guarantees(network: BoardNetwork, game: Game, simulations: int) -> tuple[float, float]:
    """What a search with the network guarantees itself as first and as second player."""
    inference = TorchInference(network, device=torch.device("cpu"), dtype=torch.float32)
    bot = SearchBot(inference, game, simulations=simulations)
    return guaranteed(bot, game, 0), guaranteed(bot, game, 1)


@pytest.mark.slow
def test_training_reaches_perfect_play_from_the_start(tmp_path: Path) -> None:
    """What both players can guarantee adds up to 0 where both play perfectly, and else is less: so the sum proves both.

    The game is a draw. The search alone does not do it: with a new network a player loses to some reply.
    """
    game = load_game(PERFECT.game)
    torch.manual_seed(0)
    new = make_network(Architecture.of_game(game, PERFECT.network))
    assert sum(guarantees(new, game, simulations=32)) < 0
    trained = load_checkpoint(train_run(PERFECT, tmp_path).checkpoint).network
    assert guarantees(trained, game, simulations=32) == (0, 0)
