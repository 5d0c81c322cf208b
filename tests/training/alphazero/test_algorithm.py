"""Runs of AlphaZero on boards so small that they take seconds: they repeat, stop, go on, and survive being killed."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from stoneworks.envs.rules import State, load_game
from stoneworks.envs.rules.games import small_games
from stoneworks.evaluation.records import read_records
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint, load_training_state
from stoneworks.models.network import Architecture, WinDrawLossNetwork, make_network
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.learner import Learner, Losses
from stoneworks.training.alphazero.positions import position_dtype
from stoneworks.training.alphazero.sources import SelfPlayError, SelfPlayProcesses
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.config_files import parse_config
from stoneworks.training.runs.run import TrainingStatus, train_run

TINY: dict[str, Any] = {
    "algorithm": "alphazero",
    "game": "vadus(size=2)",
    "positions": 300,
    "positions_per_iteration": 60,
    "processes": 0,
    "device": "cpu",
    "precision": "float32",
    "checkpoint_seconds": 10**6,
    "network": {"channels": 4, "blocks": 1},
    "search": {"simulations": 4, "fast_simulations": 2, "full_share": 0.5, "guide": "playouts"},
    "self_play": {"num_games": 8},
    "learner": {"batch_size": 16, "samples_per_position": 1.0, "min_window": 50, "warm_up_steps": 2},
    "matches": {"positions": 10**9, "opponents": [], "search_opponents": []},
}


def tiny(**changes: Any) -> AlphaZeroConfig:
    values = {
        name: {**TINY.get(name, {}), **value} if isinstance(value, dict) else value for name, value in changes.items()
    }
    config = parse_config({**TINY, **values}, "test")
    assert isinstance(config, AlphaZeroConfig)
    return config


class StopAfter:
    """Sets an event after some iterations."""

    def __init__(self, num_iterations: int) -> None:
        self.event = threading.Event()
        self.seen: list[TrainingStatus] = []
        self._left = num_iterations

    def __call__(self, status: TrainingStatus) -> None:
        self.seen.append(status)
        self._left -= not status.message
        if self._left <= 0:
            self.event.set()


def positions_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((folder / "positions").iterdir())}


def saved(folder: Path) -> dict[str, Any]:
    """What the checkpoint says of the run."""
    description: dict[str, Any] = json.loads((folder / "checkpoint" / "checkpoint.json").read_text())
    return dict(description["training"])


# -- Repeating ---------------------------------------------------------------------------------------------------------


def test_the_same_run_repeated_on_one_process_gives_the_same_games_and_weights(tmp_path: Path) -> None:
    results = [train_run(tiny(seed=seed), tmp_path / str(number)) for number, seed in enumerate((1, 1, 2))]
    one, again, other = (positions_of(tmp_path / str(number)) for number in range(3))
    assert len(one) >= 3
    assert one == again
    assert one != other
    weights = [load_checkpoint(result.checkpoint).network.state_dict() for result in results]
    for name, tensor in weights[0].items():
        assert torch.equal(tensor, weights[1][name]), name
    assert any(not torch.equal(tensor, weights[2][name]) for name, tensor in weights[0].items())


def test_a_run_learns_from_all_its_positions_and_reports_them(tmp_path: Path) -> None:
    reports: list[TrainingStatus] = []
    result = train_run(tiny(), tmp_path, report=reports.append)
    assert result.finished
    assert 300 <= result.done < 400
    assert reports[-1].done == result.done
    assert [status.metrics["iterations"] for status in reports] == list(range(1, len(reports) + 1))
    assert reports[-1].metrics["games"] == saved(tmp_path)["games"]
    for status in reports:
        metrics = status.metrics
        assert metrics["network_share"] + metrics["search_share"] + metrics["learning_share"] <= 1
        assert 0 < metrics["search_share_of_self_play"] < 1
        assert np.isfinite([metrics[field.name] for field in dataclasses.fields(Losses)]).all()
        assert 0 <= metrics["first_player_score"] <= 1
    training = saved(tmp_path)
    assert training["gradient_steps"] == int(result.done * 1.0 / 16)
    assert training["positions"] == result.done
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["positions"] for line in lines] == [status.done for status in reports]
    game = load_game("vadus(size=2)")
    positions = np.concatenate([np.load(file) for file in sorted((tmp_path / "positions").iterdir())])
    assert positions.dtype == position_dtype(game)
    assert len(positions) == result.done
    assert all(not State.from_record(game, record).is_terminal() for record in positions["state"])
    assert set(positions["result"].tolist()) <= {-1, 0, 1}


# -- Stopping and going on ---------------------------------------------------------------------------------------------


def test_a_stopped_run_resumes(tmp_path: Path) -> None:
    stop = StopAfter(2)
    part = train_run(tiny(), tmp_path, report=stop, stop=stop.event)
    assert not part.finished
    assert part.done == stop.seen[-1].done == saved(tmp_path)["positions"]
    before, steps = positions_of(tmp_path), saved(tmp_path)["gradient_steps"]
    reports: list[TrainingStatus] = []
    last = train_run(tiny(), tmp_path, resume=True, report=reports.append)
    assert last.finished
    assert reports[0].metrics["iterations"] == 3
    assert reports[0].done > part.done
    assert last.seconds > part.seconds
    after = positions_of(tmp_path)
    assert before.items() < after.items()
    assert saved(tmp_path)["gradient_steps"] > steps
    assert load_training_state(last.checkpoint)["num_steps"] == saved(tmp_path)["gradient_steps"]


def test_two_runs_stopped_at_the_same_place_continue_identically(tmp_path: Path) -> None:
    for name in ("one", "other"):
        stop = StopAfter(2)
        train_run(tiny(), tmp_path / name, report=stop, stop=stop.event)
        train_run(tiny(), tmp_path / name, resume=True)
    assert positions_of(tmp_path / "one") == positions_of(tmp_path / "other")
    one, other = (load_training_state(tmp_path / name / "checkpoint") for name in ("one", "other"))
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


def test_a_larger_buffer_after_a_small_one_learns_from_existing_positions(tmp_path: Path) -> None:
    """What the small one has dropped is not made up."""
    small = 40 * position_dtype(load_game("vadus(size=2)")).itemsize
    train_run(tiny(positions=250, learner={"buffer_bytes": small}), tmp_path)
    assert "000000000000.npy" not in positions_of(tmp_path)
    assert train_run(tiny(positions=400), tmp_path, resume=True).finished


def test_damaged_positions_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    train_run(tiny(positions=60), tmp_path)
    file = next((tmp_path / "positions").iterdir())
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match=f"{file.name} is damaged"):
        train_run(tiny(), tmp_path, resume=True)


def test_matches_are_played_stored_and_reported(tmp_path: Path) -> None:
    reports: list[TrainingStatus] = []
    matches = {
        "positions": 150,
        "num_pairs": 2,
        "opponents": ["random"],
        "search_opponents": ["random"],
        "simulations": 3,
    }
    train_run(tiny(matches=matches), tmp_path, report=reports.append)
    messages = [status.message for status in reports if status.message]
    evaluations = saved(tmp_path)["match_results"]
    assert len(messages) == len(evaluations) == 4
    assert [evaluation["player"] for evaluation in evaluations] == ["policy", "policy@3"] * 2
    assert evaluations[-1]["positions"] == reports[-1].done
    for file in (tmp_path / "matches").iterdir():
        assert len(list(read_records(file))) == 4
    assert len(list((tmp_path / "matches").iterdir())) == 4


# -- Being killed ------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
import numpy as np
from stoneworks.training.runs.run import train_run
from stoneworks.training.runs.config_files import load_config

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

moment, number = sys.argv[3], int(sys.argv[4])
calls = 0

def dies_at_call(function, before):
    def call(*arguments, **named):
        global calls
        calls += 1
        if calls == number:
            before(*arguments)
        return function(*arguments, **named)
    return call

report = lambda status: None
if moment == "after learning":
    report = dies_at_call(report, die)
elif moment == "while it writes positions":
    def half(target, positions, **named):
        target.write(b"\\x93NUMPY half of it")
        target.flush()
        die()
    np.save = dies_at_call(np.save, half)
train_run(load_config(sys.argv[1]), sys.argv[2], resume=True, report=report)
"""


def run_until_killed(folder: Path, config: AlphaZeroConfig, moment: str, number: int) -> None:
    file = folder / "config.yaml"
    file.write_text(json.dumps(config.model_dump(mode="json")), encoding="utf-8")
    command = [sys.executable, "-c", KILLED, str(file), str(folder / "run"), moment, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == -signal.SIGKILL, done.stderr


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "number", "kept"),
    [
        ("after learning", 3, 2),
        ("while it writes positions", 3, 2),
    ],
)
def test_a_killed_run_loses_only_what_came_after_the_last_checkpoint(
    tmp_path: Path, moment: str, number: int, kept: int
) -> None:
    config = tiny(checkpoint_seconds=1e-9)
    run_until_killed(tmp_path, config, moment, number)
    folder = tmp_path / "run"
    before = positions_of(folder)
    reports: list[TrainingStatus] = []
    result = train_run(config, folder, resume=True, report=reports.append)
    assert reports[0].metrics["iterations"] == kept + 1
    assert result.finished
    after = positions_of(folder)
    names = sorted(name for name in before if not name.startswith("."))[:kept]
    for name in names:
        assert before[name] == after[name]
    lengths = [len(np.load(folder / "positions" / name)) for name in after]
    assert [int(name.split(".")[0]) for name in after] == [0, *np.cumsum(lengths)[:-1].tolist()]
    assert sum(lengths) == result.done
    figures = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["iterations"] for row in figures] == list(range(1, len(figures) + 1))
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    # Files of two sessions of the same second are read in no fixed order.
    points = sorted(events.Scalars("progress/games"), key=lambda event: event.step)
    iterations = [event.value for event in points]
    assert iterations == [row["games"] for row in figures]


def test_gradient_steps_use_their_own_number_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    step = Learner.step

    def counted(*arguments: Any) -> Losses:
        seen.append(torch.get_num_threads())
        return step(*arguments)

    monkeypatch.setattr(Learner, "step", counted)
    train_run(tiny(positions=100, learner_threads=2), tmp_path)
    assert set(seen) == {2}
    assert torch.get_num_threads() == 1


# -- Processes ---------------------------------------------------------------------------------------------------------


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_run_with_a_self_play_process_learns_and_leaves_nothing_behind(tmp_path: Path) -> None:
    reports: list[TrainingStatus] = []
    result = train_run(tiny(processes=1), tmp_path, report=reports.append)
    assert result.finished
    assert 0 < reports[-1].metrics["search_share_of_self_play"] < 1
    assert reports[-1].metrics["simulations_per_second"] > 0
    assert multiprocessing.active_children() == []
    game = load_game("vadus(size=2)")
    for file in (tmp_path / "positions").iterdir():
        for record in np.load(file)["state"]:
            assert State.from_record(game, record).legal_actions()


PARENT = """
import sys, time
import numpy as np
from stoneworks.models.network import Architecture, make_network
from stoneworks.envs.rules import load_game
from stoneworks.training.alphazero.sources import SelfPlayProcesses
from stoneworks.training.runs.config_files import load_config

config = load_config(sys.argv[1])
architecture = Architecture.of_game(load_game(config.game), channels=4, blocks=1, kind="win_draw_loss_network")
source = SelfPlayProcesses(make_network(architecture), config, np.random.SeedSequence(0), 1, 0.0)
while not source._games.full():
    time.sleep(0.05)
print(*[process.pid for process in source._processes], flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes where Linux lists them")
def test_self_play_ends_with_its_parent_even_if_its_games_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps(tiny().model_dump(mode="json")), encoding="utf-8")
    command = [sys.executable, "-c", PARENT, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as parent:
        assert parent.stdout is not None
        children = [int(number) for number in parent.stdout.readline().split()]
        assert len(children) == 1
        assert all(map(is_alive, children))
        parent.kill()
    give_up = time.monotonic() + 600
    while any(map(is_alive, children)) and time.monotonic() < give_up:
        time.sleep(0.1)
    assert not any(map(is_alive, children))


@pytest.fixture
def network() -> WinDrawLossNetwork:
    game = load_game("vadus(size=2)")
    made = make_network(Architecture.of_game(game, channels=4, blocks=1, kind="win_draw_loss_network"))
    assert isinstance(made, WinDrawLossNetwork)
    return made


def test_a_failed_self_play_process_is_an_error_with_its_message(network: WinDrawLossNetwork) -> None:
    config = tiny().model_copy(update={"game": "nonsense(size=2)"})
    source = SelfPlayProcesses(network, config, np.random.SeedSequence(0), 1, 0.0)
    try:
        with pytest.raises(SelfPlayError, match=r"a self-play process failed: .*nonsense") as raised:
            source.collect(10, threading.Event())
        assert "\n" not in str(raised.value)
        assert "Traceback" in raised.value.__notes__[0]
    finally:
        source.close()


def test_a_signal_that_ends_the_self_play_processes_first_stops_the_run(
    network: WinDrawLossNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stoneworks.training.alphazero.sources._SECONDS_TO_STOP", 600.0)
    source = SelfPlayProcesses(network, tiny(), np.random.SeedSequence(0), 1, 0.0)
    try:
        source._processes[0].terminate()
        source._processes[0].join()
        stop = threading.Event()
        threading.Timer(0.5, stop.set).start()
        assert source.collect(10**9, stop) == []
    finally:
        source.close()


def test_a_self_play_process_that_is_killed_is_an_error_though_another_one_plays_on(
    network: WinDrawLossNetwork,
) -> None:
    source = SelfPlayProcesses(network, tiny(), np.random.SeedSequence(0), 2, 0.0)
    try:
        assert sum(len(game.positions) for game in source.collect(10, threading.Event())) >= 10
        os.kill(source._processes[0].pid or 0, signal.SIGKILL)
        source._processes[0].join(600)
        with pytest.raises(SelfPlayError, match="a self-play process ended with exit code -9"):
            source.collect(10**9, threading.Event())
    finally:
        source.close()
    assert not any(process.is_alive() for process in source._processes)


def test_one_network_learns_several_sizes_in_the_given_shares(tmp_path: Path) -> None:
    games = {"vadus(size=2)": 3, "vadus(size=3)": 1}
    config = tiny(positions=400, games=games)
    train_run(config, tmp_path, stop=(stop := StopAfter(3)).event, report=stop)
    train_run(config, tmp_path, resume=True)
    added = saved(tmp_path)["positions_by_game"]
    assert sum(added.values()) == saved(tmp_path)["positions"] >= 400
    assert 0.1 < added["vadus(size=3)"] / sum(added.values()) < 0.45
    for name in games:
        files = sorted((tmp_path / "positions" / name).iterdir())
        assert sum(len(np.load(file)) for file in files) == added[name]
        assert np.load(files[0]).dtype == position_dtype(load_game(name))
        load_checkpoint(tmp_path / "checkpoint", load_game(name))


@pytest.mark.parametrize(
    ("games", "named"),
    [
        ({"vadus(size=3)": 1}, r"games must contain game, vadus\(size=2\)"),
        ({"vadus(size=2)": 1, "laido(size=3)": 1}, r"games must be vadus .* got 'laido\(size=3\)'"),
        ({"vadus(size=2)": 1, "vadus(size=1000)": 1}, r"games\..*1000"),
        ({"vadus(size=2)": 0}, r"games\.vadus\(size=2\) must be > 0, got 0"),
        ({"vadus(size=2)": "much"}, "must be a valid number, got 'much'"),
        ({"vadus(size=2)": 1, "vadus( size=2 )": 1}, "games"),
        ([1], "games must be a valid dictionary"),
    ],
)
def test_games_that_do_not_fit_are_refused(games: Any, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        parse_config({**TINY, "games": games}, "test")


@pytest.mark.parametrize("game", small_games())
def test_a_run_of_each_game_resumes_from_its_files(tmp_path: Path, game: str) -> None:
    config = tiny(game=game, positions=10**6, positions_per_iteration=1, self_play={"num_games": 1})
    train_run(config, tmp_path, stop=(stop := StopAfter(1)).event, report=stop)
    done = saved(tmp_path)["positions"]
    train_run(config.replace(positions=done + 1), tmp_path, resume=True)
    assert saved(tmp_path)["positions"] > done
